import { assert, assertEquals } from "@std/assert";
import { createScriptedOracle, loadReader, runMachine } from "../../src/machine/mod.ts";
import { manualPorts } from "../../src/testing/mod.ts";

const SOURCE = `
machine: one
entry: a
budget: 1
result: text
states:
  a: { structure: s, prompt: p, output: text, gates: [ { when: otherwise, then: ok, to: END } ] }
`;

for (const option of ["onStep", "onEvent"] as const) {
  Deno.test(`runMachine() with ${option} that rejects ends as without it, and leaves nothing unhandled`, async () => {
    const { machine } = (await loadReader()).parseMachine(SOURCE);
    assert(machine !== undefined);
    let told = 0;
    const { status, result } = await runMachine(machine, {
      oracle: createScriptedOracle({ produce: ["Hello"] }),
      ports: manualPorts(),
      [option]: async () => {
        told += 1;
        await Promise.resolve();
        throw new Error("listener");
      },
    });
    assert(told > 0);
    assertEquals([status, result], ["done", "Hello"]);
  });
}
