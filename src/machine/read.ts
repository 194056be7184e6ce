/**
 * Reads machines: text or value in, machine and every problem out.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import { buildMachine, type Origin, UnreadableMachineError } from "./build.ts";
import type { Diagnostic, Machine, Position } from "./document.ts";
import { mendDocument } from "./draft.ts";
import type { GrammarProblem } from "./grammar_problem.ts";
import { mostImportant } from "./most_important.ts";
import type { SourceText } from "./source_text.ts";
import { validateDocument } from "./validate.ts";

/** How a machine is read. */
export interface ReadOptions {
  /**
   * `enforced` (default): the document must keep the grammar. `lenient`: for documents that were only found beside a
   * target, which load if anything can be made of them.
   */
  readonly grammar?: "enforced" | "lenient";
}

/** What reading a machine gave. */
export interface ReadResult {
  /** The machine; absent exactly if there is an error. */
  readonly machine?: Machine;
  /** The names and gates of a document with errors, for `checkReferences`; the rest is made up, so never run it. */
  readonly draft?: Machine;
  /** Every problem, in the order of the text: of the YAML (stage `yaml`), of the grammar (stage `schema`). */
  readonly diagnostics: readonly Diagnostic[];
}

/** A value with what is known of its text. */
export interface ReadValue {
  /** The value; absent if the text has none. */
  readonly value?: JsonValue;
  /** Problems found before. */
  readonly diagnostics?: readonly Diagnostic[];
  /** Whether the text is broken, so that members may be missing. */
  readonly broken?: boolean;
  /** The text. */
  readonly source?: SourceText;
  /** Finds a member in the text. */
  offsetOf?(path: readonly (string | number)[], part?: "value" | "key"): number;
}

/**
 * Reads a machine from a value that was read already, such as an inline machine of a scenario file.
 *
 * @param value The document's value.
 * @param options `grammar`, and `source`: the text to keep as the machine's own; default the value as JSON.
 * @returns The machine and every problem, without positions.
 */
export function machineFromValue(
  value: JsonValue,
  options: ReadOptions & { readonly source?: string } = {},
): ReadResult {
  return readValue({ value }, {
    ...options,
    source: options.source ?? JSON.stringify(value),
  });
}

/**
 * Reads a machine from a value with or without its text.
 *
 * @param read The value, its text and the problems so far.
 * @param options `grammar`, and the text that the machine keeps.
 * @returns The machine and every problem.
 */
export function readValue(
  read: ReadValue,
  options: ReadOptions & { readonly source: string },
): ReadResult {
  const earlier = read.diagnostics ?? [];
  const failed = earlier.some(({ severity }) => severity === "error");
  const enforced = options.grammar !== "lenient";
  const grammar = enforced && read.broken !== true
    ? located(validateDocument(read.value ?? null), read, earlier)
    : [];
  const origin: Origin = {
    source: options.source,
    position: (path, part) => positionOf(read, path, part),
  };
  const built = build(read.value ?? null, origin);
  const unbuilt = built instanceof UnreadableMachineError && !failed && grammar.length === 0
    ? located([{ code: "unreadable", message: built.message, path: built.path }], read, earlier)
    : [];
  const diagnostics = inTextOrder([...earlier, ...grammar, ...unbuilt]);
  if (!(built instanceof UnreadableMachineError) && !failed && grammar.length === 0) {
    return { machine: built, diagnostics };
  }
  const draft = enforced && read.broken !== true ? draftOf(read.value ?? null, origin) : undefined;
  return draft === undefined ? { diagnostics } : { draft, diagnostics };
}

function draftOf(value: JsonValue, origin: Origin): Machine | undefined {
  const mended = mendDocument(value);
  return mended === undefined ? undefined : buildMachine(mended, origin);
}

function build(value: JsonValue, origin: Origin): Machine | UnreadableMachineError {
  try {
    return buildMachine(value, origin);
  } catch (error) {
    if (error instanceof UnreadableMachineError) return error;
    throw error;
  }
}

function positionOf(
  read: ReadValue,
  path: readonly (string | number)[],
  part: "value" | "key" = "value",
): Position | undefined {
  if (read.source === undefined || read.offsetOf === undefined) return undefined;
  return read.source.position(read.offsetOf(path, part));
}

/** Gives grammar problems their place; one that stands where an earlier error stands follows from it. */
function located(
  problems: readonly GrammarProblem[],
  read: ReadValue,
  earlier: readonly Diagnostic[],
): Diagnostic[] {
  const taken = new Set(
    earlier.filter(({ severity }) => severity === "error").map(placeKey),
  );
  const { shown, rest } = mostImportant(
    problems.map((problem) => ({ ...problem, severity: ERROR })),
  );
  return [...shown.map((problem) => toDiagnostic(problem, read)), ...rest]
    .filter((diagnostic) => diagnostic.position === undefined || !taken.has(placeKey(diagnostic)));
}

const ERROR = "error" as const;

function placeKey({ position }: Diagnostic): string {
  return `${position?.line}:${position?.column}`;
}

function toDiagnostic(problem: GrammarProblem, { source, offsetOf }: ReadValue): Diagnostic {
  const position = source === undefined || offsetOf === undefined
    ? undefined
    : source.position(offsetOf(problem.path, problem.part ?? "value"));
  return {
    severity: "error",
    code: problem.code,
    stage: "schema",
    message: problem.message,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    path: problem.path,
    ...(position === undefined || source === undefined
      ? {}
      : { position, excerpt: source.excerpt(position.line) }),
  };
}

/** Sorts by place; what has none comes last, in the order in which it was found. */
function inTextOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const last = Number.MAX_SAFE_INTEGER;
  return [...diagnostics].sort((a, b) =>
    (a.position?.line ?? last) - (b.position?.line ?? last) ||
    (a.position?.column ?? last) - (b.position?.column ?? last)
  );
}
