/**
 * Keys that have no place where they stand: which one was meant, and what to do.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import {
  type Fields,
  GATE_FIELDS,
  MACHINE_FIELDS,
  OTHER_WORDS,
  POLICY_KEYS,
  STATE_FIELDS,
  type StateKind,
} from "./grammar.ts";
import type { GrammarProblem } from "./grammar_problem.ts";
import { pathText } from "./path_text.ts";
import { nearest } from "./suggest.ts";

/** A mapping, what it may hold, and where it stands. */
export interface Surroundings {
  /** The mapping. */
  readonly value: JsonObject;
  /** Its members by key. */
  readonly fields: Fields;
  /** Where it stands. */
  readonly path: readonly (string | number)[];
  /** What it is, with its article. */
  readonly what: string;
}

/**
 * Finds the key that an unknown one was meant to be.
 *
 * @param key The key as written.
 * @param around The mapping.
 * @returns A key of the mapping that is not there yet, or `undefined`.
 */
export function meantKey(key: string, { value, fields }: Surroundings): string | undefined {
  const free = Object.keys(fields).filter((known) => !Object.hasOwn(value, known));
  const written = gluedKey(key)?.key ?? key;
  if (free.includes(written)) return written;
  const near = nearest(written, free);
  if (near !== undefined) return near;
  const word = written.toLowerCase();
  const other = Object.hasOwn(OTHER_WORDS, word) ? OTHER_WORDS[word] : undefined;
  return other !== undefined && free.includes(other) ? other : undefined;
}

/** Longest key that a message shows, in UTF-16 units. */
const MAX_SHOWN = 60;

/**
 * Says that a key has no place.
 *
 * @param key The key.
 * @param around The mapping.
 * @returns The problem, with what to do.
 */
export function unknownKey(key: string, around: Surroundings): GrammarProblem {
  const { path, what } = around;
  const shown = key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN - 1)}…` : key;
  return {
    code: "unknown-key",
    message: `The key "${shown}" is not allowed in ${what}${
      path.length === 0 ? "" : ` (${pathText(path)})`
    }`,
    hint: hintFor(key, around),
    path: [...path, key],
    part: "key",
  };
}

function hintFor(key: string, around: Surroundings): string {
  if (key === "yaml-language-server" || key === "$schema") {
    return 'Write it as a comment: "# yaml-language-server: $schema=…"';
  }
  if (key === "scenarios" && around.path.length === 0) {
    return "A file of scenarios is no machine: kit test MACHINE --script FILE plays it";
  }
  const glued = gluedKey(key);
  const meant = meantKey(key, around);
  if (meant !== undefined) {
    return glued?.key === meant
      ? `Write a space after the colon: "${glued.key}: ${glued.text}"`
      : `Did you mean "${meant}"?`;
  }
  const elsewhere = elsewhereHint(key, around);
  if (elsewhere !== undefined) return elsewhere;
  if (around.value[key] === null) {
    return "If it is part of a text, put the whole text in quotes: a comma between brackets ends it";
  }
  const free = Object.keys(around.fields).filter((known) => !Object.hasOwn(around.value, known));
  return free.length === 0 ? "Remove it" : `Remove it; also allowed here: ${free.join(", ")}`;
}

/** Splits what has no space after its colon, such as `then:ok`, which YAML takes for a key without a value. */
function gluedKey(key: string): { readonly key: string; readonly text: string } | undefined {
  const found = /^([A-Za-z_]{1,20}):(\S.{0,40})$/.exec(key);
  return found === null ? undefined : { key: found[1] ?? "", text: found[2] ?? "" };
}

const KINDS: Readonly<Record<StateKind, string>> = {
  generative: "prompt",
  call: "call",
  tool: "tool",
};
const KIND_KEYS: readonly string[] = Object.values(KINDS);

/** What to do with a key that is known, but not here. */
function elsewhereHint(key: string, { value, path }: Surroundings): string | undefined {
  if (isGate(path)) {
    const policies = POLICY_KEYS.filter((policy) => Object.hasOwn(GATE_FIELDS[policy], key));
    if (policies.length > 0) return `Remove it: only a gate with ${either(policies)} has it`;
  }
  if (isState(path)) {
    if (KIND_KEYS.includes(key)) {
      const own = KIND_KEYS.find((kind) => kind !== key && Object.hasOwn(value, kind));
      return `Keep one of "${own}" and "${key}": they make different kinds of states`;
    }
    const kinds = kindsWith(key);
    if (kinds.length > 0) return `Remove it: only a state with ${either(kinds)} has it`;
  }
  const home = homeOf(key);
  return home === undefined
    ? undefined
    : `It belongs to ${home}: check how far the line is indented, or remove it`;
}

function kindsWith(key: string): string[] {
  const kinds: StateKind[] = ["generative", "call", "tool"];
  return kinds.filter((kind) => Object.hasOwn(STATE_FIELDS[kind], key)).map((kind) => KINDS[kind]);
}

function homeOf(key: string): string | undefined {
  if (Object.hasOwn(MACHINE_FIELDS, key)) return "the top of the machine";
  if (kindsWith(key).length > 0) return "a state";
  const inGates = POLICY_KEYS.some((policy) => Object.hasOwn(GATE_FIELDS[policy], key));
  return inGates ? "a gate" : undefined;
}

function isState(path: Surroundings["path"]): boolean {
  return path.length === 2 && path[0] === "states";
}

function isGate(path: Surroundings["path"]): boolean {
  return path.length === 4 && path[0] === "states" && path[2] === "gates";
}

function either(words: readonly string[]): string {
  return words.length < 2
    ? words.join("")
    : `${words.slice(0, -1).join(", ")} or ${words.at(-1) ?? ""}`;
}
