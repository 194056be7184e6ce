import { assert, assertEquals, assertFalse, assertMatch, assertThrows } from "@std/assert";
import { isJsonObject, type JsonValue } from "../../src/json/mod.ts";
import { createTools } from "../../src/tools/mod.ts";
import { rig } from "../host/harness.ts";

function list(options: { only?: readonly string[]; prefix?: string } = {}) {
  return createTools(rig().host, options);
}

Deno.test("createTools() serves seven tools in a fixed order", () => {
  assertEquals(list().map(({ name }) => name), [
    "consensus",
    "react_loop",
    "run",
    "resume",
    "check",
    "list_machines",
    "describe_machine",
  ]);
});

Deno.test("createTools() serves a subset under a prefix, in descriptions too", () => {
  const [run, resume] = list({ only: ["resume", "run"], prefix: "kit_" });
  assertEquals([run?.name, resume?.name], ["kit_run", "kit_resume"]);
  assertMatch(run?.description ?? "", /kit_resume \{checkpoint, inputs\}/);
  assertMatch(run?.description ?? "", /kit_list_machines/);
  assertFalse(/(?<!kit_)resume \{/.test(run?.description ?? ""));
});

const refused: readonly (readonly [string, Parameters<typeof list>[0]])[] = [
  ["an unknown tool", { only: ["run", "shell"] }],
  ["no tool at all", { only: [] }],
  ["a prefix with a dash", { prefix: "kit-" }],
  ["a prefix that begins with a digit", { prefix: "1_" }],
  ["a prefix that makes names too long", { prefix: "k".repeat(25) }],
];
for (const [what, options] of refused) {
  Deno.test(`createTools() refuses ${what}`, () => {
    assertThrows(() => list(options), RangeError);
  });
}

for (const tool of list()) {
  Deno.test(`${tool.name} has a title, four hints and a description of at most 1024 characters`, () => {
    assert(tool.title.length > 0);
    assert(tool.description.length > 0 && tool.description.length <= 1024);
    assertEquals(Object.keys(tool.annotations).sort(), [
      "destructiveHint",
      "idempotentHint",
      "openWorldHint",
      "readOnlyHint",
    ]);
  });

  Deno.test(`${tool.name} has flat schemas without references, unions or type lists`, () => {
    for (const schema of [tool.inputSchema, tool.outputSchema ?? {}]) {
      assertEquals(schema["type"], "object");
      assert(isJsonObject(schema["properties"]));
      visit(schema, (node) => {
        for (const key of ["$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf", "not", "if"]) {
          assertFalse(Object.hasOwn(node, key), `${key} in ${JSON.stringify(node)}`);
        }
        assertFalse(Array.isArray(node["type"]));
        const required = node["required"];
        if (Array.isArray(required)) {
          const known = isJsonObject(node["properties"]) ? Object.keys(node["properties"]) : [];
          assertEquals(required.filter((key) => !known.includes(String(key))), []);
        }
      });
    }
  });
}

Deno.test("run has the arguments of the language, and waits, details and names beside", () => {
  const run = list().find(({ name }) => name === "run");
  const properties = run?.inputSchema["properties"];
  assertEquals(isJsonObject(properties) ? Object.keys(properties) : [], [
    "source",
    "path",
    "inputs",
    "cost_budget",
    "provider",
    "hitl",
    "strict",
    "checkpoint_path",
    "on_truncate",
    "on_untrusted_flow",
    "wait_seconds",
    "detail",
  ]);
});

Deno.test("run is destructive only where files may be written", () => {
  const hint = (allowWrite: boolean) =>
    createTools(rig({ allowWrite }).host).find(({ name }) => name === "run")?.annotations;
  const [closed, open] = [false, true].map(hint);
  assertFalse(closed?.destructiveHint);
  assert(open?.destructiveHint);
  const byVariable = createTools(rig({ env: { KIT_FS_WRITE: "yes" } }).host);
  assert(byVariable.find(({ name }) => name === "run")?.annotations.destructiveHint);
});

function visit(node: JsonValue, look: (node: { readonly [key: string]: JsonValue }) => void): void {
  if (Array.isArray(node)) node.forEach((item) => visit(item, look));
  else if (isJsonObject(node)) {
    look(node);
    Object.values(node).forEach((item) => visit(item, look));
  }
}
