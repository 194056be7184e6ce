/**
 * An oracle that plays a script: for tests of machines, without a model.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from "../json/mod.ts";
import { firstChars } from "./format.ts";
import type { JudgeRequest, Oracle, Produced, ProduceRequest, Tokens, Verdict } from "./oracle.ts";

/** What a scripted model answers. */
export interface Script {
  /**
   * Texts in order, `ok` after the last; or texts by a part of the user message, the first in order that occurs. A list
   * or an object as a text is its JSON text.
   */
  readonly produce?: JsonValue;
  /**
   * Choices in order, the last one for ever: an index among the conditions, their number or `none` for "none of them".
   * Absent or empty: always the last condition. The text `unparseable`: no reply can be read.
   */
  readonly judge?: JsonValue;
  /** Prompt and completion tokens of each produced text; judges cost nothing. */
  readonly tokens?: JsonValue;
}

/** The name under which scripted answers stand in a trace. */
export const SCRIPTED_MODEL = "scripted";

const EXCERPT_CHARS = 80;
const NOTHING: Tokens = { input: 0, output: 0 };

/**
 * Makes an oracle from a script. It is used up by the run that asks it: make one for each run.
 *
 * @example
 * ```ts
 * import { createScriptedOracle, runMachine } from "@kit/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * const source = `
 * machine: greeting
 * entry: greet
 * budget: 3
 * result: text
 * states:
 *   greet:
 *     structure: One sentence.
 *     prompt: Greet everybody.
 *     output: text
 *     gates: [ { when: otherwise, then: ok, to: END } ]
 * `;
 * const oracle = createScriptedOracle({ produce: ["Hello, all!"] });
 * assertEquals((await runMachine(source, { oracle })).result, "Hello, all!");
 * ```
 *
 * @param script What it answers.
 * @returns The oracle; all tiers are one model called `scripted`.
 * @throws {TypeError} If the script is not of the form described.
 */
export function createScriptedOracle(script: Script = {}): Oracle {
  const texts = produceScript(script.produce ?? []);
  const pick = judgeScript(script.judge ?? []);
  const tokens = readTokens(script.tokens ?? null);
  return {
    tiers: ["balanced", "fast", "reasoning"],
    judgeModel: () => SCRIPTED_MODEL,
    produce(request: ProduceRequest): Produced {
      const text = texts(request.user);
      return { text, tokens, ...(request.reason ? { reasoning: "thought" } : {}) };
    },
    judge: (request: JudgeRequest): Verdict => pick(request.conditions.length),
  };
}

/**
 * Plays a list from its start; its last value is given for ever.
 *
 * @param values The list.
 * @param name What it scripts, for the error.
 * @returns What gives the next value.
 */
export function playList<T>(values: readonly T[], name: string): () => T {
  let next = 0;
  return () => {
    const value = values[Math.min(next++, values.length - 1)];
    if (value === undefined) throw new Error(`scripted '${name}' invoked with no values left`);
    return value;
  };
}

function produceScript(script: JsonValue): (user: string) => string {
  if (Array.isArray(script)) {
    let next = 0;
    return () => next < script.length ? scriptText(script[next++]) : "ok";
  }
  if (!isJsonObject(script)) throw new TypeError("Script: produce is neither a list nor a mapping");
  const entries = Object.entries(script);
  return (user) => {
    const entry = entries.find(([part]) => user.includes(part));
    if (entry === undefined) {
      const excerpt = firstChars(user, EXCERPT_CHARS);
      throw new Error(`no scripted produce matches prompt '${excerpt}'`);
    }
    return scriptText(entry[1]);
  };
}

function scriptText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}

function judgeScript(script: JsonValue): (size: number) => Verdict {
  if (script === "unparseable") {
    return () => ({ kind: "unparseable", raw: "scripted", tokens: NOTHING });
  }
  if (!Array.isArray(script)) {
    throw new TypeError('Script: judge is neither a list nor the text "unparseable"');
  }
  if (script.length === 0) return (size) => choice(size - 1);
  const next = playList(script, "judge");
  return (size) => {
    const pick = next();
    if (typeof pick === "number" && Number.isInteger(pick)) return choice(pick);
    if (typeof pick === "string" && pick.trim().toLowerCase() === "none") return choice(size);
    throw new Error(`scripted judge: expected an index or 'none', got ${JSON.stringify(pick)}`);
  };
}

function choice(index: number): Verdict {
  return { kind: "choice", index, tokens: NOTHING };
}

function readTokens(value: JsonValue): Tokens {
  if (value === null) return NOTHING;
  if (!Array.isArray(value) || value.length !== 2) {
    throw new TypeError("Script: tokens is not a list of two numbers");
  }
  const [input, output] = value;
  if (typeof input !== "number" || typeof output !== "number") {
    throw new TypeError("Script: tokens is not a list of two numbers");
  }
  return { input, output };
}
