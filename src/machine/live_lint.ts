/**
 * Lint with a model: whether the conditions of a state can be told apart, and whether the judge is of one mind.
 *
 * The only lint that costs something. Its findings are advice.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import type { Diagnostic, Machine, State } from "./document.ts";
import { type Finding, placeFindings, quoted } from "./finding.ts";
import { clip, jsonText } from "./format.ts";
import { type Oracle, RefusalError, type Tokens } from "./oracle.ts";
import { parseOutput } from "./parse_output.ts";

/** How a machine is probed. */
export interface LiveLintOptions {
  /** Made-up outputs for each state; default 5. */
  readonly samples?: number;
  /** Judgements of each output; default 3. */
  readonly repeats?: number;
  /** Ends it early, with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Hears of each state before it is probed. */
  readonly onState?: (state: string) => void;
}

/** What probing found and cost. */
export interface LiveLintResult {
  /** Findings of severity `note`: `unstable-judge`, `overlapping-conditions`, `probe-skipped`. */
  readonly findings: readonly Diagnostic[];
  /** What it cost. */
  readonly tokens: Tokens;
}

/** Default number of made-up outputs. */
export const LIVE_LINT_SAMPLES = 5;
/** Default number of judgements of each. */
export const LIVE_LINT_REPEATS = 3;

const SAMPLE_TEMPERATURE = 0.8;
const MAX_QUOTE = 60;

/**
 * Probes every state with two or more prose conditions: a model makes up outputs, and the judge decides on each several
 * times. Repeats that differ are reported as unstable, two conditions that both won on one output as overlapping.
 *
 * The judge is asked as in a run, with an empty context and with "none of these" as a further choice.
 *
 * @param machine The machine.
 * @param oracle Makes outputs up and judges them.
 * @param options Numbers and signal.
 * @returns Findings and cost.
 * @throws {RangeError} If `samples` or `repeats` is not a whole number of at least 1.
 * @throws {KitError} If the provider fails.
 */
export async function liveLint(
  machine: Machine,
  oracle: Oracle,
  options: LiveLintOptions = {},
): Promise<LiveLintResult> {
  const probe: Probe = {
    machine,
    oracle,
    samples: atLeastOne("samples", options.samples ?? LIVE_LINT_SAMPLES),
    repeats: atLeastOne("repeats", options.repeats ?? LIVE_LINT_REPEATS),
    signal: options.signal ?? new AbortController().signal,
    spent: { input: 0, output: 0 },
  };
  const findings: Finding[] = [];
  for (const state of machine.states.values()) {
    const conditions = state.gates.filter(({ catchAll, hook }) => !catchAll && hook === undefined)
      .map(({ when }) => when);
    if (conditions.length < 2) continue;
    probe.signal.throwIfAborted();
    options.onState?.(state.id);
    findings.push(...await probeState(state, conditions, probe));
  }
  return { findings: placeFindings(machine, "lint", findings), tokens: probe.spent };
}

interface Probe {
  readonly machine: Machine;
  readonly oracle: Oracle;
  readonly samples: number;
  readonly repeats: number;
  readonly signal: AbortSignal;
  spent: Tokens;
}

async function probeState(
  state: State,
  conditions: readonly string[],
  probe: Probe,
): Promise<Finding[]> {
  const outputs = await makeOutputs(state, conditions, probe);
  if (typeof outputs === "string") {
    return [note(state, { code: "probe-skipped", message: `skipped: ${outputs}` })];
  }
  const findings: Finding[] = [];
  const overlapping = new Set<string>();
  for (const output of outputs) {
    const winners = await judgeOften(state, { conditions, output }, probe);
    const [first, ...others] = [...new Set(winners)];
    if (first === undefined || others.length === 0) continue;
    findings.push(note(state, {
      code: "unstable-judge",
      message: `unstable: repeated judgements of one output differ (${
        tally(winners, conditions)
      }); the output was ${quoted(shorten(output))}`,
    }));
    for (const pair of pairsOf(winners, conditions)) overlapping.add(pair);
  }
  for (const pair of overlapping) {
    findings.push(note(state, {
      code: "overlapping-conditions",
      message: `overlap: ${pair} both held for one output`,
      hint: "Word them so that only one can be true",
    }));
  }
  return findings;
}

async function makeOutputs(
  state: State,
  conditions: readonly string[],
  probe: Probe,
): Promise<readonly string[] | string> {
  const { machine, oracle, samples, signal } = probe;
  const contract = state.kind === "generative" && state.structure.trim() !== ""
    ? `They must keep this contract:\n${state.structure.trim()}\n\n`
    : "";
  try {
    const { text, tokens } = await oracle.produce({
      machine: machine.name,
      state: state.id,
      depth: 0,
      system: "You make up test data. Reply with one JSON array of strings and nothing else.",
      user:
        `Make up ${samples} outputs of one step of a procedure, each different from the others ` +
        `and as a model would really write them.\n\n${contract}Together they should cover these ` +
        `conditions, cases on the edge between two of them included:\n` +
        conditions.map((condition, index) => `${index + 1}. ${condition}`).join("\n"),
      tier: state.tier ?? machine.defaultTier,
      temperature: SAMPLE_TEMPERATURE,
      reason: false,
      signal,
    });
    charge(probe, tokens);
    const list = parseOutput(text, "list");
    const outputs = Array.isArray(list) ? list.slice(0, samples).map(asText) : [];
    return outputs.length === 0 ? "the model made up no outputs" : outputs;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RefusalError) {
      charge(probe, error.tokens);
      return "the model declined to make up outputs";
    }
    if (error instanceof Error && error.message.startsWith("parse-list:")) {
      return "the model's made-up outputs are not a JSON array";
    }
    throw error;
  }
}

async function judgeOften(
  state: State,
  { conditions, output }: { readonly conditions: readonly string[]; readonly output: string },
  probe: Probe,
): Promise<readonly number[]> {
  const { machine, oracle, repeats, signal } = probe;
  const winners: number[] = [];
  for (let round = 0; round < repeats; round++) {
    signal.throwIfAborted();
    const verdict = await oracle.judge({
      machine: machine.name,
      state: state.id,
      depth: 0,
      conditions,
      output,
      context: {},
      tier: state.tier ?? machine.defaultTier,
      signal,
    });
    charge(probe, verdict.tokens);
    winners.push(verdict.kind === "choice" ? verdict.index : UNREADABLE);
  }
  return winners;
}

/** Stands for a judgement that names no choice. */
const UNREADABLE = -1;

function tally(winners: readonly number[], conditions: readonly string[]): string {
  const counts = new Map<number, number>();
  for (const winner of winners) counts.set(winner, (counts.get(winner) ?? 0) + 1);
  return [...counts].map(([winner, count]) => `${count} × ${named(winner, conditions)}`).join(", ");
}

function pairsOf(winners: readonly number[], conditions: readonly string[]): string[] {
  const real = [...new Set(winners)].filter((winner) => conditions[winner] !== undefined)
    .sort((a, b) => a - b);
  return real.flatMap((left, at) =>
    real.slice(at + 1).map((right) => `${named(left, conditions)} and ${named(right, conditions)}`)
  );
}

function named(winner: number, conditions: readonly string[]): string {
  const condition = conditions[winner];
  if (condition !== undefined) return quoted(shorten(condition));
  return winner === conditions.length ? "none of them" : "no choice that can be read";
}

function note(
  state: State,
  { code, message, hint }: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
  },
): Finding {
  return {
    severity: "note",
    code,
    message: `note: ${state.id}: ${message}`,
    hint,
    path: ["states", state.id, "gates"],
  };
}

function charge(probe: Probe, tokens: Tokens): void {
  probe.spent = {
    input: probe.spent.input + tokens.input,
    output: probe.spent.output + tokens.output,
  };
}

function asText(value: JsonValue): string {
  return typeof value === "string" ? value : jsonText(value);
}

function shorten(text: string): string {
  return clip(text.replaceAll(/\s+/g, " "), MAX_QUOTE);
}

function atLeastOne(name: string, value: number): number {
  if (Number.isInteger(value) && value >= 1) return value;
  throw new RangeError(`"${name}" must be a whole number of at least 1, found ${value}`);
}
