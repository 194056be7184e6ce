import { assertEquals } from "@std/assert";
import { reachOf } from "../../src/machine/paths.ts";
import { machineText, readMachine, state } from "./machines.ts";

const to = (target: string, policy = "then: ok") => `{ when: x, ${policy}, to: ${target} }`;

const graphs: [what: string, states: string[], reached: string[], shortest: number | undefined][] =
  [
    ["one state", [state("a", to("END"))], ["a"], 1],
    [
      "a chain",
      [state("a", to("b")), state("b", to("c")), state("c", to("END"))],
      ["a", "b", "c"],
      3,
    ],
    [
      "the shorter of two ways",
      [
        state("a", `${to("b")}, ${to("c")}`),
        state("b", to("c")),
        state("c", to("END")),
      ],
      ["a", "b", "c"],
      2,
    ],
    [
      "gates of every policy",
      [
        state("a", to("b", "repair: 1")),
        state("b", to("END", "escalate: true")),
      ],
      ["a", "b"],
      2,
    ],
    ["a circle", [state("a", to("b")), state("b", to("a"))], ["a", "b"], undefined],
    [
      "a fail gate",
      [state("a", "{ when: x, fail: true }"), state("b", to("END"))],
      ["a"],
      undefined,
    ],
    ["an unknown target", [state("a", to("zz"))], ["a"], undefined],
    ["a state called END", [state("a", to("END")), state("END", to("b")), state("b")], ["a"], 1],
  ];
for (const [what, states, reached, shortest] of graphs) {
  Deno.test(`reachOf() walks ${what}: shortest ${shortest}`, () => {
    const reach = reachOf(readMachine(machineText(states.join("\n"))));
    assertEquals([...reach.states], reached);
    assertEquals(reach.shortest, shortest);
  });
}

Deno.test("reachOf() reaches nothing from an entry that is no state", () => {
  const reach = reachOf(readMachine(machineText(state("a"), "entry: z")));
  assertEquals([[...reach.states], reach.shortest], [[], undefined]);
});
