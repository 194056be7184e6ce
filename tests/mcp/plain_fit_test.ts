import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { compileSchema, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import { plainlyFits } from "../../src/mcp/plain_fit.ts";

const TEXT: JsonObject = { type: "string", minLength: 1, maxLength: 4 };
const OBJECT: JsonObject = {
  type: "object",
  properties: { text: TEXT, n: { type: "integer", minimum: 1, maximum: 9, default: 3 } },
  required: ["text"],
  additionalProperties: false,
};

const cases: [what: string, schema: JsonObject, value: JsonValue, fits: boolean][] = [
  ["an object with all it needs", OBJECT, { text: "a", n: 3 }, true],
  ["an object without what is optional", OBJECT, { text: "a" }, true],
  ["an object without what is required", OBJECT, { n: 3 }, false],
  ["an unknown member", OBJECT, { text: "a", zzz: 1 }, false],
  ["a member that objects inherit", OBJECT, JSON.parse('{"text":"a","__proto__":1}'), false],
  ["an integer beyond 2^53", { type: "number" }, 2 ** 53, false],
  ["a fraction for an integer", OBJECT, { text: "a", n: 2.5 }, false],
  ["a number below its range", OBJECT, { text: "a", n: 0 }, false],
  ["a number above its range", OBJECT, { text: "a", n: 10 }, false],
  ["an empty text", OBJECT, { text: "" }, false],
  ["a text that is too long", OBJECT, { text: "abcde" }, false],
  ["a text that only the validator can measure", OBJECT, { text: "😀😀😀" }, false],
  ["a text that may be too short", { minLength: 2 }, "😀", false],
  ["an array whose items fit", { type: "array", items: TEXT, maxItems: 2 }, ["a", "b"], true],
  ["an item that does not fit", { type: "array", items: TEXT }, ["a", 1], false],
  ["too many items", { type: "array", maxItems: 1 }, ["a", "b"], false],
  ["a choice", { enum: ["a", 1, null] }, null, true],
  ["no choice of these", { enum: ["a"] }, "b", false],
  ["a keyword that is not known", { type: "string", pattern: "^a" }, "a", false],
  ["several types", { type: ["string", "null"] }, "a", false],
  ["a schema for further members", { additionalProperties: { type: "string" } }, { a: "b" }, false],
  ["more values than are looked at", { type: "array" }, Array(1_001).fill(0), false],
  ["deeper values than are looked at", {}, JSON.parse("[".repeat(18) + "]".repeat(18)), false],
];
for (const [what, schema, value, fits] of cases) {
  Deno.test(`plainlyFits() ${fits ? "passes" : "leaves to the validator"} ${what}`, () => {
    assertEquals(plainlyFits(schema, value), fits);
  });
}

const LEAVES: readonly JsonValue[] = [null, true, 0, 1, 2.5, -1, 9, "", "a", "ab", "😀", "😀b"];
const leaves = fc.constantFrom(...LEAVES);
const { value: values } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaves,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "toString"), tie("value"), { maxKeys: 3 }),
  ),
}));
const least = fc.integer({ min: 0, max: 1 });
const most = fc.integer({ min: 0, max: 3 });
const { schema: schemas } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.record({
    type: fc.constantFrom("string", "number", "integer", "boolean", "array", "object", "null"),
    enum: fc.array(leaves, { minLength: 1, maxLength: 4 }),
    minimum: least,
    maximum: most,
    minLength: least,
    maxLength: most,
    minItems: least,
    maxItems: most,
    items: fc.oneof({ depthSize: "small" }, fc.constant({}), tie("schema")),
    properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema"), { maxKeys: 2 }),
    required: fc.uniqueArray(fc.constantFrom("a", "b", "toString"), { maxLength: 2 }),
    additionalProperties: fc.boolean(),
  }, { requiredKeys: [] }),
}));

Deno.test("plainlyFits() passes nothing that the validator refuses", async () => {
  let passed = 0;
  await fc.assert(
    fc.asyncProperty(schemas, values, async (schema, value) => {
      if (!plainlyFits(schema, value)) return;
      passed += 1;
      assertEquals((await compileSchema(schema)).validate(value), []);
    }),
    { numRuns: 3_000 },
  );
  assert(passed > 30, `only ${passed} pairs were passed`);
});
