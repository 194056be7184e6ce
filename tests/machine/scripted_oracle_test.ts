import { assertEquals, assertThrows } from "@std/assert";
import type { JsonValue } from "../../src/json/mod.ts";
import {
  createScriptedOracle,
  type JudgeRequest,
  type ProduceRequest,
} from "../../src/machine/mod.ts";

const signal = new AbortController().signal;
const ORIGIN = { machine: "m", state: "a", depth: 0, path: "a", tier: "fast", signal } as const;

function ask(user: string, more: Partial<ProduceRequest> = {}): ProduceRequest {
  return { ...ORIGIN, system: "", user, temperature: 0.4, reason: false, ...more };
}

function judge(conditions: readonly string[]): JudgeRequest {
  return { ...ORIGIN, conditions, output: "", context: {} };
}

/** The answer of a scripted oracle, which never waits. */
function now<T>(answer: T | Promise<T>): T {
  if (answer instanceof Promise) throw new Error("a script made someone wait");
  return answer;
}

Deno.test("createScriptedOracle() plays a list of texts and then says ok", () => {
  const oracle = createScriptedOracle({ produce: ["a", ["x"]], tokens: [3, 2] });
  const texts = [1, 2, 3].map(() => now(oracle.produce(ask("p"))));
  assertEquals(texts.map(({ text }) => text), ["a", '["x"]', "ok"]);
  assertEquals(texts[2]?.tokens, { input: 3, output: 2 });
});

Deno.test("createScriptedOracle() plays the first part of a mapping that occurs in the prompt", () => {
  const oracle = createScriptedOracle({ produce: { ab: "first", a: "second" } });
  assertEquals(now(oracle.produce(ask("cab"))).text, "first");
  assertEquals(now(oracle.produce(ask("a"))).text, "second");
  assertThrows(
    () => oracle.produce(ask("q".repeat(100))),
    Error,
    `no scripted produce matches prompt '${"q".repeat(80)}'`,
  );
});

Deno.test("createScriptedOracle() thinks a thought where reasoning is asked for", () => {
  const oracle = createScriptedOracle();
  assertEquals(now(oracle.produce(ask("p", { reason: true }))).reasoning, "thought");
  assertEquals(now(oracle.produce(ask("p"))).reasoning, undefined);
});

const picks: [what: string, script: JsonValue, answers: (number | string)[]][] = [
  ["repeats the last entry", [0, 1], [0, 1, 1]],
  ["takes none for the number of conditions", ["none", " NONE "], [2, 2, 2]],
  ["passes odd numbers on", [7, -1], [7, -1, -1]],
  ["picks the last condition from an empty list", [], [1, 1, 1]],
  ["is unparseable for ever", "unparseable", ["scripted", "scripted", "scripted"]],
];
for (const [what, script, answers] of picks) {
  Deno.test(`createScriptedOracle() as a judge ${what}`, () => {
    const oracle = createScriptedOracle({ judge: script });
    const given = answers.map(() => now(oracle.judge(judge(["a", "b"]))));
    assertEquals(
      given.map((verdict) => verdict.kind === "choice" ? verdict.index : verdict.raw),
      answers,
    );
  });
}

Deno.test("createScriptedOracle() as a judge throws for other words and fractions", () => {
  for (const entry of ["maybe", 1.5, true, null]) {
    const oracle = createScriptedOracle({ judge: [entry] });
    assertThrows(() => oracle.judge(judge(["a"])), Error, "expected an index or 'none'");
  }
});

Deno.test("createScriptedOracle() refuses scripts of another form", () => {
  assertThrows(() => createScriptedOracle({ produce: "text" }), TypeError);
  assertThrows(() => createScriptedOracle({ judge: "none" }), TypeError);
  assertThrows(() => createScriptedOracle({ tokens: [1] }), TypeError);
});
