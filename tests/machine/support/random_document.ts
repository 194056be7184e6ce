/**
 * Random documents for the checks before a run: some break the grammar, most break what check and lint look at.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../../../src/json/mod.ts";
import { createDice, type Dice } from "./random_machine.ts";

/** Share of documents in which something of the wrong kind may stand. */
const BROKEN_SHARE = 0.3;

/**
 * Makes a document.
 *
 * @param seed Any number; the same seed gives the same document.
 * @returns The document.
 */
export function randomDocument(seed: number): JsonObject {
  const dice = createDice(seed);
  const broken = dice.chance(BROKEN_SHARE);
  const ids = some(dice, ["a", "b", "c", "d"]);
  const states = ids.length === 0 ? ["a"] : ids;
  const document: Record<string, JsonValue> = {
    machine: dice.pick(["m", "kid", "std_cot", ""]),
    entry: dice.pick(["a", "a", "a", "b", "none"]),
    budget: 1 + dice.roll(6),
    states: Object.fromEntries(states.map((id) => [id, randomState(dice, broken)])),
    ...maybe(dice, 0.8, "mklang", () => dice.pick(VERSIONS)),
    ...maybe(dice, 0.2, "default_tier", () => dice.pick(["fast", "reasoning"])),
    ...maybe(dice, 0.5, "result", () => dice.pick(["o", "p", "none", ""])),
    ...maybe(dice, 0.7, "context", () => Object.fromEntries(some(dice, Object.entries(CONTEXT)))),
    ...maybe(dice, 0.25, "tools", () => named(some(dice, ["calc", "search", "write_file"]))),
    ...maybe(dice, 0.25, "hooks", () => named(some(dice, ["always_true", "eq:o:x", "other"]))),
  };
  if (broken && dice.chance(0.15)) spoil(document, dice, TOP_KEYS);
  return document;
}

const VERSIONS = ["0.2", "0.2.0", "0.3", "0.3.0", "0.4", "0.4.0", "", "1.0"];
const CONTEXT: JsonObject = {
  o: "",
  m: { a: 1, b: { c: 2 } },
  xs: [1],
  today: "",
  item: 1,
};
const PARTS = [
  "text",
  "{{o}}",
  "{{p}}",
  "{{ item }}",
  "{{index}}",
  "{{human.x}}",
  "{{ o.x }}",
  "{{m.a}}",
  "{{m.x}}",
  "{{m.b.c}}",
  "{{u}}",
  "{{a-b}}",
  "{{a.}}",
  "{{é}}",
  "{{{o}}}",
];
const CONDITIONS = ["otherwise", " Otherwise ", "otherwise.", "good", "bad", "x # y", ""];
const HOOKS = ["always_true", "other", "has_receipt", "eq:o:x"];
const TOOLS = ["calc", "write_file", "search", "send_reply", "odd", "run_machine", "ask_user"];
const WRONG: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1,
  2,
  1.5,
  5.0,
  "x",
  "ok",
  "list",
  [],
  {},
  [{}],
];
const TOP_KEYS = [
  "mklang",
  "machine",
  "entry",
  "budget",
  "result",
  "context",
  "tools",
  "states",
  "odd",
];
const STATE_KEYS = [
  "prompt",
  "structure",
  "execution",
  "tier",
  "reason",
  "parse",
  "accumulate",
  "sample",
  "over",
  "max_visits",
  "output",
  "gates",
  "call",
  "tool",
  "input",
  "odd",
];
const GATE_KEYS = [
  "when",
  "then",
  "repair",
  "escalate",
  "fail",
  "to",
  "hook",
  "ask",
  "reply_to",
  "odd",
];

function randomState(dice: Dice, broken: boolean): JsonObject {
  const kind = dice.pick(["generative", "generative", "call", "tool"]);
  const fanOut = dice.roll(6);
  const state: Record<string, JsonValue> = {
    ...KINDS[kind]?.(dice),
    ...(kind === "tool" ? {} : maybe(dice, 0.3, "tier", () => dice.pick(["fast", "reasoning"]))),
    ...(fanOut === 0 ? { over: dice.pick(["{{o}}", "{{m.xs}}", "xs"]) } : {}),
    ...(fanOut === 1 ? { sample: 2 + dice.roll(3) } : {}),
    ...maybe(dice, 0.2, "max_visits", () => 1 + dice.roll(3)),
    ...maybe(dice, 0.2, "accumulate", () => dice.chance(0.5)),
    output: dice.pick(["o", "p", "q", "m"]),
    gates: [
      ...Array.from({ length: 1 + dice.roll(4) }, () => randomGate(dice, broken)),
      ...(dice.chance(0.5)
        ? [{ when: "otherwise", then: "ok", to: dice.pick(["END", "a", "b", "c"]) }]
        : []),
    ],
  };
  if (broken && dice.chance(0.2)) spoil(state, dice, STATE_KEYS);
  return state;
}

const KINDS: Readonly<Record<string, (dice: Dice) => JsonObject>> = {
  generative: (dice) => ({
    prompt: template(dice),
    structure: dice.pick(["s", template(dice)]),
    ...maybe(dice, 0.2, "execution", () => template(dice)),
    ...maybe(dice, 0.2, "parse", () => dice.pick(["list", "json"])),
    ...maybe(dice, 0.2, "reason", () => dice.chance(0.5)),
  }),
  call: (dice) => ({
    call: dice.pick(["std_cot", "std_research", "none", "kid", "kin"]),
    ...maybe(dice, 0.6, "input", () => randomInput(dice)),
  }),
  tool: (dice) => ({
    tool: dice.pick(TOOLS),
    ...maybe(dice, 0.6, "input", () => randomInput(dice)),
  }),
};

function randomInput(dice: Dice): JsonObject {
  const value = (): JsonValue => dice.pick([template(dice), "{{o}}", 5, ["{{none}}"], null]);
  return Object.fromEntries(some(dice, ["expr", "path", "task"]).map((key) => [key, value()]));
}

function randomGate(dice: Dice, broken: boolean): JsonObject {
  const policy = dice.pick(["then", "then", "then", "repair", "escalate", "fail"]);
  const gate: Record<string, JsonValue> = {
    when: dice.pick(CONDITIONS),
    ...POLICIES[policy]?.(dice),
    ...(policy === "fail" ? {} : { to: dice.pick(["a", "b", "c", "d", "END", "END", "END"]) }),
    ...maybe(dice, 0.2, "hook", () => dice.pick(HOOKS)),
  };
  if (broken && dice.chance(0.12)) spoil(gate, dice, GATE_KEYS);
  return gate;
}

const POLICIES: Readonly<Record<string, (dice: Dice) => JsonObject>> = {
  then: () => ({ then: "ok" }),
  repair: (dice) => ({ repair: 1 + dice.roll(3) }),
  escalate: (dice) => ({
    escalate: true,
    ...maybe(dice, 0.3, "ask", () => "why?"),
    ...maybe(dice, 0.3, "reply_to", () => dice.pick(["human.reply", "o.x"])),
  }),
  fail: () => ({ fail: true }),
};

function template(dice: Dice): string {
  return Array.from({ length: dice.roll(4) }, () => dice.pick(PARTS)).join(" ");
}

function named(names: readonly string[]): JsonValue {
  return names.map((name) => ({ name }));
}

function some<T>(dice: Dice, values: readonly T[]): T[] {
  return values.filter(() => dice.chance(0.6));
}

function maybe(dice: Dice, share: number, key: string, value: () => JsonValue): JsonObject {
  return dice.chance(share) ? { [key]: value() } : {};
}

function spoil(object: Record<string, JsonValue>, dice: Dice, keys: readonly string[]): void {
  const key = dice.pick(keys);
  if (dice.chance(0.3)) delete object[key];
  else object[key] = dice.pick(WRONG);
}
