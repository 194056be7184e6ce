/**
 * Optional parameters that endpoints refuse, and what Kit does about each. A refusal costs one extra attempt; afterwards the
 * provider remembers.
 *
 * @module
 */
import { isJsonObject, type JsonObject, member } from "../json/mod.ts";
import type { LlmError } from "../llm/mod.ts";

/** What a provider has learned about its endpoint. */
export interface Adjustments {
  /** Fields that are not sent any more. */
  readonly dropped: Set<string>;
  /** The field of the limit, once the configured one was refused. */
  tokenLimitField: "max_tokens" | "max_completion_tokens";
  /** Whether thinking is sent back. */
  replayReasoning: boolean;
  /** Whether ids of tool calls are nine letters or digits. */
  shortToolCallIds: boolean;
}

interface Rule {
  /** Its name in errors and warnings. */
  readonly name: string;
  /** What the refusal says. */
  readonly says: RegExp;
  /** Whether the request had what is refused. */
  has(body: JsonObject): boolean;
  /** What is done. */
  adjust(adjustments: Adjustments): void;
}

const UNSUPPORTED =
  "(?:unsupported|not support|n't support|unrecogni[sz]ed|unknown|unexpected|not permitted|extra inputs|not allowed|only the default|is invalid|invalid (?:field|parameter))";

/** A refusal of a field, in either order. */
function refusalOf(field: string): RegExp {
  return new RegExp(`${field}[^.]{0,200}${UNSUPPORTED}|${UNSUPPORTED}[^.]{0,200}${field}`, "i");
}

function dropping(field: string, says: RegExp = refusalOf(field)): Rule {
  return {
    name: field,
    says,
    has: (body) => member(body, field) !== undefined,
    adjust: (adjustments) => adjustments.dropped.add(field),
  };
}

const RULES: readonly Rule[] = [
  dropping("response_format", /response_format|json_schema|json_object/i),
  {
    name: "max_tokens",
    says: /max_completion_tokens/i,
    has: (body) => member(body, "max_tokens") !== undefined,
    adjust: (adjustments) => adjustments.tokenLimitField = "max_completion_tokens",
  },
  {
    name: "max_completion_tokens",
    says: refusalOf("max_completion_tokens"),
    has: (body) => member(body, "max_completion_tokens") !== undefined,
    adjust: (adjustments) => adjustments.tokenLimitField = "max_tokens",
  },
  dropping("temperature"),
  dropping("stream_options"),
  dropping("tool_choice"),
  dropping("seed"),
  dropping("stop"),
  dropping("reasoning_effort"),
  {
    name: "reasoning_content",
    says: /reasoning_content[^.]{0,100}must be (?:passed|sent|provided|included)/i,
    has: (body) =>
      hasTurn(body, (turn) => Array.isArray(member(turn, "tool_calls"))) &&
      !hasTurn(body, (turn) => member(turn, "reasoning_content") !== undefined),
    adjust: (adjustments) => adjustments.replayReasoning = true,
  },
  {
    name: "reasoning_content",
    says: refusalOf("reasoning_content"),
    has: (body) => hasTurn(body, (turn) => member(turn, "reasoning_content") !== undefined),
    adjust: (adjustments) => adjustments.replayReasoning = false,
  },
  {
    name: "tool_call_id",
    says: /tool.?call.?id[^.]{0,100}(?:length of 9|must be a-z)/i,
    has: (body) => hasTurn(body, (turn) => Array.isArray(member(turn, "tool_calls"))),
    adjust: (adjustments) => adjustments.shortToolCallIds = true,
  },
];

const REFUSING_STATUS: ReadonlySet<unknown> = new Set([400, 422]);

/**
 * Adjusts a provider to a refusal, if the table knows it.
 *
 * @param error The refusal.
 * @param body What was sent.
 * @param adjustments What the provider knows; changed.
 * @returns The name of what was adjusted, or `undefined`.
 */
export function adjustTo(
  error: LlmError,
  body: JsonObject,
  adjustments: Adjustments,
): string | undefined {
  if (!REFUSING_STATUS.has(error.details["status"])) return undefined;
  if (error.code !== "bad_request" && error.code !== "unprocessable") return undefined;
  const param = error.details["param"];
  const text = typeof param === "string" ? `${error.message} ${param}` : error.message;
  const rule = RULES.find((one) => one.says.test(text) && one.has(body));
  rule?.adjust(adjustments);
  return rule?.name;
}

function hasTurn(body: JsonObject, is: (turn: JsonObject) => boolean): boolean {
  const messages = member(body, "messages");
  return Array.isArray(messages) && messages.some((turn) => isJsonObject(turn) && is(turn));
}
