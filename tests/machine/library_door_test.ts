import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ConfigError } from "../../src/llm/mod.ts";
import { createRegistry, resumeMachine, runMachine } from "../../src/machine/library_door.ts";
import { manualPorts, MockProvider } from "../../src/testing/mod.ts";
import { machineOf } from "./support/running.ts";

function document(entry: string, more: { readonly budget?: number; readonly call?: string } = {}) {
  return `
machine: door
entry: ${entry}
budget: ${more.budget ?? 5}
states:
  a: { structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: b }] }
  b: { call: ${more.call ?? "kid"}, output: o, gates: [{ when: otherwise, then: ok, to: END }] }
`;
}

const KID = machineOf(`
machine: kid
entry: k
budget: 3
states: { k: { structure: s, prompt: p, output: o, gates: [{ when: otherwise, then: ok, to: END }] } }
`);

const unsound: [what: string, text: string, message: string][] = [
  ["an entry that is no state", document("z"), "entry 'z' is not a state (and 1 more)"],
  ["a call of nobody", document("a", { call: "nobody" }), "b: call -> unknown machine 'nobody'"],
  ["too small a budget", document("a", { budget: 1 }), "budget-infeasible: budget 1"],
];
for (const [what, text, message] of unsound) {
  for (const form of ["document", "machine"]) {
    Deno.test(`runMachine() refuses a ${form} with ${what} before it asks a model`, async () => {
      const provider = new MockProvider(["x"]);
      const registry = await createRegistry([KID]);
      const machine = form === "document" ? text : machineOf(text);
      const error = await assertRejects(
        () => runMachine(machine, { provider, registry }),
        ConfigError,
      );
      assertStringIncludes(error.message, `Cannot run the machine: ${message}`);
      assert(Array.isArray(error.details.diagnostics));
      await assertRejects(() => resumeMachine(machine, [], { provider, registry }), ConfigError);
      assertEquals(provider.callCount, 0);
    });
  }
}

Deno.test("runMachine() finds what a registry has, and the machine itself, which it need not have", async () => {
  const registry = await createRegistry([KID]);
  const provider = new MockProvider(["x", "y"]);
  const ports = manualPorts();
  const { status, result } = await runMachine(document("a"), { provider, registry, ports });
  assertEquals([status, result], ["done", "y"]);
  const self = document("a", { call: "door", budget: 2 });
  const many = new MockProvider(Array(9).fill("x"));
  const run = await runMachine(self, { provider: many, registry, ports });
  assertStringIncludes(run.error ?? "", "call-depth-exceeded");
});

Deno.test("runMachine() without options says who is missing", async () => {
  const registry = await createRegistry([KID]);
  const error = await assertRejects(() => runMachine(document("a"), { registry }), ConfigError);
  assertStringIncludes(error.message, '"provider" or "oracle"');
  await assertRejects(() => runMachine(KID), ConfigError, '"provider" or "oracle"');
  await assertRejects(() => resumeMachine(KID, []), ConfigError, '"provider" or "oracle"');
});

Deno.test("runMachine() refuses what is neither a document nor a machine", async () => {
  const [nothing] = [].map(() => KID);
  const machine = nothing ?? JSON.parse("null");
  await assertRejects(() => runMachine(machine), ConfigError, "what parseMachine gave");
});
