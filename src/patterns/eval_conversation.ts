/**
 * Conversations played from a script.
 *
 * @module
 */
import type { EvalCase, EvalReport, EvalSuiteOptions, EvalVerdict } from "./eval_options.ts";
import { runEvalSuite } from "./evals.ts";
import type { Kit } from "./kit.ts";
import type { ReactLoopOptions } from "./react_options.ts";

/** What a user says, and what is expected of the answer. */
export interface ConversationTurn {
  /** What the user says. */
  readonly user: string;
  /**
   * Looks at the answer.
   *
   * @param answer The model's answer.
   * @returns The verdict, as of an {@linkcode EvalCase}.
   */
  check(answer: string): EvalVerdict;
}

/** A conversation to be played. */
export interface ConversationScript {
  /** Its name. */
  readonly name: string;
  /** What is said, in order. */
  readonly turns: readonly ConversationTurn[];
  /** How each turn runs: tools and the like. */
  readonly options?: Omit<ReactLoopOptions, "ledger" | "ports" | "prices" | "signal">;
}

/**
 * Plays a conversation in one session. Results are named `name[0]`, `name[1]` …; a turn that fails does not keep the next
 * from being said.
 *
 * @example
 * ```ts
 * import { Kit, runConversation } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * await using kit = new Kit(new MockProvider(["Hello Ada", "Ada"]));
 * const report = await runConversation({
 *   name: "remembers",
 *   turns: [
 *     { user: "I am Ada", check: (answer) => answer.includes("Ada") },
 *     { user: "Who am I?", check: (answer) => answer === "Ada" || "forgot the name" },
 *   ],
 * }, kit);
 * assertEquals(report.results.map(({ name }) => name), ["remembers[0]", "remembers[1]"]);
 * assertEquals(report.passed, true);
 * ```
 *
 * @param script What is said.
 * @param kit The session.
 * @param options How the suite runs; turns are said once, one after another.
 * @returns The report.
 */
export async function runConversation(
  script: ConversationScript,
  kit: Kit,
  options: Omit<EvalSuiteOptions, "repeat" | "concurrency"> = {},
): Promise<EvalReport> {
  const cases = script.turns.map((turn, index): EvalCase<{ readonly value: string }> => ({
    name: `${script.name}[${index}]`,
    run: ({ signal }) => kit.turn(turn.user, { ...script.options, signal }),
    check: ({ value }) => turn.check(value),
  }));
  return await runEvalSuite(cases, { ...options, repeat: 1, concurrency: 1 });
}
