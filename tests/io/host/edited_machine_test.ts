import { assertStringIncludes } from "@std/assert";
import { createHost } from "../../../src/host/mod.ts";
import { createPorts } from "../../../src/platform/mod.ts";
import { MockProvider } from "../../../src/testing/mod.ts";
import { oneModel } from "../../host/harness.ts";

const CALLER = `
machine: caller
entry: c
budget: 3
result: o
states:
  c: { call: callee, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`;

function callee(prompt: string): string {
  return `
machine: callee
entry: a
budget: 3
states:
  a: { structure: s, prompt: ${prompt}, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
}

/** Texts of one length, and how old the file says it is, in milliseconds. */
const EDITS: readonly (readonly [word: string, age: number])[] = [
  ["first", 0],
  ["other", 0],
  ["third", 60_000],
  ["forth", 30_000],
];

Deno.test("Host.run() reads a sibling anew that was edited between two calls, at the same size and time too", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const model = new MockProvider(EDITS.map(([word]) => word));
  const host = createHost({ ports: createPorts(), door: "cli", models: oneModel(model) });
  const now = Date.now();
  try {
    await Deno.writeTextFile(`${folder}/caller.mk`, CALLER);
    for (const [word, age] of EDITS) {
      await Deno.writeTextFile(`${folder}/callee.mk`, callee(word));
      const time = new Date(now - age);
      await Deno.utime(`${folder}/callee.mk`, time, time);
      await host.run({ path: `${folder}/caller.mk` });
      assertStringIncludes(String(model.calls.at(-1)?.messages.at(-1)?.content), word);
    }
  } finally {
    await host.close();
    await Deno.remove(folder, { recursive: true });
  }
});
