import { assert, assertEquals, assertFalse } from "@std/assert";
import type { Gate } from "../../src/machine/document.ts";
import { repairFeedback, transition } from "../../src/machine/transition.ts";

const gate = (parts: Partial<Gate>): Gate => ({
  when: "it's odd",
  catchAll: false,
  policy: "ok",
  ...parts,
});
const alone = { escalateSuspend: false };

const moves: [what: string, gate: Gate, outcome: string][] = [
  ["halts with gate-fail when the gate fails", gate({ policy: "fail" }), "halt gate-fail"],
  ["goes on to a state", gate({ to: "b" }), "go b"],
  ["is done at END", gate({ to: "END" }), "done "],
  ["is done at END after a repair", gate({ policy: "repair", repairLimit: 1, to: "END" }), "done "],
  [
    "goes on after an escalation that nobody waits for",
    gate({ policy: "escalate", to: "b" }),
    "go b",
  ],
  ["halts without a target", gate({}), "halt state-error: gate-missing-to"],
  [
    "halts on a repair without a number",
    gate({ policy: "repair", to: "a" }),
    "halt state-error: repair-missing-budget",
  ],
];
for (const [what, fired, outcome] of moves) {
  Deno.test(`transition() ${what}`, () => {
    const next = transition(fired, alone);
    const detail = next.kind === "halt" ? next.error : "to" in next ? next.to : "";
    assertEquals(`${next.kind} ${detail}`, outcome);
  });
}

Deno.test("transition() suspends an escalation for a person, but not one to END", () => {
  const waiting = { escalateSuspend: true };
  assertEquals(transition(gate({ policy: "escalate", to: "b" }), waiting), {
    kind: "suspend",
    to: "b",
  });
  assertEquals(transition(gate({ policy: "escalate", to: "END" }), waiting), { kind: "done" });
});

Deno.test("repairFeedback() is one line that quotes the condition in single quotes", () => {
  const text = repairFeedback(
    gate({ when: "too long", policy: "repair", repairLimit: 1, to: "a" }),
  );
  assert(text.includes("'too long'"));
  assertFalse(text.includes("\n"));
});
