import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import {
  placeholderPaths,
  readTemplate,
  refersTo,
  renderPrompt,
  resolveInput,
} from "../../src/machine/interpolate.ts";
import { runMachine } from "../../src/machine/mod.ts";
import { SeededRandom } from "../../src/testing/mod.ts";
import { machineOf, scripted } from "./support/running.ts";

const context: JsonObject = JSON.parse(
  '{"x": "$& {{y}}", "y": 1, "no": false, "nil": null, "é": "acute", "l": [1, 2], "m": {"k": {"d": "deep"}, "": 1}, ' +
    '"__proto__": {"evil": "own"}}',
);
const scope = (key: string): JsonValue | undefined =>
  Object.hasOwn(context, key) ? context[key] : undefined;
const random = new SeededRandom(1);

function render(text: string): string {
  return renderPrompt(readTemplate(text), scope, { maxChars: 0, random }).text;
}

const rendered: [what: string, text: string, result: string][] = [
  ["inserts a value", "a {{y}} b", "a 1 b"],
  ["allows white space within the braces", "{{ \n y\t}}", "1"],
  ["never looks at inserted text again", "{{x}}", "$& {{y}}"],
  ["leaves a path with a hyphen", "{{a-b}}", "{{a-b}}"],
  ["leaves a path with a space", "{{a b}}", "{{a b}}"],
  ["leaves empty braces", "{{}}", "{{}}"],
  ["leaves a filter", "{{y|upper}}", "{{y|upper}}"],
  ["leaves single braces", "{y}", "{y}"],
  ["keeps a third brace", "{{{y}}}", "{1}"],
  ["knows letters of all scripts", "{{é}}", "acute"],
  ["follows a path", "{{m.k.d}}", "deep"],
  ["renders what is missing as nothing", "[{{z}}{{m.z.d}}]", "[]"],
  ["renders null as nothing", "[{{nil}}]", "[]"],
  ["renders false", "{{no}}", "false"],
  ["does not index lists", "[{{l.0}}]", "[]"],
  ["treats an empty segment as missing unless there is such a key", "[{{y.}}][{{m.}}]", "[][1]"],
  ["reads own members only", "[{{constructor}}{{m.toString}}]", "[]"],
  ["reads an own member called __proto__", "{{__proto__.evil}}", "own"],
];
for (const [what, text, result] of rendered) {
  Deno.test(`renderPrompt() ${what}`, () => assertEquals(render(text), result));
}

Deno.test("renderPrompt() fences values of tainted roots, all with one nonce", () => {
  const { text, nonce } = renderPrompt(readTemplate("{{y}} {{m.k.d}} {{m.none}}"), scope, {
    maxChars: 0,
    random,
    isTainted: (root) => root === "m",
  });
  assert(nonce !== undefined);
  assertMatch(nonce, /^[0-9a-f]{12}$/);
  const open = `<data-${nonce}>`;
  const close = `</data-${nonce}>`;
  assertEquals(text, `1 ${open}\ndeep\n${close} ${open}\n\n${close}`);
});

Deno.test("renderPrompt() without a tainted placeholder gives no nonce and plain text", () => {
  const result = renderPrompt(readTemplate("{{y}}"), scope, {
    maxChars: 0,
    random,
    isTainted: () => false,
  });
  assertEquals(result, { text: "1" });
});

Deno.test("renderPrompt() draws again while the nonce occurs in a fenced value", () => {
  const draws = ["000000000000", "ffffffffffff"];
  const fixed = { bytes: () => Uint8Array.fromHex(draws.shift() ?? "") };
  const { nonce } = renderPrompt(readTemplate("{{v}}"), () => "has 000000000000 in it", {
    maxChars: 0,
    random: fixed,
    isTainted: () => true,
  });
  assertEquals(nonce, "ffffffffffff");
});

const resolved: [what: string, written: JsonValue, value: JsonValue][] = [
  ["passes null as an empty text", null, ""],
  ["passes a number as it is", 5, 5],
  ["does not look into lists", ["{{y}}"], ["{{y}}"]],
  ["passes the raw value of a single placeholder", "{{l}}", [1, 2]],
  ["ignores white space around a single placeholder", " \n{{ l }}\n", [1, 2]],
  ["passes a missing value as an empty text", "{{zz}}", ""],
  ["passes a null value as an empty text", "{{nil}}", ""],
  ["renders two placeholders as text", "{{y}}{{y}}", "11"],
  ["renders a placeholder with text around it", "n={{l}}", "n=1. 1\n2. 2"],
  ["keeps a text without placeholders", " as it is ", " as it is "],
];
for (const [what, written, value] of resolved) {
  Deno.test(`resolveInput() ${what}`, () => assertEquals(resolveInput(written, scope), value));
}

Deno.test("refersTo() looks at the roots of texts alone", () => {
  const keys = new Set(["m"]);
  assert(refersTo("a {{m.k}}", keys));
  assertFalse(refersTo("a {{k.m}}", keys));
  assertFalse(refersTo(["{{m}}"], keys));
});

Deno.test("placeholderPaths() lists repeated paths in order", () => {
  assertEquals(placeholderPaths("{{b.c}} {{a}} {{b.c}} {{no-t}}"), ["b.c", "a", "b.c"]);
});

Deno.test("readTemplate() reads 100,000 opening braces in linear time", () => {
  assertEquals(readTemplate("{{ ".repeat(100_000)).pieces.length, 1);
});

Deno.test("runMachine() halts where placeholders make a text of over 16 Mi characters", async () => {
  const many = "{{b}}".repeat(900);
  const context = `context: { b: ${"x".repeat(20_000)} }`;
  const gates = "gates: [{ when: otherwise, then: ok, to: END }]";
  const error = "state-error: the text that placeholders make has over 16777216 characters";
  const states = [
    `{ prompt: "${many}", structure: s, output: o, ${gates} }`,
    `{ tool: t, input: { x: "${many}" }, output: o, ${gates} }`,
    `{ call: big, input: { x: "${many}" }, output: o, ${gates} }`,
  ];
  for (const state of states) {
    const text = `machine: big\nentry: a\nbudget: 3\n${context}\nstates:\n  a: ${state}\n`;
    const tools = new Map([["t", { run: () => "x" }]]);
    for (const inputs of [{}, { b: "y".repeat(20_000) }]) {
      const run = await runMachine(machineOf(text), scripted({}, { tools, inputs }));
      assertEquals([run.status, run.error], ["halt", error]);
    }
  }
});
