import { assert } from "@std/assert";
import fc from "fast-check";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import { MockProvider } from "../../src/testing/mod.ts";
import { ASKING, PLAIN } from "../host/harness.ts";
import { toolRig } from "./harness.ts";

const KEYS = [
  "source",
  "path",
  "inputs",
  "cost_budget",
  "provider",
  "hitl",
  "strict",
  "checkpoint",
  "checkpoint_path",
  "run",
  "cancel",
  "force",
  "on_truncate",
  "on_untrusted_flow",
  "detail",
  "name",
  "prompt",
  "n",
  "max_rounds",
];

const text = fc.oneof(
  fc.constantFrom(
    PLAIN,
    ASKING,
    "std_cot",
    "../../etc/passwd",
    "machine: [",
    "&a [*a]",
    "",
    "__proto__",
    "a".repeat(32),
    "halt",
    "report",
    "\u0000",
    "full",
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
);
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  text,
  fc.boolean(),
  fc.double(),
  fc.integer({ min: -2, max: 12 }),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>,
);
const args = fc.dictionary(
  fc.constantFrom(...KEYS),
  fc.oneof(value, fc.dictionary(text, value)),
  { maxKeys: 6 },
) as fc.Arbitrary<JsonObject>;

for (const name of ["consensus", "run", "resume", "check", "list_machines", "describe_machine"]) {
  Deno.test(`${name} answers whatever it is given, with two texts and an object`, async () => {
    await fc.assert(
      fc.asyncProperty(args, async (given) => {
        const endless = new MockProvider(["a", '{"choice": 1}'], { cycle: true });
        const { call, host } = toolRig({ model: endless, limits: { callTimeoutMs: 1000 } });
        const outcome = await call(name, given, { canAsk: true });
        await host.close();
        if (outcome.kind === "ask") return;
        assert(outcome.content.length === 2);
        assert(isJsonObject(outcome.structuredContent));
        const parsed: unknown = JSON.parse(String(Reflect.get(outcome.content[1] ?? {}, "text")));
        assert(isJsonObject(parsed));
        if (outcome.isError === true) assert(typeof parsed["error"] === "string");
      }),
      { numRuns: 150, seed: 11 },
    );
    assert(Reflect.get({}, "polluted") === undefined);
  });
}
