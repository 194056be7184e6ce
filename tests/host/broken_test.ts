import { assert, assertEquals } from "@std/assert";
import { MockProvider } from "../../src/testing/mod.ts";
import { PLAIN, rig } from "./harness.ts";

/** Documents that cannot run, some for reasons that different stages find, and how many errors they have. */
const broken: readonly (readonly [what: string, source: string, errors: number])[] = [
  ["a bracket that is not closed", "a: [", 1],
  ["no mapping", "- 1", 1],
  ["a key that is unknown and a gate to nowhere", both("colour: red"), 2],
  ["a budget that is no number, a gate to nowhere and a call of nothing", withCall(), 3],
  ["a gate to nowhere, so that no way leads out", PLAIN.replace("to: END", "to: nowhere"), 2],
  ["two gates to nowhere", PLAIN.replace("budget: 3", "budget: 3\nx: 1").replace("END", "gone"), 2],
  ["no entry and no states", "machine: m\nbudget: 1\n", 2],
];

function both(line: string): string {
  return `${PLAIN.replace("to: END", "to: nowhere")}${line}\n`;
}

function withCall(): string {
  const call =
    "  b: { call: nothing, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }\n";
  return `${PLAIN.replace("budget: 3", "budget: many").replace("to: END", "to: nowhere")}${call}`;
}

for (const [what, source, count] of broken) {
  for (const way of ["path", "source"] as const) {
    Deno.test(`Host.run() names by ${way} every error that check() names, of ${what}`, async () => {
      const files = { "/project/m.mk": source };
      const { host } = rig({ files, door: "cli", model: new MockProvider([]) });
      const request = way === "path" ? { path: "m.mk" } : { source };
      const checked = (await host.check(request)).object["errors"];
      const { object } = await host.run(request);
      assertEquals([object["status"], object["error"]], ["error", "prepare-failed"]);
      assertEquals(object["errors"], checked);
      assert(Array.isArray(checked));
      assertEquals(checked.length, count, checked.join("\n"));
    });
  }
}
