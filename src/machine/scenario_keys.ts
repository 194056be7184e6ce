/**
 * Keys of scenarios that nothing reads. The language leaves them free, so they fail nothing, but a slip in one makes a
 * test that cannot fail.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { nearest } from "./suggest.ts";

const SCENARIO = ["name", "llm", "tools", "hooks", "input", "context", "run", "expect"];
const CASE = [...SCENARIO, "case", "description", "machine", "registry"];
const SCRIPT = ["produce", "judge", "tokens", "answers"];
const EXPECT = [
  "status",
  "error",
  "error_prefix",
  "result",
  "at",
  "ask",
  "reply_to",
  "context",
  "trace",
];

/** How authors mark keys of their own, such as a place for anchors. */
const OWN = /^(?:[._]|x-)/;

/**
 * Tells of keys that nothing reads.
 *
 * @param scenario The scenario, or a conformance case, which has its machine in it.
 * @returns One line a key, and one if nothing is expected.
 */
export function unreadKeys(scenario: JsonObject): string[] {
  const { llm, expect } = scenario;
  const known = Object.hasOwn(scenario, "case") ? CASE : SCENARIO;
  const empty = isJsonObject(expect) && !EXPECT.some((key) => Object.hasOwn(expect, key));
  return [
    ...unknownIn(scenario, { known, where: "a scenario" }),
    ...unknownIn(llm, { known: SCRIPT, where: "llm" }),
    ...unknownIn(expect, { known: EXPECT, where: "expect" }),
    ...(empty ? ["expect: nothing is expected, so this scenario fails only if it cannot run"] : []),
  ];
}

function unknownIn(
  value: JsonValue | undefined,
  { known, where }: { readonly known: readonly string[]; readonly where: string },
): string[] {
  if (!isJsonObject(value)) return [];
  return Object.keys(value).filter((key) => !known.includes(key) && !OWN.test(key)).map((key) => {
    const near = nearest(key, known);
    const advice = near === undefined ? `known are ${known.join(", ")}` : `did you mean "${near}"?`;
    return `the key "${key}" in ${where} is not read: ${advice}`;
  });
}
