/**
 * Short ways to machines, oracles and runs for the tests of the engine.
 *
 * @module
 */
import type { JsonValue } from "../../../src/json/mod.ts";
import {
  createScriptedOracle,
  loadReader,
  type Machine,
  type Oracle,
  type Produced,
  type ProduceRequest,
  type RunOptions,
  type Script,
  type Verdict,
} from "../../../src/machine/mod.ts";
import { manualPorts } from "../../../src/testing/mod.ts";

const { parseMachine } = await loadReader();

/** Reads a machine that must be sound enough to load. */
export function machineOf(text: string): Machine {
  const { machine, diagnostics } = parseMachine(text);
  if (machine === undefined) throw new Error(diagnostics.map(({ message }) => message).join("; "));
  return machine;
}

/** A machine of one generative state `a` whose gates are given as a YAML flow list. */
export function oneState(gates: string, more = ""): Machine {
  return machineOf(`
machine: one
entry: a
budget: 9
states:
  a: { structure: s, prompt: p, output: o, ${more} gates: ${gates} }
`);
}

/** Options with a scripted oracle. */
export function scripted(script: Script = {}, options: Partial<RunOptions> = {}): RunOptions {
  return { oracle: createScriptedOracle(script), ports: manualPorts(), ...options };
}

/** An oracle made of two functions. */
export function oracleOf(
  answers: {
    readonly produce?: (request: ProduceRequest) => Produced | Promise<Produced>;
    readonly judge?: Oracle["judge"];
  },
): Oracle {
  return {
    tiers: ["balanced", "fast", "reasoning"],
    judgeModel: () => "judge",
    produce: answers.produce ?? (() => textOf("ok")),
    judge: answers.judge ?? (() => choiceOf(0)),
  };
}

/** A produced text that cost nothing. */
export function textOf(text: string): Produced {
  return { text, tokens: { input: 0, output: 0 } };
}

/** A choice that cost nothing. */
export function choiceOf(index: number): Verdict {
  return { kind: "choice", index, tokens: { input: 0, output: 0 } };
}

/** A value as it comes back from JSON, with ordinary prototypes, for comparisons. */
export function plain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value));
}
