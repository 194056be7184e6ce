/** Arguments that do not fit are told with what only the tool can find, all at once and in one shape. */
import { assert, assertEquals } from "@std/assert";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import { createTools } from "../../src/tools/mod.ts";
import { MockProvider } from "../../src/testing/mod.ts";
import { ASKING, rig } from "../host/harness.ts";
import { at, call, Session } from "../mcp/session.ts";

/** Calls one tool through the protocol layer, and gives its result. */
async function ask(name: string, args: JsonObject): Promise<JsonValue | undefined> {
  const { host } = rig({ model: new MockProvider([]) });
  const session = new Session({ tools: () => createTools(host) });
  await session.initialize("2025-11-25");
  const [answer] = await session.exchange(call(1, name, args));
  await session.close();
  return at(answer, "result");
}

const HANDLE = "0".repeat(32);
const ONE_MACHINE = 'Give exactly one of "source" and "path": found ';
const ONE_RUN = 'Give exactly one of "checkpoint" and "run": found ';

const refused: readonly (readonly [name: string, args: JsonObject, errors: readonly string[]])[] = [
  ["run", { source: ASKING, path: "m.mk", cost_budget: -1, on_truncate: "q" }, [
    "'cost_budget' must be at least 1",
    "'on_truncate' must be 'report' or 'halt'",
    `${ONE_MACHINE}both`,
  ]],
  ["run", { source: 5 }, ["'source' must be a string"]],
  ["run", { source: 5, path: "m.mk", inputs: { " ": 1 } }, [
    "'source' must be a string",
    `${ONE_MACHINE}both`,
    '"inputs" has a blank path',
  ]],
  ["run", { hitl: "yes" }, ["'hitl' must be true or false", `${ONE_MACHINE}neither`]],
  ["resume", { checkpoint: HANDLE, run: HANDLE, wait_seconds: "no", inputs: {} }, [
    "'wait_seconds' must be a number",
    `${ONE_RUN}both`,
    '"inputs" needs "checkpoint": a run handle only looks',
  ]],
  ["resume", { run: 1, cancel: true }, ["'run' must be a string"]],
  ["check", { strict: 1 }, ["'strict' must be true or false", `${ONE_MACHINE}neither`]],
  ["describe_machine", {}, ["'name' is required and must be a non-empty string"]],
  ["list_machines", { directory: "/" }, ["unknown argument 'directory' (known: none)"]],
];
for (const [name, args, errors] of refused) {
  Deno.test(`${name} names ${errors.length} problems of ${Object.keys(args)} in the host's shape`, async () => {
    const result = await ask(name, args);
    const text = ["error: invalid-request", ...errors.map((error) => `- ${error}`)].join("\n");
    assertEquals(at(result, "content", 0, "text"), text);
    const rest = { warnings: [], result: null, usage: null, trace: [] };
    assertEquals(JSON.parse(String(at(result, "content", 1, "text"))), {
      status: "error",
      error: "invalid-request",
      errors: [...errors],
      ...rest,
    });
    const meta = at(result, "_meta");
    assert(isJsonObject(meta));
    assertEquals(meta["dev.kit/error"], { code: "invalid-request", retryable: false });
  });
}

for (const name of ["consensus", "react_loop"]) {
  Deno.test(`${name} tells of a blank prompt beside what does not fit`, async () => {
    const result = await ask(name, { prompt: " ", max_tokens: 0 });
    const report = JSON.parse(String(at(result, "content", 1, "text")));
    assertEquals(report, {
      status: "error",
      error: "invalid-request",
      errors: [
        "'max_tokens' must be between 1 and 4096",
        "'prompt' is required and must be a non-empty string",
      ],
      warnings: [],
    });
    const meta = at(result, "_meta");
    assert(isJsonObject(meta));
    assertEquals(meta["dev.kit/error"], { code: "invalid-request", retryable: false });
  });
}

Deno.test("run says nothing more of arguments that are too many to go into", async () => {
  let deep: JsonValue = 1;
  for (let i = 0; i < 200; i++) deep = [deep];
  const result = await ask("run", { inputs: { deep } });
  const { errors } = JSON.parse(String(at(result, "content", 1, "text")));
  assertEquals(errors.length, 1);
});
