// deno-lint-ignore-file camelcase -- the keys of machine documents
/**
 * Documents for property tests.
 *
 * @module
 */
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";

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
/** Documents that are nearly machines, and often are. */
export const anyDocument: fc.Arbitrary<JsonObject> = record({
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
