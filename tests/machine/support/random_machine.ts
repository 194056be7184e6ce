/**
 * Random machines with scripts for everything they ask: small, full of odd turns, the same for the same seed.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../../../src/json/mod.ts";

/** A machine, those it calls, and a scenario. */
export interface RandomCase {
  /** The machine's document. */
  readonly machine: JsonObject;
  /** The documents of called machines, by name. */
  readonly registry: Readonly<Record<string, JsonObject>>;
  /** Script, inputs and run options, as in scenario files. */
  readonly scenario: JsonObject;
  /** Texts that stand for the model after a suspension. */
  readonly resumeInputs: JsonObject;
}

/** A source of chance that repeats itself for the same seed. */
export interface Dice {
  /** A whole number from 0 to below `sides`. */
  roll(sides: number): number;
  /** Whether something of this probability happens. */
  chance(probability: number): boolean;
  /** One of several. */
  pick<T>(values: readonly T[]): T;
}

/**
 * Makes dice (mulberry32).
 *
 * @param seed Any number.
 * @returns The dice.
 */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  const roll = (sides: number): number => Math.floor(next() * sides);
  return {
    roll,
    chance: (probability) => next() < probability,
    pick<T>(values: readonly T[]): T {
      const value = values[roll(values.length)];
      if (value === undefined) throw new RangeError("Nothing to pick from");
      return value;
    },
  };
}

const KEYS = ["alpha", "beta", "gamma", "list", "map", "note"] as const;
const VALUES: readonly JsonValue[] = [
  "plain",
  "",
  "naïve – ünïcode 🙂",
  "$& $1 {{beta}}",
  0,
  7,
  -3,
  2.5,
  true,
  false,
  null,
  [],
  ["x", "y"],
  [1, [2, "z"], null],
  { k: "v", n: 1 },
  { deep: { deeper: "d" }, l: ["p", "q"] },
];
const LISTS: readonly JsonValue[] = [[], ["x"], ["x", "y"], [1, [2, "z"], null], [{ k: "v" }, {}]];
const PLACES = [
  "{{alpha}}",
  "{{ beta }}",
  "{{gamma}}",
  "{{list}}",
  "{{map}}",
  "{{map.k}}",
  "{{map.deep.deeper}}",
  "{{map.l}}",
  "{{note}}",
  "{{human.reply}}",
  "{{reply.text}}",
  "{{nowhere}}",
  "{{item}}",
  "{{item.k}}",
  "{{index}}",
  "{{a-b}}",
  "{{{alpha}}}",
] as const;
const CONDITIONS = ["it is good", "it is bad", "more is needed", "it says 'no'", "ende gut"];
const HOOKS = ["yes", "no", "mixed", "always_true", "always_false", "eq:alpha:plain", "neq:beta:7"];
const TOOLS = ["search", "search", "write_file", "write_file", "odd_tool", "calc", "no_such_tool"];
const TEXTS = [
  "one",
  "two words",
  "três",
  '["a", "b"]',
  '{"k": "v"}',
  "```json\n[1, 2]\n```",
  "[",
  "7",
];

/**
 * Makes a case.
 *
 * @param seed Which.
 * @returns The case; its documents follow the grammar, but may refer to what does not exist.
 */
export function randomCase(seed: number): RandomCase {
  const dice = createDice(seed);
  const kids = Array.from({ length: dice.roll(3) }, (_, i) => `kid${i}`);
  const registry: Record<string, JsonObject> = {};
  kids.forEach((name, i) => {
    registry[name] = randomMachine(dice, name, { calls: kids.slice(i + 1), states: 3 });
  });
  const machine = randomMachine(dice, "root", {
    calls: dice.chance(0.1) ? [...kids, "nobody"] : kids,
    states: 5,
  });
  const sequential = dice.chance(0.5);
  return {
    machine,
    registry,
    scenario: randomScenario(dice, sequential ? "sequential" : "parallel"),
    resumeInputs: dice.chance(0.7) ? { "human.reply": "go on" } : {},
  };
}

function randomMachine(
  dice: Dice,
  name: string,
  size: { readonly calls: readonly string[]; readonly states: number },
): JsonObject {
  const ids = Array.from({ length: 1 + dice.roll(size.states) }, (_, i) => `s${i}`);
  const context: Record<string, JsonValue> = {};
  for (const key of KEYS) if (dice.chance(0.7)) context[key] = dice.pick(VALUES);
  if (dice.chance(0.9)) context["list"] = dice.pick(LISTS);
  const states: Record<string, JsonObject> = {};
  for (const id of ids) states[id] = randomState(dice, ids, size.calls);
  return {
    machine: name,
    entry: dice.pick(ids),
    budget: 1 + dice.roll(10),
    ...(dice.chance(0.3) ? { default_tier: dice.pick(["fast", "balanced", "reasoning"]) } : {}),
    ...(dice.chance(0.3) ? { result: dice.pick(KEYS) } : {}),
    context,
    states,
  };
}

function randomState(dice: Dice, ids: readonly string[], calls: readonly string[]): JsonObject {
  const common = {
    output: dice.pick(KEYS),
    ...(dice.chance(0.2) ? { accumulate: true } : {}),
    ...(dice.chance(0.15) ? { max_visits: 1 + dice.roll(3) } : {}),
    ...fanOut(dice),
    gates: randomGates(dice, ids),
  };
  const kind = dice.roll(10);
  if (kind < 2) return { tool: dice.pick(TOOLS), input: randomInput(dice), ...common };
  const tier = dice.chance(0.2) ? { tier: dice.pick(["fast", "reasoning"]) } : {};
  if (kind < 4 && calls.length > 0) {
    return { call: dice.pick(calls), input: randomInput(dice), ...tier, ...common };
  }
  const parse = dice.chance(0.2) ? { parse: dice.pick(["list", "json", "json"]) } : {};
  return {
    structure: "s",
    prompt: ("parse" in parse ? "JSON " : "") + randomPrompt(dice),
    ...tier,
    ...(dice.chance(0.15) ? { reason: true } : {}),
    ...parse,
    ...common,
  };
}

function fanOut(dice: Dice): JsonObject {
  const kind = dice.roll(8);
  if (kind === 0) return { sample: 2 + dice.roll(2) };
  if (kind > 2) return {};
  return {
    over: dice.pick(["{{list}}", "each of {{map.l}} now", "{{note}}", "none", "{{alpha}}"]),
  };
}

function randomPrompt(dice: Dice): string {
  const words = ["Say", "Weigh", "JSON", "Answer"];
  const parts = Array.from(
    { length: 1 + dice.roll(4) },
    () => dice.chance(0.4) ? dice.pick(words) : dice.pick(PLACES),
  );
  return parts.join(" ");
}

function randomInput(dice: Dice): JsonObject {
  const input: Record<string, JsonValue> = {};
  for (const key of KEYS.slice(0, dice.roll(4))) {
    const kind = dice.roll(4);
    if (kind === 0) input[key] = dice.pick(VALUES);
    else if (kind === 1) input[key] = ` ${dice.pick(PLACES)}\n`;
    else input[key] = `${dice.pick(PLACES)} and ${dice.pick(PLACES)}`;
  }
  return input;
}

function randomGates(dice: Dice, ids: readonly string[]): JsonObject[] {
  const gates = Array.from({ length: 1 + dice.roll(4) }, () => randomGate(dice, ids));
  if (dice.chance(0.7)) gates.push({ when: "otherwise", ...randomPolicy(dice, ids) });
  return gates;
}

function randomGate(dice: Dice, ids: readonly string[]): JsonObject {
  const when = dice.chance(0.1) ? " Otherwise " : dice.pick(CONDITIONS);
  const hook = dice.chance(0.25) ? { hook: dice.chance(0.04) ? "no_hook" : dice.pick(HOOKS) } : {};
  return { when, ...hook, ...randomPolicy(dice, ids) };
}

function randomPolicy(dice: Dice, ids: readonly string[]): JsonObject {
  const to = dice.chance(0.3) ? "END" : dice.pick(ids);
  const kind = dice.roll(10);
  if (kind === 0) return { fail: true };
  if (kind < 3) return { repair: 1 + dice.roll(2), to };
  if (kind > 4) return { then: "ok", to };
  return {
    escalate: true,
    to,
    ...(dice.chance(0.5) ? { ask: "Well?" } : {}),
    ...(dice.chance(0.4) ? { reply_to: dice.pick(["reply.text", "human.reply", "note"]) } : {}),
  };
}

/** Branches at once ask in no fixed order, so their scripts must not depend on one. */
function randomScenario(dice: Dice, order: "sequential" | "parallel"): JsonObject {
  const sequential = order === "sequential";
  const input: Record<string, JsonValue> = {};
  for (const key of KEYS) if (dice.chance(0.25)) input[key] = dice.pick(VALUES);
  const list = Array.from({ length: dice.roll(12) }, () => dice.pick(TEXTS));
  const mapping = {
    "[Repair feedback]": "mended",
    JSON: dice.pick(['["a", "b"]', '["a", {"k": 1}]', '{"k": "w"}', "no"]),
    Weigh: dice.pick(TEXTS),
    "<data-": "fenced",
    ...(dice.chance(0.8) ? { "": "bare" } : {}),
  };
  return {
    llm: {
      produce: sequential ? list : mapping,
      ...randomJudge(dice, sequential ? 8 : 1),
      ...(dice.chance(0.5) ? { tokens: [1 + dice.roll(5), dice.roll(4)] } : {}),
    },
    tools: {
      search: sequential ? ["found", "found more"] : ["found"],
      write_file: { '"alpha"': "wrote alpha", "": "wrote" },
      odd_tool: ['{"error": null}'],
      calc: dice.chance(0.8) ? ["42"] : [],
    },
    hooks: { yes: [true], no: [false], mixed: sequential ? [false, true, false] : [true] },
    input,
    run: randomRun(dice, sequential),
  };
}

function randomJudge(dice: Dice, most: number): JsonObject {
  if (dice.chance(0.1)) return {};
  if (dice.chance(0.1)) return { judge: "unparseable" };
  const picks = [0, 0, 1, 1, 2, 3, "none", "none", -1];
  return { judge: Array.from({ length: 1 + dice.roll(most) }, () => dice.pick(picks)) };
}

function randomRun(dice: Dice, sequential: boolean): JsonObject {
  return {
    ...(sequential ? { max_workers: 1 } : {}),
    ...(dice.chance(0.25) ? { cost_budget: dice.roll(30) } : {}),
    ...(dice.chance(0.4) ? { suspendable: true } : {}),
    ...(dice.chance(0.4) ? { escalate_suspend: true } : {}),
    ...(dice.chance(0.3) ? { on_untrusted_flow: "halt" } : {}),
    ...(dice.chance(0.2) ? { delimit: false } : {}),
    ...(dice.chance(0.2) ? { prompt_value_chars: 5 + dice.roll(30) } : {}),
    ...(dice.chance(0.2) ? { trusted_keys: ["alpha", "note"] } : {}),
    ...(dice.chance(0.1) ? { flow_tainted: true } : {}),
    ...(dice.chance(0.1) ? { tool_effects: { odd_tool: "read", search: "effect" } } : {}),
  };
}
