import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError } from "../../src/llm/mod.ts";
import { resumeMachine, runMachine } from "../../src/machine/mod.ts";
import type { RunOptions } from "../../src/machine/options.ts";
import {
  checkOptions,
  describeValue,
  requireFrames,
  requireJson,
} from "../../src/machine/run_arguments.ts";
import type { Frame } from "../../src/machine/trace.ts";
import { oneState, oracleOf, scripted } from "./support/running.ts";

const END = "[{ when: otherwise, then: ok, to: END }]";

function circle(): unknown {
  const list: unknown[] = [];
  list.push(list, list);
  return list;
}

const strangers: [what: string, value: unknown, message: string][] = [
  ["NaN", { x: NaN }, "inputs.x is NaN"],
  ["an infinite number", { x: [1, -Infinity] }, "inputs.x[1] is -Infinity"],
  ["a missing value", { x: { y: undefined } }, "inputs.x.y is undefined"],
  ["a date", { x: new Date(0) }, "inputs.x is a Date"],
  ["a map", { "a.b": new Map() }, 'inputs["a.b"] is a Map'],
  ["a function", { x: () => 1 }, "inputs.x is a function"],
  ["a symbol", { x: Symbol("s") }, "inputs.x is a symbol"],
  ["a large integer", { x: 1n }, "inputs.x is a bigint"],
  ["a list that holds itself", { x: circle() }, "or holds itself"],
  ["no object", ["x"], "the option inputs: found a list"],
];
for (const [what, value, message] of strangers) {
  Deno.test(`requireJson() refuses ${what} and says where it is`, () => {
    const error = assertThrows(() => requireJson(value, "inputs"), ConfigError);
    assertStringIncludes(error.message, message);
    assertEquals(error.code, "argument");
  });
}

Deno.test("requireJson() takes JSON, shared parts and objects without prototype included", () => {
  const shared = Object.assign(Object.create(null), { a: [1, "é", null, true] });
  assertEquals(requireJson({ x: shared, y: [shared, shared] }, "context"), {
    x: shared,
    y: [shared, shared],
  });
});

Deno.test("requireJson() refuses a value that is large by sharing, without writing it out", () => {
  let value: unknown = [1];
  for (let i = 0; i < 60; i++) value = [value, value];
  const error = assertThrows(() => requireJson({ value }, "inputs"), ConfigError);
  assertStringIncludes(error.message, "the option inputs holds over 1000000 values");
});

Deno.test("requireJson() measures anew what a caller has changed", () => {
  const list = new Array<number>(1_000_001).fill(0);
  const values = { list };
  assertThrows(() => requireJson(values, "inputs"), ConfigError, "holds over 1000000 values");
  list.length = 10;
  assertEquals(requireJson(values, "inputs"), values);
  for (let i = list.length; i < 1_000_001; i++) list.push(0);
  assertThrows(() => requireJson(values, "inputs"), ConfigError, "holds over 1000000 values");
});

Deno.test("runMachine() refuses inputs that are not JSON before it asks anybody", async () => {
  let asked = 0;
  const oracle = oracleOf({
    produce: () => {
      asked++;
      return { text: "x", tokens: { input: 1, output: 1 } };
    },
  });
  const run = runMachine(oneState(END), scripted({}, { oracle, inputs: { x: NaN } }));
  const error = await run.then(() => undefined, (error: unknown) => error);
  assert(error instanceof ConfigError);
  assertEquals(asked, 0);
});

const FRAME: Frame = {
  machine: "one",
  state: "a",
  ctx: {},
  steps: 0,
  ["total_in"]: 0,
  ["total_out"]: 0,
  feedback: "",
  ["repair_left"]: [],
  trace: [],
};
const frames: [what: string, frames: unknown, message: string][] = [
  ["nothing", undefined, "there are no frames"],
  ["an empty list", [], "there are no frames"],
  ["null", [null], "frames[0].machine is undefined, wanted a text"],
  ["a frame without a context", [FRAME, { ...FRAME, ctx: null }], "frames[1].ctx is null"],
  ["a frame whose steps are a text", [{ ...FRAME, steps: "1" }], "frames[0].steps is a string"],
  ["a step that is null", [{ ...FRAME, trace: [null] }], "frames[0].trace[0] is null, wanted an"],
  ["a step that is a text", [{ ...FRAME, trace: [{}, "x"] }], "frames[0].trace[1] is a string"],
];
for (const [what, value, message] of frames) {
  Deno.test(`requireFrames() refuses ${what}`, () => {
    const error = assertThrows(() => requireFrames(value), ConfigError);
    assertStringIncludes(error.message, message);
    assertEquals(error.code, "argument");
  });
}

Deno.test("requireFrames() takes the least that a frame has", async () => {
  requireFrames([FRAME]);
  const run = await resumeMachine(oneState(END), [FRAME], scripted({ produce: ["x"] }));
  assertEquals(run.status, "done");
});

const effects: Readonly<Record<string, string>> = { t: "write" };
const options: [what: string, options: Partial<Record<keyof RunOptions, unknown>>, text: string][] =
  [
    ["no called steps", { maxCalledSteps: 0 }, "maxCalledSteps: found 0"],
    ["half a character", { maxHeldChars: 0.5 }, "maxHeldChars: found 0.5"],
    ["an unknown effect", { toolEffects: effects }, 'toolEffects.t: found "write"'],
    ["a key that is no list", { trustedKeys: "s" }, 'trustedKeys: found "s"'],
  ];
for (const [what, given, text] of options) {
  Deno.test(`checkOptions() refuses ${what}`, () => {
    const all = Object.assign(scripted(), given);
    assertStringIncludes(assertThrows(() => checkOptions(all), ConfigError).message, text);
  });
}

const kinds: [value: unknown, kind: string][] = [
  [undefined, "undefined"],
  [null, "null"],
  [NaN, "NaN"],
  ["x", "a string"],
  [1n, "a bigint"],
  [[], "a list"],
  [{}, "an object"],
  [Object.create(null), "an object"],
  [new Date(0), "a Date"],
];
Deno.test("describeValue() names kinds, and classes by their name", () => {
  assertEquals(kinds.map(([value]) => describeValue(value)), kinds.map(([, kind]) => kind));
});
