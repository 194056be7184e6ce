import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { compileSchema, isJsonObject, type JsonValue } from "../../src/json/mod.ts";
import { libraryRegistry, machineFromValue, machineSchema } from "../../src/machine/mod.ts";
import { readYaml } from "../../src/machine/reader.ts";
import { anyDocument } from "./arbitrary_documents.ts";

const schema = await compileSchema(machineSchema());

function bySchema(value: JsonValue): boolean {
  return schema.validate(value).length === 0;
}

function byReader(value: JsonValue): boolean {
  return machineFromValue(value).machine !== undefined;
}

Deno.test("machineSchema() and the reader agree on any document", () => {
  let accepted = 0;
  fc.assert(
    fc.property(anyDocument, (value) => {
      const verdict = byReader(value);
      if (verdict) accepted++;
      assertEquals(bySchema(value), verdict, JSON.stringify(value));
    }),
    { numRuns: 1500, seed: 7 },
  );
  assert(accepted > 150, `only ${accepted} documents were accepted`);
});

Deno.test("machineSchema() and the reader agree that no other value is a machine", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json: JsonValue = JSON.parse(JSON.stringify(value));
      assertEquals(bySchema(json), byReader(json));
    }),
    { numRuns: 300, seed: 7 },
  );
});

Deno.test("machineSchema() accepts the standard machines", async () => {
  const registry = await libraryRegistry();
  for (const name of registry.names()) {
    const { value } = readYaml(registry.get(name)?.source ?? "");
    assertEquals(schema.validate(value ?? null), [], name);
  }
});

Deno.test("machineSchema() names dialect 2020-12 and describes every key", () => {
  const { $schema, $defs, properties } = machineSchema();
  assertEquals($schema, "https://json-schema.org/draft/2020-12/schema");
  const definitions: JsonValue[] = [
    { properties: properties ?? null },
    ...Object.values($defs ?? {}),
  ];
  for (const definition of definitions) {
    const members = Reflect.get(Object(definition), "properties") ?? {};
    for (const [key, member] of Object.entries(members)) {
      assert(typeof Reflect.get(Object(member), "description") === "string", key);
    }
  }
});

Deno.test("machineSchema() names every member that it requires, as strict validators want", () => {
  let required = 0;
  function visit(value: JsonValue): void {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isJsonObject(value)) return;
    const { required: names, properties } = value;
    if (Array.isArray(names)) {
      required++;
      assert(isJsonObject(properties), JSON.stringify(value));
      assertEquals(names.filter((name) => !Object.hasOwn(properties, String(name))), []);
    }
    Object.values(value).forEach(visit);
  }
  visit(machineSchema());
  assertEquals(required, 17);
});
