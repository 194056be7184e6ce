/**
 * A machine as the engine and the checker see it: typed, but not necessarily sound. A document that was not validated
 * (a sibling found by discovery) may lack members; the engine halts where it needs one.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";

/** How strong a model a state wants. */
export type Tier = "fast" | "balanced" | "reasoning";

/** Where something stands in a source text. Both count from 1; columns count code points. */
export interface Position {
  /** The line. */
  readonly line: number;
  /** The column. */
  readonly column: number;
}

/** What happens when a gate fires. */
export type GatePolicy = "ok" | "repair" | "escalate" | "fail";

/** One way out of a state. */
export interface Gate {
  /** The condition as authored. */
  readonly when: string;
  /** Whether `when`, trimmed and lower-cased, is `otherwise`. */
  readonly catchAll: boolean;
  /** The hook that decides instead of a judge; ignored on a catch-all. */
  readonly hook?: string;
  /** What happens. */
  readonly policy: GatePolicy;
  /** How often a repair may fire in one run; absent only in unvalidated documents. */
  readonly repairLimit?: number;
  /** A state id or `END`; absent for `fail`, and in unvalidated documents. */
  readonly to?: string;
  /** What to ask a person, literally. */
  readonly ask?: string;
  /** Where the reply is put, as a dotted path; default `human.reply`. */
  readonly replyTo?: string;
}

/** What every state has. */
export interface StateCommon {
  /** Its id. */
  readonly id: string;
  /** The context key it writes. */
  readonly output: string;
  /** Ways out, in order. */
  readonly gates: readonly Gate[];
  /** Its own tier, if it names one. */
  readonly tier?: Tier;
  /** Whether the output is appended instead of replacing. */
  readonly accumulate: boolean;
  /** Number of equal branches. */
  readonly sample?: number;
  /** A text with a placeholder that names a list: one branch an element. */
  readonly over?: string;
  /** How often the state may be entered in one run. */
  readonly maxVisits?: number;
}

/** A state that asks a model. */
export interface GenerativeState extends StateCommon {
  /** The kind. */
  readonly kind: "generative";
  /** The task, with placeholders. */
  readonly prompt: string;
  /** The output contract. */
  readonly structure: string;
  /** The operational policy. */
  readonly execution?: string;
  /** Whether the model reasons first. */
  readonly reason: boolean;
  /** How the output is read. */
  readonly parse?: "list" | "json";
}

/** A state that runs another machine. */
export interface CallState extends StateCommon {
  /** The kind. */
  readonly kind: "call";
  /** The machine's name. */
  readonly call: string;
  /** Its inputs, as authored. */
  readonly input: JsonObject;
}

/** A state that runs a host tool. */
export interface ToolState extends StateCommon {
  /** The kind. */
  readonly kind: "tool";
  /** The tool's name. */
  readonly tool: string;
  /** Its arguments, as authored. */
  readonly input: JsonObject;
}

/** A state. */
export type State = GenerativeState | CallState | ToolState;

/** A host name that a machine says it expects. */
export interface DeclaredName {
  /** The name. */
  readonly name: string;
  /** What it is for. */
  readonly description?: string;
}

/** A machine. */
export interface Machine {
  /** Its name, the key in a registry. */
  readonly name: string;
  /** The version of the language it says it is written in. */
  readonly version?: string;
  /** The first state. */
  readonly entry: string;
  /** Most steps of one run. */
  readonly budget: number;
  /** The tier of states that name none. */
  readonly defaultTier: Tier;
  /** The context key that is the result; absent: the last state's raw output. */
  readonly result?: string;
  /** The author's own values. */
  readonly context: JsonObject;
  /** States by id, in document order. */
  readonly states: ReadonlyMap<string, State>;
  /** Tools it says it expects. */
  readonly tools: readonly DeclaredName[];
  /** Hooks it says it expects. */
  readonly hooks: readonly DeclaredName[];
  /** The text it was read from. */
  readonly source: string;
  /**
   * Where a member stands, by its path (`["states", "a", "gates", 0, "when"]`): its value, or the key before it.
   * `undefined` if unknown.
   */
  position(path: readonly (string | number)[], part?: "value" | "key"): Position | undefined;
}

/** Machines by name, as `call:` sees them. */
export interface Registry {
  /** The machine of this name, or `undefined`. May read and parse it now. */
  get(name: string): Machine | undefined;
  /** All names, sorted by code point. */
  names(): readonly string[];
}

/** One finding in a document. */
export interface Diagnostic {
  /** `error` blocks a run, `warning` and `note` do not. */
  readonly severity: "error" | "warning" | "note";
  /** A stable word, such as `missing-catch-all`. */
  readonly code: string;
  /** Which stage found it: reading the YAML, the grammar of machines, the semantic checks, or lint. */
  readonly stage?: "yaml" | "schema" | "check" | "lint";
  /** What was found, what was wanted; the fixed texts of the language are kept to the letter. */
  readonly message: string;
  /** What to write instead, if that can be said. */
  readonly hint?: string;
  /** The member it is about, as a path into the document. */
  readonly path?: readonly (string | number)[];
  /** Where it stands. */
  readonly position?: Position;
  /** The line of the source it stands on, cut to 200 characters. */
  readonly excerpt?: string;
}
