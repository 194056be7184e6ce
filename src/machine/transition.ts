/**
 * Where a run goes once a gate has fired: a pure function.
 *
 * @module
 */
import type { Gate } from "./document.ts";

/** What is next. */
export type Transition =
  | {
    /** Go on with a state, perhaps carrying feedback to it. */
    readonly kind: "go";
    /** The state. */
    readonly to: string;
    /** What a repair tells it; empty otherwise. */
    readonly feedback: string;
  }
  | {
    /** Wait for a person, then go on with a state. */
    readonly kind: "suspend";
    /** The state. */
    readonly to: string;
  }
  | {
    /** The machine is done. */
    readonly kind: "done";
  }
  | {
    /** The machine halts. */
    readonly kind: "halt";
    /** Why. */
    readonly error: string;
  };

/**
 * Decides what a fired gate leads to.
 *
 * @param gate The gate.
 * @param options `escalateSuspend`: whether an escalation waits for a person.
 * @returns What is next. Counting repairs is the caller's.
 */
export function transition(
  gate: Gate,
  options: { readonly escalateSuspend: boolean },
): Transition {
  if (gate.policy === "fail") return { kind: "halt", error: "gate-fail" };
  const { to } = gate;
  if (to === undefined) return { kind: "halt", error: "state-error: gate-missing-to" };
  if (gate.policy === "repair" && gate.repairLimit === undefined) {
    return { kind: "halt", error: "state-error: repair-missing-budget" };
  }
  if (to === "END") return { kind: "done" };
  if (gate.policy === "escalate" && options.escalateSuspend) return { kind: "suspend", to };
  return { kind: "go", to, feedback: gate.policy === "repair" ? repairFeedback(gate) : "" };
}

/**
 * The sentence that a repair carries to the state it leads to.
 *
 * @param gate The repair gate.
 * @returns One line that quotes the condition.
 */
export function repairFeedback(gate: Gate): string {
  return `Your last answer did not hold up against the condition '${gate.when}'; answer again and set that right.`;
}
