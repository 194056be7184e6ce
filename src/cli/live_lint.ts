/**
 * `kit lint --llm`: asks the model whether the conditions of a state are stable and distinct.
 *
 * For every state with two or more prose conditions the model makes outputs that the state could give; then the judge
 * decides each of them several times. What changes from time to time is unstable; two conditions that both won on one
 * output overlap. Findings never change the exit code: a model said so.
 *
 * @module
 */
import type { Machine, Oracle, State } from "../machine/mod.ts";

/** How much is asked. */
export interface LiveLintOptions {
  /** Outputs to make for each state; default 5. */
  readonly samples?: number;
  /** How often each of them is judged; default 3. */
  readonly repeats?: number;
  /** Ends the questions. */
  readonly signal: AbortSignal;
}

const DEFAULT_SAMPLES = 5;
const DEFAULT_REPEATS = 3;
const TEMPERATURE = 0.8;
const EXCERPT_CHARS = 60;

/**
 * Asks a model about every state that has two or more prose conditions.
 *
 * @param machine The machine.
 * @param oracle Who answers; costs `1 + samples × repeats` calls for each such state.
 * @param options How much is asked.
 * @returns Findings as sentences that start with the state and `unstable`, `overlap` or `skipped`.
 */
export async function liveLint(
  machine: Machine,
  oracle: Oracle,
  options: LiveLintOptions,
): Promise<string[]> {
  const findings: string[] = [];
  for (const state of machine.states.values()) {
    const conditions = state.gates
      .filter(({ catchAll, hook }) => !catchAll && hook === undefined)
      .map(({ when }) => when);
    if (conditions.length < 2) continue;
    const asker = new StateAsker({ machine, state, conditions, oracle, options });
    findings.push(...await asker.ask());
  }
  return findings;
}

interface Question {
  readonly machine: Machine;
  readonly state: State;
  readonly conditions: readonly string[];
  readonly oracle: Oracle;
  readonly options: LiveLintOptions;
}

class StateAsker {
  readonly #question: Question;

  constructor(question: Question) {
    this.#question = question;
  }

  async ask(): Promise<string[]> {
    const { state } = this.#question;
    const outputs = await this.#outputs();
    if (outputs === undefined) {
      return [`${state.id}: skipped: the model did not give its outputs as a JSON array of texts`];
    }
    const findings: string[] = [];
    const overlaps = new Set<string>();
    for (const output of outputs) {
      const winners = await this.#winners(output);
      if (winners.length > 1) {
        findings.push(
          `${state.id}: unstable: ${winners.map(quoted).join(" or ")} for the output ${
            quoted(output)
          }`,
        );
      }
      const named = winners.filter((winner) => winner !== NONE);
      if (named.length > 1) overlaps.add(named.toSorted().map(quoted).join(" and "));
    }
    return [...findings, ...[...overlaps].map((pair) => `${state.id}: overlap: ${pair} both won`)];
  }

  async #outputs(): Promise<string[] | undefined> {
    const { oracle, options } = this.#question;
    const count = options.samples ?? DEFAULT_SAMPLES;
    const { text } = await oracle.produce({
      ...this.#origin(),
      system: "You write test data for a state of a state machine. Answer with a JSON array of " +
        `${count} texts and nothing else. The texts must differ as much as the state allows.`,
      user: this.#description(),
      temperature: TEMPERATURE,
      reason: false,
    });
    return arrayOfTexts(text)?.slice(0, count);
  }

  #description(): string {
    const { state, conditions } = this.#question;
    const contract = state.kind === "generative"
      ? `${state.structure}\n\nTask: ${state.prompt}`
      : "A text.";
    const list = conditions.map((condition, index) => `${index + 1}. ${condition}`).join("\n");
    return `Form of an output: ${contract}\n\nEach output will be sorted by these conditions:\n${list}`;
  }

  /** The different verdicts on an output, in the order in which they came. */
  async #winners(output: string): Promise<string[]> {
    const { oracle, conditions, options } = this.#question;
    const winners = new Set<string>();
    for (let repeat = 0; repeat < (options.repeats ?? DEFAULT_REPEATS); repeat++) {
      const verdict = await oracle.judge({ ...this.#origin(), conditions, output, context: {} });
      const index = verdict.kind === "choice" ? verdict.index : -1;
      winners.add(conditions[index] ?? NONE);
    }
    return [...winners];
  }

  #origin(): {
    machine: string;
    state: string;
    depth: number;
    tier: Machine["defaultTier"];
    signal: AbortSignal;
  } {
    const { machine, state, options } = this.#question;
    return {
      machine: machine.name,
      state: state.id,
      depth: 0,
      tier: state.tier ?? machine.defaultTier,
      signal: options.signal,
    };
  }
}

const NONE = "none of them";

function arrayOfTexts(text: string): string[] | undefined {
  const from = text.indexOf("[");
  const to = text.lastIndexOf("]");
  if (from < 0 || to < from) return undefined;
  try {
    const value: unknown = JSON.parse(text.slice(from, to + 1));
    if (!Array.isArray(value)) return undefined;
    const texts = value.filter((item) => typeof item === "string");
    return texts.length === 0 ? undefined : texts;
  } catch {
    return undefined;
  }
}

function quoted(text: string): string {
  const chars = [...text.replace(/\s+/g, " ")];
  const cut = chars.length > EXCERPT_CHARS
    ? `${chars.slice(0, EXCERPT_CHARS - 1).join("")}…`
    : chars.join("");
  return `'${cut}'`;
}
