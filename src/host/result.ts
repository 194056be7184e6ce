/**
 * The result objects that the tools send and `--format json` prints: one shape at every door.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the wire names of results
import type { JsonObject, JsonValue } from "../json/mod.ts";

/** Why a request could not be prepared, or a handle not used. Fixed words: callers branch on them. */
export type ErrorSlug =
  | "invalid-request"
  | "prepare-failed"
  | "unknown-checkpoint"
  | "bad-checkpoint"
  | "machine-changed"
  | "unknown-machine"
  | "unknown-run"
  | "busy"
  | "already-resumed"
  | "expired";

/** What kind of thing stood in the way, for exit codes. `config`: a provider or its key; `store`: the store of runs. */
export type FailureKind =
  | "usage"
  | "config"
  | "store"
  | "load"
  | "semantic"
  | "checkpoint"
  | "busy"
  | "budget";

/** Tokens of a run. */
export interface RunUsage {
  /** Prompt tokens, judge and sub-runs included. */
  readonly input_tokens: number;
  /** Completion tokens, judge and sub-runs included. */
  readonly output_tokens: number;
  /** Whether some of them are estimated, since the endpoint gave no count; absent: none. */
  readonly estimated?: true;
}

/** The object of `run` and `resume`, keys in this order. */
export interface RunObject {
  /** How it stands. */
  readonly status: "done" | "halt" | "suspended" | "running" | "error";
  /** `null` iff done or running; otherwise a halt reason, the reason of a suspension, or an {@linkcode ErrorSlug}. */
  readonly error: string | null;
  /** The result; `null` unless done. */
  readonly result: JsonValue;
  /** Tokens, or `null` if the run never started. */
  readonly usage: RunUsage | null;
  /** The steps; with `detail: "summary"` without texts. */
  readonly trace: readonly JsonValue[];
  /** The state it stands at. */
  readonly at?: string;
  /** Which state was visited most, if a budget ended the run. */
  readonly diagnosis?: JsonObject;
  /** What a person is asked. */
  readonly ask?: string;
  /** Where the reply goes. */
  readonly reply_to?: string;
  /** Sentences; always present. */
  readonly warnings: readonly string[];
  /** Every problem; with `status: "error"` only. */
  readonly errors?: readonly string[];
  /** The single-use handle of a suspension, or at the command line its file. */
  readonly checkpoint?: string;
  /** The file that was written beside the handle. */
  readonly checkpoint_file?: string;
  /** The handle that looks at this run. */
  readonly run?: string;
  /** Which provider answered, as configured; `scripted` means that no model did. */
  readonly provider?: string;
  /** How the reply of a person came in. */
  readonly reply_via?: ReplyVia;
  /** Set where the object was cut to what a client takes: what is missing. */
  readonly truncated?: string;
}

/** How the reply of a person came in. */
export type ReplyVia = "cli" | "elicitation" | "argument";

/** What a door gets back from the host. */
export interface Emitted {
  /** The whole object. */
  readonly object: JsonObject;
  /** A short text for people and models: status, result, path, tokens, what to do next. */
  readonly text: string;
  /** Whether the request failed (`status: "error"`); a halt is no failure. */
  readonly isError: boolean;
  /** What stood in the way, if it failed. */
  readonly failure?: FailureKind;
  /** Of a suspension: what a person decides on, whole, however short the object is. A reply holds for this alone. */
  readonly subject?: JsonValue;
}
