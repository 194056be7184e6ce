// deno-lint-ignore-file camelcase -- the keys of machine documents
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { compileSchema, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import { libraryRegistry, machineFromValue, machineSchema } from "../../src/machine/mod.ts";
import { readYaml } from "../../src/machine/reader.ts";

const schema = await compileSchema(machineSchema());

function bySchema(value: JsonValue): boolean {
  return schema.validate(value).length === 0;
}

function byReader(value: JsonValue): boolean {
  return machineFromValue(value).machine !== undefined;
}

const YES: JsonValue = true;
const NO: JsonValue = false;

const junk: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, YES, NO, 0, 1, 2, 2.5, -1, "", "x", "ok", "fast", [], {}),
  fc.constantFrom<JsonValue>("list", "json", [1], { x: 1 }, "__proto__", "otherwise"),
);

/** A record of some of these members, now and then with a wrong value or another key. */
function record(
  members: Readonly<Record<string, fc.Arbitrary<JsonValue>>>,
): fc.Arbitrary<JsonObject> {
  const usual = Object.entries(members).map(([key, value]) =>
    fc.option(
      fc.oneof({ arbitrary: value, weight: 60 }, { arbitrary: junk, weight: 1 }).map(
        (value): [string, JsonValue] => [key, value],
      ),
      { freq: 25 },
    )
  );
  const odd = fc.oneof(
    { arbitrary: fc.constant(null), weight: 9 },
    {
      arbitrary: fc.tuple(
        fc.constantFrom("extra", "tier", "to", "prompt", "tool", "call", "fail"),
        junk,
      ),
      weight: 1,
    },
  );
  return fc.tuple(...usual, odd).map((entries) => {
    const object: Record<string, JsonValue> = Object.create(null);
    for (const entry of entries) if (entry !== null) object[entry[0]] = entry[1];
    return object;
  });
}

const text = fc.constantFrom<JsonValue>("", "x", "otherwise", "END");
const gate = fc.oneof(
  record({ when: text, then: fc.constant("ok"), to: text, hook: text }),
  record({ when: text, repair: fc.constantFrom(1, 3), to: text }),
  record({ when: text, escalate: fc.constant(YES), to: text, ask: text, reply_to: text }),
  record({ when: text, fail: fc.constant(YES), hook: text }),
);
const common = {
  accumulate: fc.boolean(),
  sample: fc.constantFrom(2, 3),
  max_visits: fc.constantFrom(1, 5.0),
  output: text,
  gates: fc.array(gate, { minLength: 1, maxLength: 2 }),
};
const tier = fc.constantFrom("fast", "balanced", "reasoning");
const state = fc.oneof(
  record({ prompt: text, structure: text, execution: text, reason: fc.boolean(), tier, ...common }),
  record({ call: text, input: fc.constant({}), tier, output: text, gates: common.gates }),
  record({ tool: text, input: fc.constant({ a: [1] }), output: text, gates: common.gates }),
  record({ prompt: text, structure: text, over: text, output: text, gates: common.gates }),
);
const document = record({
  machine: text,
  entry: text,
  budget: fc.constantFrom(1, 7),
  states: fc.dictionary(fc.constantFrom("a", "b", "END", "__proto__"), state, {
    minKeys: 1,
    maxKeys: 2,
  }).map((states) => Object.assign(Object.create(null), states)),
  context: fc.constant({ x: null }),
  default_tier: tier,
  tools: fc.array(record({ name: text, description: text }), { maxLength: 1 }),
});

Deno.test("machineSchema() and the reader agree on any document", () => {
  let accepted = 0;
  fc.assert(
    fc.property(document, (value) => {
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
