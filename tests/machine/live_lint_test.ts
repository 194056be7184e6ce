import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { liveLint, type Oracle, RefusalError } from "../../src/machine/mod.ts";
import { machineText, readMachine, state, TO_END } from "./machines.ts";

const GATES =
  `{ when: it is red, then: ok, to: END }, { when: it is blue, then: ok, to: END }, ${TO_END}`;
const machine = readMachine(machineText(state("a", GATES, "tier: fast")));

interface Asked {
  readonly produced: {
    readonly user: string;
    readonly tier: string;
    readonly temperature: number;
  }[];
  readonly judged: string[];
}

/** Plays texts and verdicts in order; fails when asked for more. */
function oracleOf(texts: readonly string[], verdicts: readonly number[]): Oracle & Asked {
  const produced: Asked["produced"] = [];
  const judged: string[] = [];
  return {
    produced,
    judged,
    tiers: ["balanced", "fast"],
    judgeModel: () => "judge",
    produce(request) {
      const text = texts[produced.length];
      produced.push(request);
      if (text === undefined) throw new Error("asked for more texts");
      if (text === "refuse") throw new RefusalError("no", { input: 1, output: 1 });
      return { text, tokens: { input: 10, output: 5 } };
    },
    judge({ conditions, output, context }) {
      assertEquals(conditions, ["it is red", "it is blue"]);
      assertEquals(context, {});
      const index = verdicts[judged.length];
      judged.push(output);
      if (index === undefined) throw new Error("asked for more verdicts");
      if (index < 0) return { kind: "unparseable", raw: "?", tokens: { input: 2, output: 1 } };
      return { kind: "choice", index, tokens: { input: 2, output: 1 } };
    },
  };
}

Deno.test("liveLint() finds nothing where the judge is of one mind", async () => {
  const oracle = oracleOf(['["red", "blue"]'], [0, 0, 0, 1, 1, 1]);
  const { findings, tokens } = await liveLint(machine, oracle);
  assertEquals(findings, []);
  assertEquals(tokens, { input: 22, output: 11 });
  assertEquals(oracle.judged, ["red", "red", "red", "blue", "blue", "blue"]);
  assertEquals([oracle.produced[0]?.tier, oracle.produced[0]?.temperature], ["fast", 0.8]);
  assertStringIncludes(oracle.produced[0]?.user ?? "", "1. it is red\n2. it is blue");
});

Deno.test("liveLint() reports an unstable judge and the conditions that overlap, as notes", async () => {
  const { findings } = await liveLint(machine, oracleOf(['["violet"]'], [0, 1, 0]));
  assertEquals(findings.map(({ severity, code, message }) => [severity, code, message]), [
    [
      "note",
      "unstable-judge",
      "note: a: unstable: repeated judgements of one output differ (2 × 'it is red', 1 × " +
      "'it is blue'); the output was 'violet'",
    ],
    [
      "note",
      "overlapping-conditions",
      "note: a: overlap: 'it is red' and 'it is blue' both held for one output",
    ],
  ]);
  assertEquals(findings[0]?.position?.line, 5);
});

Deno.test("liveLint() tells none of them and an unreadable reply from a condition", async () => {
  const { findings } = await liveLint(machine, oracleOf(['["grey"]'], [0, 2, -1]));
  assertEquals(findings.map(({ message }) => message), [
    "note: a: unstable: repeated judgements of one output differ (1 × 'it is red', 1 × none of " +
    "them, 1 × no choice that can be read); the output was 'grey'",
  ]);
});

const skipped: [what: string, text: string, message: string][] = [
  ["no array", "red and blue", "the model's made-up outputs are not a JSON array"],
  ["an object", '{"a": 1}', "the model's made-up outputs are not a JSON array"],
  ["an empty array", "[]", "the model made up no outputs"],
  ["a refusal", "refuse", "the model declined to make up outputs"],
];
for (const [what, text, message] of skipped) {
  Deno.test(`liveLint() skips a state for which the model gives ${what}`, async () => {
    const { findings } = await liveLint(machine, oracleOf([text], []));
    assertEquals(findings.map((found) => [found.code, found.message]), [
      ["probe-skipped", `note: a: skipped: ${message}`],
    ]);
  });
}

Deno.test("liveLint() probes only states with two prose conditions or more", async () => {
  const quiet = readMachine(machineText(
    state("a", `{ when: x, then: ok, to: b }, { when: y, hook: h, fail: true }, ${TO_END}`) + "\n" +
      state("b"),
  ));
  const oracle = oracleOf([], []);
  assertEquals(await liveLint(quiet, oracle), { findings: [], tokens: { input: 0, output: 0 } });
  assertEquals(oracle.produced, []);
});

Deno.test("liveLint() takes the numbers of samples and repeats from its options", async () => {
  const oracle = oracleOf(['["a", "b", "c"]'], [0, 0]);
  const states: string[] = [];
  await liveLint(machine, oracle, {
    samples: 2,
    repeats: 1,
    onState: (state) => states.push(state),
  });
  assertEquals(oracle.judged, ["a", "b"]);
  assertEquals(states, ["a"]);
  assertStringIncludes(oracle.produced[0]?.user ?? "", "Make up 2 outputs");
});

Deno.test("liveLint() refuses numbers below one", async () => {
  await assertRejects(() => liveLint(machine, oracleOf([], []), { samples: 0 }), RangeError);
  await assertRejects(() => liveLint(machine, oracleOf([], []), { repeats: 1.5 }), RangeError);
});

Deno.test("liveLint() ends with the reason of its signal, and lets failures pass", async () => {
  const reason = new Error("stop");
  await assertRejects(
    () => liveLint(machine, oracleOf([], []), { signal: AbortSignal.abort(reason) }),
    Error,
    "stop",
  );
  await assertRejects(() => liveLint(machine, oracleOf(['["a"]'], [])), Error, "asked for more");
});
