/** A description of a machine fits a line that clients take, however large the machine is. */
import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { isJsonObject, type JsonObject } from "../../src/json/mod.ts";
import { PLAIN, rig } from "./harness.ts";

const MAX = 20_000;
/** Two lists of at most 100 lines of at most 1,000 characters. */
const MAX_TEXT = 210_000;
const PLACE = "/home/ann/.local/share/kit/machines/large.mk";

function machine({ context = "", states = "", when = "otherwise" }): string {
  return `
machine: large
entry: a
budget: 3
context: {${context}}
states:
  a: { structure: s, prompt: p, output: o, gates: [ { when: "${when}", then: ok, to: END } ] }
${states}`;
}

const many = (count: number, make: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => make(at)).join("");

function sizeOf(object: JsonObject): number {
  return new TextEncoder().encode(JSON.stringify(object)).length;
}

const GATES = "gates: [ { when: otherwise, then: ok, to: a } ]";
const large: readonly (readonly [what: string, text: string])[] = [
  ["a long context value", machine({ context: `text: "${"x".repeat(300_000)}"` })],
  ["a context of bytes that JSON escapes", machine({ context: `text: "${"\\0".repeat(50_000)}"` })],
  [
    "many context values",
    machine({ context: many(2000, (at) => `some_key_of_${at}: [1, 2, 3], `) }),
  ],
  ["a long key", machine({ context: `"${"k".repeat(300_000)}": 1` })],
  [
    "many states",
    machine({
      states: many(800, (at) => `  s${at}: { prompt: p, structure: s, output: o, ${GATES} }\n`),
    }),
  ],
];
for (const [what, text] of large) {
  Deno.test(`Host.describeMachine() bounds a machine with ${what}`, async () => {
    const { host } = rig({ files: { [PLACE]: text }, limits: { maxResultBytes: MAX } });
    const { object, text: short } = await host.describeMachine("large");
    assert(sizeOf(object) <= MAX, `${sizeOf(object)} bytes`);
    assert(short.length <= MAX_TEXT, `${short.length} characters`);
    const { name, entry, budget, states, warnings, truncated } = object;
    assertEquals([name, entry, budget, warnings], ["large", "a", 3, []]);
    assert(Array.isArray(states) && isJsonObject(states[0]) && states[0]["id"] === "a");
    assertStringIncludes(String(truncated), "the whole has ");
  });
}

Deno.test("Host.describeMachine() bounds each line of its text", async () => {
  const text = machine({ when: "w".repeat(300_000) });
  const { text: short } = await rig({ files: { [PLACE]: text } }).host.describeMachine("large");
  assert(short.length < 2000, `${short.length} characters`);
});

Deno.test("Host.describeMachine() leaves a machine whole that fits", async () => {
  const files = { [PLACE.replace("large", "plain")]: PLAIN };
  const { object } = await rig({ files }).host.describeMachine("plain");
  assertFalse("truncated" in object);
  assertEquals(object["document"], PLAIN);
});

Deno.test("Host.check() bounds its findings, and the list that programs are given is whole", async () => {
  const states = many(300, (at) => `  s${at}: { structure: s, prompt: p, output: o }\n`);
  const { host } = rig({ limits: { maxResultBytes: MAX } });
  const { object, diagnostics } = await host.check({ source: machine({ states }) });
  assert(sizeOf(object) <= MAX, `${sizeOf(object)} bytes`);
  assertFalse(object["ok"]);
  assertStringIncludes(String(object["truncated"]), "lists to their first ");
  assertEquals(diagnostics.length, 201);
});

Deno.test("Host.listMachines() bounds its list", async () => {
  const { host } = rig({ limits: { maxResultBytes: 700 } });
  const { object } = await host.listMachines();
  assert(sizeOf(object) <= 700, `${sizeOf(object)} bytes`);
  assertEquals(object["warnings"], []);
  assertStringIncludes(String(object["truncated"]), "lists to their first ");
});
