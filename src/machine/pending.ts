/**
 * A choice that the token budget stopped half way, as JSON in a frame: so that a resume asks the judge, and not the
 * model again.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import type { State } from "./document.ts";
import type { Choice } from "./select_gate.ts";
import type { ChoiceNotes, StepDraft } from "./steps.ts";

/**
 * Writes a choice.
 *
 * @param choice The choice.
 * @returns JSON for a frame.
 */
export function pendingToJson(choice: Choice): JsonObject {
  const { draft, result, reasoning, from, notes } = choice;
  return JSON.parse(JSON.stringify({ kind: "choice", draft, result, reasoning, from, notes }));
}

/**
 * Reads what {@linkcode pendingToJson} wrote.
 *
 * @param pending The JSON.
 * @param state The state it belongs to.
 * @returns The choice, or `undefined` if it is none: the state is then run again.
 */
export function pendingChoice(pending: JsonObject, state: State): Choice | undefined {
  const { draft, result, reasoning, from, notes } = pending;
  if (!isJsonObject(draft) || draft.state !== state.id || !isDraft(draft)) return undefined;
  if (typeof from !== "number" || from < 0 || !isJsonObject(notes) || !isNotes(notes)) {
    return undefined;
  }
  return {
    state,
    result: result ?? null,
    reasoning: typeof reasoning === "string" ? reasoning : undefined,
    draft: { ...draft },
    from,
    notes: { ...notes },
  };
}

function isDraft(value: JsonObject): value is JsonObject & StepDraft {
  return typeof value.tier === "string" && typeof value.tokensIn === "number" &&
    typeof value.tokensOut === "number" && isTextOrAbsent(value.output) &&
    isTextOrAbsent(value.reasoning);
}

function isNotes(value: JsonObject): value is JsonObject & ChoiceNotes {
  return isTextOrAbsent(value.judgeModel) && isTextOrAbsent(value.judgeRaw) &&
    (value.judgeNone === undefined || typeof value.judgeNone === "number");
}

function isTextOrAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || typeof value === "string";
}
