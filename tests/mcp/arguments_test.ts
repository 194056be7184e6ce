import { assertEquals } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import { argumentProblems, createValidate, readyArguments } from "../../src/mcp/arguments.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    prompt: { type: "string", minLength: 1, maxLength: 10 },
    n: { type: "integer", minimum: 1, maximum: 9 },
    temperature: { type: "number", minimum: 0, maximum: 2 },
    strategy: { type: "string", enum: ["majority", "unanimous"] },
    detail: { type: "string", enum: ["a", "b", "c"] },
    strict: { type: "boolean" },
    wait: { type: "number", minimum: 0 },
    tags: { type: "array", items: { type: "string" }, maxItems: 2 },
    inputs: { type: "object", properties: {}, additionalProperties: true },
    nested: { type: "object", properties: { a: { type: "integer" } }, additionalProperties: false },
  },
  required: ["prompt"],
  additionalProperties: false,
};
const validate = createValidate();

async function problems(args: JsonObject): Promise<readonly string[]> {
  const found = await argumentProblems(SCHEMA, readyArguments(SCHEMA, args), validate);
  return found.map(({ message }) => message);
}

/** What the first unknown argument is answered with beside its name. */
const KNOWN =
  "known: 'prompt', 'n', 'temperature', 'strategy', 'detail', 'strict', 'wait', 'tags', " +
  "'inputs', 'nested'";
const OK = { prompt: "x" };
const texts: [args: JsonObject, problems: string[]][] = [
  [OK, []],
  [{ ...OK, n: 3.0, temperature: 0, strategy: "majority", strict: false, inputs: { a: [1] } }, []],
  [{}, ["'prompt' is required and must be a non-empty string"]],
  [{ prompt: "" }, ["'prompt' is required and must be a non-empty string"]],
  [{ prompt: 7 }, ["'prompt' is required and must be a non-empty string"]],
  [{ prompt: "x".repeat(11) }, ["'prompt' must be at most 10 characters long"]],
  [{ ...OK, n: 2.5 }, ["'n' must be an integer"]],
  [{ ...OK, n: true }, ["'n' must be an integer"]],
  [{ ...OK, n: "3" }, ["'n' must be an integer"]],
  [{ ...OK, n: 0 }, ["'n' must be between 1 and 9"]],
  [{ ...OK, n: 10 }, ["'n' must be between 1 and 9"]],
  [{ ...OK, n: 2 ** 53 + 2 }, ["'n' must not be an integer beyond 2^53; give it as text"]],
  [{ ...OK, temperature: "hot" }, ["'temperature' must be a number"]],
  [{ ...OK, temperature: 2.5 }, ["'temperature' must be between 0 and 2"]],
  [{ ...OK, temperature: Infinity }, ["'temperature' must be between 0 and 2"]],
  [{ ...OK, strategy: "most" }, ["'strategy' must be 'majority' or 'unanimous'"]],
  [{ ...OK, strategy: 1 }, ["'strategy' must be 'majority' or 'unanimous'"]],
  [{ ...OK, detail: "d" }, ["'detail' must be one of 'a', 'b', 'c'"]],
  [{ ...OK, strict: "yes" }, ["'strict' must be true or false"]],
  [{ ...OK, wait: -1 }, ["'wait' must be at least 0"]],
  [{ ...OK, tags: "a" }, ["'tags' must be an array"]],
  [{ ...OK, tags: ["a", 1] }, ["'tags[1]' must be a string"]],
  [{ ...OK, tags: ["a", "b", "c"] }, ["'tags' must have a number of items at most 2"]],
  [{ ...OK, inputs: [] }, ["'inputs' must be an object"]],
  [{ ...OK, nested: { a: "x", b: 1 } }, [
    "'nested.a' must be an integer",
    "'nested': unknown property \"b\"",
  ]],
  [{ ...OK, inputs: { id: 2 ** 60 } }, [
    "'inputs.id' must not be an integer beyond 2^53; give it as text",
  ]],
  [{ ...OK, "a/b": 1, "": 2 }, [`unknown argument 'a/b' (${KNOWN})`, "unknown argument ''"]],
  [{ n: 0, strategy: "x", zzz: 1 }, [
    `unknown argument 'zzz' (${KNOWN})`,
    "'prompt' is required and must be a non-empty string",
    "'n' must be between 1 and 9",
    "'strategy' must be 'majority' or 'unanimous'",
  ]],
];
for (const [args, expected] of texts) {
  Deno.test(`argumentProblems() of ${JSON.stringify(args)} names ${expected.length}`, async () => {
    assertEquals([...await problems(args)].toSorted(), expected.toSorted());
  });
}

Deno.test("argumentProblems() names twenty problems and counts the rest", async () => {
  const args = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x${at}`, 1]));
  const all = await problems({ ...OK, ...args });
  assertEquals(all.length, 21);
  assertEquals(all.at(-1), "and 10 more problems");
});

const large: [what: string, value: JsonValue, problem: string][] = [
  ["100,001 values", Array(100_000).fill(9_007_199_254_740_992), "more than 100000 values"],
  [
    "129 levels below",
    JSON.parse("[".repeat(129) + "]".repeat(129)),
    "nested deeper than 128 levels",
  ],
];
for (const [what, value, problem] of large) {
  Deno.test(`argumentProblems() of ${what} names their size and nothing else`, async () => {
    assertEquals(await problems({ zzz: value }), [
      `the arguments: too large to be checked: ${problem}`,
    ]);
  });
}

Deno.test("argumentProblems() says of a tool without arguments that it has none", async () => {
  const schema = { type: "object", properties: {}, additionalProperties: false };
  assertEquals(await argumentProblems(schema, { a: 1 }, validate), [
    { argument: "a", message: "unknown argument 'a' (known: none)" },
  ]);
});

Deno.test("argumentProblems() quotes of a key only the beginning", async () => {
  assertEquals(await problems({ ...OK, ["k".repeat(500)]: 1 }), [
    `unknown argument '${"k".repeat(100)}…' (${KNOWN})`,
  ]);
});

Deno.test("argumentProblems() names the argument of each problem, and none of what concerns them all", async () => {
  const args = { zzz: 1, nested: { a: "x" }, n: "x" };
  const found = await argumentProblems(SCHEMA, args, validate);
  assertEquals(found.map(({ argument }) => argument), ["zzz", "prompt", "n", "nested"]);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x${at}`, 1]));
  assertEquals((await argumentProblems(SCHEMA, many, validate)).at(-1)?.argument, undefined);
});

const nulls: [what: string, args: JsonObject, ready: JsonObject][] = [
  ["drops null where it is optional", { prompt: "x", n: null }, { prompt: "x" }],
  ["keeps null where it is required", { prompt: null }, { prompt: null }],
  ["keeps null under a key that nobody knows", { zzz: null }, { zzz: null }],
  ["keeps null deeper down", { inputs: { a: null } }, { inputs: { a: null } }],
];
for (const [what, args, ready] of nulls) {
  Deno.test(`readyArguments() ${what}`, () => {
    assertEquals(JSON.parse(JSON.stringify(readyArguments(SCHEMA, args))), ready);
  });
}

Deno.test("readyArguments() gives objects without prototypes at every depth", () => {
  const args: JsonObject = JSON.parse('{"inputs":{"__proto__":{"x":1},"list":[{"a":1}]}}');
  const ready = readyArguments(SCHEMA, args);
  function prototypes(value: JsonValue): unknown[] {
    if (typeof value !== "object" || value === null) return [];
    const own = Array.isArray(value) ? [] : [Object.getPrototypeOf(value)];
    return [...own, ...Object.values(value).flatMap(prototypes)];
  }
  assertEquals(prototypes(ready), [null, null, null, null]);
});
