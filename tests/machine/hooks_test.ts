import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import { resolveHook } from "../../src/machine/hooks.ts";

const WHO = { machine: "m", state: "s", path: "s" };

function ask(name: string, context: JsonObject = {}, output: JsonValue = ""): unknown {
  return resolveHook(name)?.(context, output, WHO);
}

const verdicts: [name: string, context: JsonObject, output: JsonValue, verdict: boolean][] = [
  ["always_true", {}, "", true],
  ["always_false", {}, "", false],
  ["amount_le_100", { amount: 100 }, "", true],
  ["amount_le_100", { amount: 100.01 }, "", false],
  ["amount_le_100", { amount: " 99.5 " }, "", true],
  ["amount_le_100", { amount: "junk" }, "", false],
  ["amount_le_100", { amount: true }, "", true],
  ["amount_le_100", {}, "", false],
  ["has_receipt", { has_receipt: true }, "", true],
  ["has_receipt", { has_receipt: false }, "", false],
  ["has_receipt", { has_receipt: "" }, "", false],
  ["has_receipt", { has_receipt: null }, "", false],
  ["has_receipt", {}, "", false],
  ["auto_approve_ok", { amount: 5, has_receipt: true }, "", true],
  ["auto_approve_ok", { amount: 500, has_receipt: true }, "", false],
  ["write_failed", {}, { error: "disk full" }, true],
  ["write_failed", {}, '{"error": null, "written": false}', true],
  ["write_failed", {}, '{"error": null, "written": true}', false],
  ["write_failed", {}, "no JSON", false],
  ["write_failed", {}, [1], false],
  ["eq:k:v", { k: " v " }, "", true],
  ["eq:k: v", { k: "v" }, "", false],
  ["eq:k:a:b", { k: "a:b" }, "", true],
  ["eq:k:", {}, "", true],
  ["eq:k:true", { k: true }, "", true],
  ["eq:k:True", { k: true }, "", true],
  ["eq:k:None", { k: null }, "", true],
  ["eq:k:null", { k: null }, "", true],
  ["eq:k:2", { k: 2 }, "", true],
  ['eq:k:["a", 1]', { k: ["a", 1] }, "", true],
  ["neq:k:v", { k: "v" }, "", false],
  ["neq:k:v", {}, "", true],
];
for (const [name, context, output, verdict] of verdicts) {
  const subject = `${JSON.stringify(context)} and ${JSON.stringify(output)}`;
  Deno.test(`resolveHook(): ${name} of ${subject} is ${verdict}`, () => {
    assertEquals(ask(name, context, output), verdict);
  });
}

for (const name of ["eq", "eq:", "eq::v", "eq:k", "like:k:v", "toString", "__proto__"]) {
  Deno.test(`resolveHook() knows no hook "${name}"`, () => {
    assertEquals(resolveHook(name), undefined);
  });
}

Deno.test("resolveHook(): has_receipt takes no other value for a truth value, unlike the reference", () => {
  assertThrows(
    () => ask("has_receipt", { has_receipt: "false" }),
    TypeError,
    "hook: not a boolean",
  );
});

Deno.test("resolveHook() asks the run's own hooks first", () => {
  const own = new Map([["always_true", () => false]]);
  assertFalse(resolveHook("always_true", own)?.({}, "", WHO));
});
