/**
 * Says why a tool failed: one line that a model can act on, the spend, and the facts for programs.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the wire names of results
import type { ConfigProblem } from "../host/mod.ts";
import type { JsonObject } from "../json/mod.ts";
import type { KitError, KitErrorCode, Usage } from "../llm/mod.ts";
import type { ToolOutcome } from "../mcp/mod.ts";
import { costObject } from "./cost.ts";
import { ERROR_META_KEY, outcome } from "./outcome.ts";

/** Most characters of an error's own text. */
const MAX_MESSAGE_CHARS = 2000;

/** What the library advises those who call it as one; a tool has its own names and its own advice. */
const LIBRARY_ADVICE = /: raise max(?:Rounds|ToolCalls) or .*$/s;

/** What to do next, by code; codes without an entry say enough themselves. */
const ADVICE: Readonly<Partial<Record<KitErrorCode, string>>> = {
  auth: "check the key and the variable that holds it",
  quota: "the account has no credit left; retrying does not help",
  not_found: "check the base URL and the name of the model",
  rate_limit: "the endpoint is busy; try again later",
  overloaded: "the endpoint is overloaded; try again later",
  server: "the endpoint failed; try again",
  network: "check that the endpoint runs and can be reached, then try again",
  timeout: "try again, or ask for less",
  too_large: "shorten the prompt",
  content_filter: "the endpoint's filter stopped the answer; change the prompt",
  budget: "raise the limit or ask for less",
  max_rounds: "raise max_rounds or ask for less",
  stuck: "the model repeats itself; ask differently",
};

/**
 * Gives a failed call that never reached a model.
 *
 * @param problem What is missing.
 * @returns An `isError` outcome that says how to set it.
 */
export function configFailure(problem: ConfigProblem): ToolOutcome {
  return failed(problem.message, { code: "config", retryable: false });
}

/**
 * Gives a failed call.
 *
 * @param what What could not be done: `Vote failed`.
 * @param error Why.
 * @param spent What the call spent, from its own ledger.
 * @returns An `isError` outcome.
 */
export function callFailure(what: string, error: KitError, spent: Usage): ToolOutcome {
  const parts = [`${what}: ${oneLine(error.message.replace(LIBRARY_ADVICE, ""))}`];
  // Too few samples voted since others failed: that is what has to be mended.
  if (error.code === "no_consensus" && error.cause instanceof Error) {
    parts.push(`the first failure: ${oneLine(error.cause.message)}`);
  }
  const advice = adviceFor(error);
  if (advice !== undefined) parts.push(advice);
  const retryAfterMs = retryAfter(error);
  if (retryAfterMs !== undefined) {
    parts.push(`the endpoint asks to wait ${Math.ceil(retryAfterMs / 1000)} s`);
  }
  parts.push(
    `spent so far: ${spent.llmCalls} model ${spent.llmCalls === 1 ? "call" : "calls"}, ` +
      `${spent.inputTokens + spent.outputTokens} tokens`,
  );
  return failed(parts.join("; "), {
    code: error.code,
    retryable: error.retryable,
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
    cost: costObject(spent),
    ...partialOf(error),
  });
}

function adviceFor(error: KitError): string | undefined {
  if (error.code === "aborted") return undefined;
  return error.code === "no_consensus" ? voteAdvice(error) : ADVICE[error.code];
}

/** A vote fails since the answers differ, or since too few of them could vote: that is told by what became of them. */
function voteAdvice(error: KitError): string | undefined {
  const { samples, distinct } = error.details;
  const of = (outcome: string): boolean =>
    typeof samples === "object" && samples !== null && Number(Reflect.get(samples, outcome)) > 0;
  if (of("truncated")) return "raise max_tokens or ask for shorter answers";
  if (of("refused") || of("filtered")) return "the model or its filter declines; change the prompt";
  if (typeof distinct === "number" && distinct > 1) {
    return "ask more precisely, or use strategy majority";
  }
  return of("empty") || of("unusable") ? "ask more precisely" : undefined;
}

function failed(text: string, facts: JsonObject & { readonly code: string }): ToolOutcome {
  const { partial, ...meta } = facts;
  const object = {
    status: "error",
    error: facts.code,
    errors: [text],
    warnings: [],
    ...(facts["cost"] === undefined ? {} : { cost: facts["cost"] }),
    ...(partial === undefined ? {} : { partial }),
  };
  return outcome(text, object, { isError: true, meta: { [ERROR_META_KEY]: meta } });
}

function retryAfter(error: KitError): number | undefined {
  const given = "retryAfterMs" in error ? error.retryAfterMs : undefined;
  return typeof given === "number" && Number.isFinite(given) ? Math.round(given) : undefined;
}

/** The best text so far, if the error carries one, so that paid work is not lost. */
function partialOf(error: KitError): JsonObject {
  const text = bestText(error.partial);
  return text === undefined || text === "" ? {} : { partial: cut(text) };
}

function bestText(partial: unknown): string | undefined {
  if (typeof partial === "string") return partial;
  if (typeof partial !== "object" || partial === null) return undefined;
  for (const key of ["text", "value", "lastText", "content"]) {
    const value: unknown = Object.hasOwn(partial, key) ? Reflect.get(partial, key) : undefined;
    if (typeof value === "string") return value;
  }
  return undefined;
}

function oneLine(text: string): string {
  return cut(text.replace(/\s+/g, " ").trim());
}

function cut(text: string): string {
  const points = Array.from(text);
  return points.length <= MAX_MESSAGE_CHARS
    ? text
    : points.slice(0, MAX_MESSAGE_CHARS - 1).join("") + "…";
}
