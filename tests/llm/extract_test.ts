import { assert, assertEquals, assertLess } from "@std/assert";
import fc from "fast-check";
import { compileSchema } from "../../src/json/mod.ts";
import { extractJson, type ExtractOptions } from "../../src/llm/extract.ts";

/** A hundred times what linear work takes here, and less than quadratic work would. */
const LINEAR_MS = 5000;

/** The value as plain JSON, or the code of the fault. */
function outcome(text: string, options?: ExtractOptions): unknown {
  const found = extractJson(text, options);
  return found.kind === "value" ? JSON.parse(JSON.stringify(found.value)) : found.code;
}

const found: [what: string, text: string, value: unknown][] = [
  ["a whole text", ' {"a": 1}\n', { a: 1 }],
  ["a list as the whole text", "[1, 2]", [1, 2]],
  ["a number, a text and null as the whole text", "7.5", 7.5],
  ["a text after a byte order mark", '\uFEFF"x"', "x"],
  ["a fence tagged json", 'Here:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
  ["a fence without a tag", '```\n{"a": 1}\n```', { a: 1 }],
  ["the tagged fence before another", '```\n{"a": 0}\n```\n```json\n{"a": 1}\n```', { a: 1 }],
  ["the second fence where the first has no JSON", '```sh\nls\n```\n```\n{"a": 1}\n```', { a: 1 }],
  ["a fence whose JSON has fences in its texts", '```json\n{"md": "```sh```"}\n```', {
    md: "```sh```",
  }],
  ["a fence that is never closed", '```json\n{"a": 1}', { a: 1 }],
  ["the fence after a broken one", '```json\n{"a": oops\n```\n```json\n{"a": 1}\n```', { a: 1 }],
  ["an object in prose", 'The answer is {"a": 1}, I think.', { a: 1 }],
  ["an object before a list", 'As [1] says: {"a": 1}', { a: 1 }],
  ["a list where there is no object", "Numbers: [1, 2].", [1, 2]],
  ["the object after a stray brace", 'Use {name} like so: {"a": 1}', { a: 1 }],
  ["the object after braces with texts", 'The set {"a", "b"} gives {"a": 1}', { a: 1 }],
  ["the object after an apostrophe", '{\'tis so} {"a": 1}', { a: 1 }],
  ["the answer after thinking", '<think>{"a": 0}</think>{"a": 1}', { a: 1 }],
  ["one of two equal values", '{"a": 1} and again {"a": 1}', { a: 1 }],
  ["escaped quotes", 'x {"a": "say \\"hi\\" {"} y', { a: 'say "hi" {' }],
];
for (const [what, text, value] of found) {
  Deno.test(`W36 extractJson() finds ${what}`, () => assertEquals(outcome(text), value));
}

const faults: [what: string, text: string, code: string, options?: ExtractOptions][] = [
  ["prose", "The answer is 3", "no_json"],
  ["nothing", "", "no_json"],
  ["two different objects", '{"a": 1}\n{"a": 2}', "ambiguous"],
  ["an object that ends too early", '{"items": [{"id": 1}, {"na', "truncated"],
  ["a whole object before one that ends too early", 'E.g. {"a": 0}. Final: {"a": ', "truncated"],
  ["brackets that do not match", '[{"a": [1], "b": [2}]}, {"c": 1}]', "unrepairable"],
  ["an integer that loses digits", '{"id": 9007199254740993}', "unsafe_integer"],
  ["NaN", '{"a": NaN}', "invalid_number"],
  ["a number too large", '{"a": 1e999}', "invalid_number"],
  ["200 levels", `${"[".repeat(200)}${"]".repeat(200)}`, "too_deep"],
  ["a scalar where none is wanted", "3", "no_json", { scalars: false }],
  ["a key that comes twice", '{"a": 1, "a": 2}', "duplicate_key", { duplicateKeys: "refuse" }],
  ["a comma too many where nothing is mended", '{"a": 1,}', "unrepairable", { repair: false }],
  ["a comma too many in an answer that was cut off", '{"a": 1,}', "unrepairable", {
    truncated: true,
  }],
];
for (const [what, text, code, options] of faults) {
  Deno.test(`W36 extractJson() says ${code} of ${what}`, () => {
    assertEquals(outcome(text, options), code);
  });
}

const repairs: [what: string, text: string, value: unknown][] = [
  ["commas before closing brackets", '{"a": [1, 2,],}', { a: [1, 2] }],
  ["single quotes and Python's words", "{'a': True, 'b': None, 'c': 'it\\'s'}", {
    a: true,
    b: null,
    c: "it's",
  }],
  ["comments", '{"a": 1, // one\n /* two */ "b": 2}', { a: 1, b: 2 }],
  ["a line break within a text", '{"a": "x\ny"}', { a: "x\ny" }],
];
for (const [what, text, value] of repairs) {
  Deno.test(`extractJson() mends ${what}, and says so`, () => {
    const result = extractJson(text);
    assert(result.kind === "value");
    assertEquals([JSON.parse(JSON.stringify(result.value)), result.repaired], [value, true]);
  });
}

Deno.test("extractJson() never mends what is valid", () => {
  const text = '{"a": "it\'s // no comment, # nor this", "u": "http://x", "t": ",}"}';
  const result = extractJson(text);
  assert(result.kind === "value" && !result.repaired);
  assertEquals(JSON.stringify(result.value), JSON.stringify(JSON.parse(text)));
});

Deno.test("extractJson() picks the first or the last where told", () => {
  const text = '{"a": 1} no: {"a": 2}';
  assertEquals([outcome(text, { pick: "first" }), outcome(text, { pick: "last" })], [
    { a: 1 },
    { a: 2 },
  ]);
});

Deno.test("extractJson() gives the one candidate that a schema leaves", async () => {
  const schema = await compileSchema({ required: ["v"], properties: { v: { type: "number" } } });
  const accept = (value: Parameters<typeof schema.validate>[0]) => schema.validate(value);
  assertEquals(outcome('E.g. {"foo": 0}. Final: {"v": 2}', { accept }), { v: 2 });
  assertEquals(outcome('{"v": 1} or {"v": 2}', { accept }), "ambiguous");
  const wrong = extractJson('{"v": "x"}', { accept });
  assert(wrong.kind === "error");
  assertEquals([wrong.code, wrong.message], [
    "validation",
    'The JSON does not fit: /v: wanted number, found string "x"',
  ]);
});

Deno.test("extractJson() leaves out a null that may only be absent, and says so", async () => {
  const schema = await compileSchema({ required: ["a"], properties: { b: { type: "object" } } });
  const accept = (value: Parameters<typeof schema.validate>[0]) => schema.validate(value);
  const result = extractJson('{"a": 1, "b": null}', { accept });
  assert(result.kind === "value" && result.repaired);
  assertEquals(JSON.stringify(result.value), '{"a":1}');
});

const hostile: [what: string, text: string][] = [
  ["100000 open lists", "[".repeat(100_000)],
  ["200000 open objects", "{ ".repeat(200_000)],
  ["300000 fences", "```".repeat(300_000)],
  ["100000 open texts in lists", "['".repeat(100_000)],
  ["50000 brackets before comments", "['a' /*".repeat(50_000)],
  ["100000 backticks and braces", '`{"'.repeat(100_000)],
  ["50000 think tags", "<think>".repeat(50_000)],
  ["50000 closing tags in code", "`</think>` ".repeat(50_000)],
  ["50000 broken objects", '{"a": x} '.repeat(50_000)],
];
for (const [what, text] of hostile) {
  Deno.test(`W37 extractJson() is done with ${what} in linear time`, () => {
    const started = performance.now();
    extractJson(text);
    assertLess(performance.now() - started, LINEAR_MS);
  });
}

Deno.test("extractJson() does not look through more than 4 MiB", () => {
  assertEquals(outcome(" ".repeat(4 * 1024 * 1024 + 1)), "too_deep");
});

const pieces = fc.constantFrom(
  ..."{}[]\"'`,:\\/* \n",
  "```json\n",
  "<think>",
  "</think>",
  "true",
  "None",
  "1",
  "a",
  "//",
  "/*",
);

Deno.test("extractJson() never throws, and is deterministic", () => {
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const text = parts.join("");
      assertEquals(JSON.stringify(extractJson(text)), JSON.stringify(extractJson(text)));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("extractJson() finds whatever object is put into prose or a fence", () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }));
  fc.assert(fc.property(object, (value) => {
    const text = JSON.stringify(value);
    for (const around of [`Result: ${text} done`, "Sure:\n```json\n" + text + "\n```\n", text]) {
      const result = extractJson(around);
      assert(result.kind === "value" && !result.repaired, around);
      assertEquals(JSON.stringify(result.value), JSON.stringify(JSON.parse(text)));
    }
  }));
});
