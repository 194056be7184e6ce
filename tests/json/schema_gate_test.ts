import { assertEquals, assertThrows } from "@std/assert";
import { admitSchema, SchemaError } from "../../src/json/schema_gate.ts";

type Value = Parameters<typeof admitSchema>[0];

function nested(levels: number): Value {
  let schema: Value = {};
  for (let level = 0; level < levels; level += 1) schema = { not: schema };
  return schema;
}

const refused: [what: string, schema: Value, pointer: string][] = [
  ["a list", [], ""],
  ["a number as a subschema", { properties: { a: 1 } }, "/properties/a"],
  ["a reference to elsewhere", { $ref: "https://example.com/schema" }, "/$ref"],
  ["a reference by anchor", { $ref: "#name" }, "/$ref"],
  ["$id", { $id: "https://example.com" }, "/$id"],
  ["$dynamicRef", { items: { $dynamicRef: "#node" } }, "/items/$dynamicRef"],
  ["an unknown type", { type: "float" }, "/type"],
  ["an empty list of types", { type: [] }, "/type"],
  ["required that is no list", { required: "a" }, "/required"],
  ["an empty anyOf", { anyOf: [] }, "/anyOf"],
  ["items as a list", { items: [{}] }, "/items"],
  ["a negative length", { maxLength: -1 }, "/maxLength"],
  ["a bound that is a text", { minimum: "1" }, "/minimum"],
  ["a multiple of 0", { multipleOf: 0 }, "/multipleOf"],
  ["an enum that is no list", { enum: {} }, "/enum"],
  ["a broken pattern", { pattern: "(" }, "/pattern"],
  ["a costly pattern of keys", { patternProperties: { "(a+)+": {} } }, "/patternProperties"],
  ["more than 64 keywords in depth", nested(66), "/not".repeat(65)],
];
for (const [what, schema, pointer] of refused) {
  Deno.test(`admitSchema() refuses ${what}`, () => {
    assertEquals(assertThrows(() => admitSchema(schema), SchemaError).pointer, pointer);
  });
}

Deno.test("admitSchema() refuses more than 10000 subschemas", () => {
  const properties = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, {}]));
  assertThrows(() => admitSchema({ properties }), SchemaError, "more than 10000 subschemas");
});

Deno.test("admitSchema() leaves out notes and keeps keywords it does not know", () => {
  assertEquals<unknown>(
    admitSchema({
      $schema: "x",
      default: 1,
      format: "uri",
      nullable: true,
      title: "t",
      type: "string",
    }),
    { nullable: true, title: "t", type: "string" },
  );
});

Deno.test("admitSchema() takes true and false for schemas", () => {
  assertEquals<unknown>([true, false].map(admitSchema), [true, false]);
  assertEquals<unknown>(admitSchema({ properties: { a: false } }), { properties: { a: false } });
});
