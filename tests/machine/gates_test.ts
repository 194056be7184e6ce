import { assertEquals } from "@std/assert";
import type { Gate } from "../../src/machine/document.ts";
import {
  type BatchVerdict,
  eligibleGates,
  nextQuestion,
  readVerdict,
} from "../../src/machine/gates.ts";
import type { ChoiceNotes } from "../../src/machine/steps.ts";

const prose = (when: string): Gate => ({ when, catchAll: false, policy: "ok", to: "END" });
const repair = (when: string): Gate => ({
  when,
  catchAll: false,
  policy: "repair",
  repairLimit: 1,
  to: "a",
});
const hook = (name: string): Gate => ({ ...prose(name), hook: name });
const other: Gate = { when: "otherwise", catchAll: true, policy: "ok", to: "END" };

Deno.test("eligibleGates() leaves out repairs that are used up and keeps full indexes", () => {
  const gates = [prose("a"), repair("b"), other];
  const eligible = eligibleGates(gates, new Map([[1, 0]]));
  assertEquals(eligible.map(({ index }) => index), [0, 2]);
  assertEquals(eligibleGates(gates).length, 3);
  assertEquals(eligibleGates(gates, new Map([[1, 1]])).length, 3);
});

Deno.test("nextQuestion() fuses neighbours across a spent repair but not across hooks and catch-alls", () => {
  const gates = [prose("a"), repair("b"), prose("c"), hook("h"), prose("d"), other, prose("e")];
  const eligible = eligibleGates(gates, new Map([[1, 0]]));
  assertEquals(nextQuestion(eligible, 0), { kind: "judge", at: 0, next: 2 });
  assertEquals(nextQuestion(eligible, 2), { kind: "hook", at: 2, hook: "h" });
  assertEquals(nextQuestion(eligible, 3), { kind: "judge", at: 3, next: 4 });
  assertEquals(nextQuestion(eligible, 4), { kind: "otherwise", at: 4 });
  assertEquals(nextQuestion(eligible, 6), { kind: "end" });
});

Deno.test("nextQuestion() takes a gate with an empty hook for prose", () => {
  assertEquals(nextQuestion(eligibleGates([{ ...prose("a"), hook: "" }]), 0).kind, "judge");
});

const verdicts: [what: string, verdict: BatchVerdict, outcome: string, notes: ChoiceNotes][] = [
  ["an index fires its gate", { index: 1 }, "fired 1", { judgeModel: "m", via: "llm" }],
  ["the number of conditions is none", { index: 2 }, "none", { judgeModel: "m", judgeNone: 1 }],
  ["a method is noted", { index: 0, method: "bare" }, "fired 0", {
    judgeModel: "m",
    judgeParse: "bare",
    via: "llm",
  }],
  ["a larger number falls back", { index: 3 }, "fired 3", {
    judgeFallback: true,
    judgeRaw: "out-of-range choice 3 for n=3",
    via: "otherwise",
  }],
  ["a negative number falls back", { index: -1 }, "fired 3", {
    judgeFallback: true,
    judgeRaw: "out-of-range choice -1 for n=3",
    via: "otherwise",
  }],
  ["a reply without a choice falls back", { raw: "hm" }, "fired 3", {
    judgeFallback: true,
    judgeRaw: "hm",
    via: "otherwise",
  }],
  ["an empty reply has a name", { raw: "" }, "fired 3", {
    judgeFallback: true,
    judgeRaw: "(empty)",
    via: "otherwise",
  }],
];
for (const [what, verdict, expected, notes] of verdicts) {
  Deno.test(`readVerdict(): ${what}`, () => {
    const eligible = eligibleGates([prose("a"), prose("b"), hook("h"), other]);
    const made: ChoiceNotes = {};
    const outcome = readVerdict(eligible, { at: 0, next: 2 }, { verdict, model: "m", notes: made });
    assertEquals("at" in outcome ? `fired ${outcome.at}` : outcome.kind, expected);
    assertEquals(made, notes);
  });
}

Deno.test("readVerdict() finds no catch-all before the batch", () => {
  const eligible = eligibleGates([other, prose("a")]);
  const outcome = readVerdict(eligible, { at: 1, next: 2 }, {
    verdict: { raw: "?" },
    model: "m",
    notes: {},
  });
  assertEquals(outcome.kind, "unparseable");
});

Deno.test("readVerdict() keeps 200 characters of a reply", () => {
  const notes: ChoiceNotes = {};
  readVerdict(eligibleGates([prose("a"), other]), { at: 0, next: 1 }, {
    verdict: { raw: "🙂".repeat(300) },
    model: "m",
    notes,
  });
  assertEquals(notes.judgeRaw, "🙂".repeat(200));
});
