import { assertEquals, assertRejects } from "@std/assert";
import { parseJson } from "../../src/json/reader.ts";
import { compileSchema, problemText, SchemaError, validateSchema } from "../../src/json/mod.ts";

type Value = Parameters<typeof validateSchema>[0];

function nested(levels: number): Value {
  let value: Value = [];
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

const problems: [what: string, schema: Value, value: Value, texts: string[]][] = [
  ["nothing where it fits", { type: "integer" }, 3, []],
  ["nothing for 3.0 as an integer", { type: "integer" }, parseJson("3.0"), []],
  ["a wrong type with what was found", { type: "integer" }, "3", [
    'wanted integer, found string "3"',
  ]],
  ["a boolean where a number is wanted", { type: "number" }, true, [
    "wanted number, found boolean true",
  ]],
  ["several types", { type: ["string", "null"] }, 1, ["wanted string or null, found number 1"]],
  [
    "every problem at once, with its place",
    {
      type: "object",
      required: ["a", "b"],
      additionalProperties: false,
      properties: { a: { type: "string" }, n: { minimum: 1, multipleOf: 2 } },
    },
    { n: 0.5, z: 1 },
    [
      'property "a" is missing',
      'property "b" is missing',
      "/n: wanted at least 1, found 0.5",
      "/n: wanted a multiple of 2, found 0.5",
      'unknown property "z"',
    ],
  ],
  ["keys as JSON pointers", { additionalProperties: { type: "null" } }, { "a/b": 1 }, [
    "/a~1b: wanted null, found number 1",
  ]],
  ["a value out of an enum", { enum: ["a", 1] }, "b", ['wanted one of "a", 1, found "b"']],
  ["a constant", { const: { a: 1 } }, { a: 2 }, ['wanted {"a":1}, found {"a":2}']],
  ["bounds that are left out", { exclusiveMaximum: 2 }, 2, ["wanted less than 2, found 2"]],
  ["lengths in code points", { maxLength: 1 }, "😀😀", [
    "wanted at most 1 characters, found 2",
  ]],
  ["a pattern", { pattern: "^a+$" }, "b", ['wanted text that matches "^a+$", found "b"']],
  ["a text too long for a pattern", { pattern: "^a+$" }, "a".repeat(5000), [
    "wanted at most 4096 characters, found 5000",
  ]],
  ["a failed choice in one line", { anyOf: [{ type: "string" }, { type: "null" }] }, 1, [
    "fits none of the 2 alternatives",
  ]],
  ["a choice that is not one", { oneOf: [{ type: "number" }, { minimum: 0 }] }, 1, [
    "wanted exactly one of the 2 alternatives to fit",
  ]],
  [
    "what is behind a reference",
    {
      properties: { a: { $ref: "#/$defs/small" } },
      $defs: { small: { maximum: 2 } },
    },
    { a: 5 },
    ["/a: wanted at most 2, found 5"],
  ],
  ["an item too many", { prefixItems: [true], items: false }, [1, 2], [
    "/1: no item is wanted here",
  ]],
  ["nothing for a wrong format: it is a note", { format: "email" }, "nobody", []],
  ["a value nested too deep", {}, nested(130), [
    "too large to be checked: nested deeper than 128 levels",
  ]],
  ["a schema without end", { $ref: "#" }, 1, [
    "the schema refers to itself without end, or the value has too many problems to tell",
  ]],
];
for (const [what, schema, value, texts] of problems) {
  Deno.test(`validateSchema() tells ${what}`, async () => {
    assertEquals((await validateSchema(schema, value)).map(problemText), texts);
  });
}

Deno.test("validateSchema() cuts long values in its texts", async () => {
  const [problem] = await validateSchema({ const: 1 }, "x".repeat(500));
  assertEquals(problem?.message, `wanted 1, found "${"x".repeat(99)}…`);
});

Deno.test("compileSchema() tells at most 50 problems of one value", async () => {
  const schema = await compileSchema({ items: { type: "string" } });
  assertEquals(schema.validate(Array.from({ length: 80 }, () => 1)).length, 50);
});

Deno.test("compileSchema() does not look at values of more than 100000 parts", async () => {
  const schema = await compileSchema({});
  const [problem] = schema.validate(Array.from({ length: 100_001 }, () => 1));
  assertEquals(problem?.message, "too large to be checked: more than 100000 values");
});

Deno.test("compileSchema() refuses a reference that leads nowhere", async () => {
  const error = await assertRejects(
    () => compileSchema({ properties: { a: { $ref: "#/$defs/missing" } } }),
    SchemaError,
  );
  assertEquals(error.pointer, "/properties/a/$ref");
});

Deno.test("compileSchema() leaves the schema it was given as it was", async () => {
  const schema = Object.freeze({ type: "object", properties: Object.freeze({ a: true }) });
  await compileSchema(schema);
  assertEquals(Object.getOwnPropertyNames(schema), ["type", "properties"]);
});

Deno.test("compileSchema() finds properties named like inherited ones", async () => {
  const schema = await compileSchema({ properties: { constructor: { type: "string" } } });
  assertEquals(schema.validate(parseJson('{"constructor": 1}')).map(problemText), [
    "/constructor: wanted string, found number 1",
  ]);
  assertEquals(schema.validate({}), []);
});
