import { assertEquals } from "@std/assert";
import { liveLint } from "../../src/cli/live_lint.ts";
import { type Oracle, parseMachine, type Verdict } from "../../src/machine/mod.ts";

const MACHINE = `
machine: m
entry: a
budget: 5
states:
  a:
    structure: A word.
    prompt: "say"
    output: o
    gates:
      - { when: it is warm, then: ok, to: END }
      - { when: it is friendly, then: ok, to: b }
      - { when: otherwise, then: ok, to: END }
  b:
    structure: A word.
    prompt: "say"
    output: o
    gates:
      - { when: only one, then: ok, to: END }
      - { when: otherwise, then: ok, to: END }
`;

async function findings(produced: string, choices: number[]): Promise<string[]> {
  const { machine } = await parseMachine(MACHINE);
  if (machine === undefined) throw new Error("the machine does not parse");
  const left = [...choices];
  const oracle: Oracle = {
    tiers: ["balanced"],
    judgeModel: () => "m",
    produce: () => ({ text: produced, tokens: { input: 1, output: 1 } }),
    judge: (): Verdict => {
      const index = left.shift();
      if (index === undefined) throw new Error("one judgement too many");
      return { kind: "choice", index, tokens: { input: 1, output: 1 } };
    },
  };
  const found = await liveLint(machine, oracle, {
    samples: 2,
    repeats: 2,
    signal: new AbortController().signal,
  });
  assertEquals(left, []);
  return found;
}

Deno.test("liveLint() finds nothing where every output is judged alike each time", async () => {
  assertEquals(await findings('["hi", "hello"]', [0, 0, 1, 1]), []);
});

Deno.test("liveLint() names conditions that won in turn on one output", async () => {
  assertEquals(await findings('["hi", "hello"]', [0, 1, 1, 1]), [
    "a: unstable: 'it is warm' or 'it is friendly' for the output 'hi'",
    "a: overlap: 'it is friendly' and 'it is warm' both won",
  ]);
});

Deno.test("liveLint() finds a verdict that comes and goes unstable, but no overlap with none", async () => {
  assertEquals(await findings('["hi"]', [0, 2]), [
    "a: unstable: 'it is warm' or 'none of them' for the output 'hi'",
  ]);
});

Deno.test("liveLint() skips a state whose outputs are no JSON array of texts, without judging", async () => {
  assertEquals(await findings("Sorry, no.", []), [
    "a: skipped: the model did not give its outputs as a JSON array of texts",
  ]);
});

Deno.test("liveLint() uses no more outputs than were asked for", async () => {
  assertEquals(await findings('["a", "b", "c"]', [0, 0, 0, 0]), []);
});
