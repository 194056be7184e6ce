/**
 * A YAML document with everything that is wrong with it.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import type { Diagnostic } from "./document.ts";
import { mostImportant } from "./most_important.ts";
import { SourceText } from "./source_text.ts";
import {
  type Composed,
  composeYaml,
  MAX_DEPTH,
  MAX_TEXT_LENGTH,
  MAX_TOKENS,
  type PassedLimit,
} from "./yaml.ts";
import { lastScalarStart, type YamlNode } from "./yaml_node.ts";
import { convertTree, type TreeProblem, type YamlTree } from "./yaml_tree.ts";
import { explainProblems } from "./yaml_problems.ts";

/** A path into a document: keys and indexes. */
export type DocumentPath = readonly (string | number)[];

/** What reading YAML gave. */
export interface YamlDocument {
  /** The value, also beside errors, with `null` where a part could not be used; absent if there is none at all. */
  readonly value?: JsonValue;
  /** Whether the syntax itself is broken, so that members may be missing from `value`. */
  readonly broken: boolean;
  /** Every problem, in the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /** The text with its lines. */
  readonly source: SourceText;
  /**
   * Finds a member: where its value starts, or its key.
   *
   * @returns The offset of the member, or of the nearest one above it that exists.
   */
  offsetOf(path: DocumentPath, part?: "value" | "key"): number;
}

/**
 * Reads a text as one YAML 1.2 document.
 *
 * @param text The text; a byte order mark and either line ending are accepted.
 * @returns The value and every problem; never throws.
 */
export function readYamlDocument(text: string): YamlDocument {
  const source = new SourceText(text);
  const composed = composeYaml(source.text);
  const early = earlyProblems(source.text);
  if (composed.passed !== undefined || early.some(({ severity }) => severity === "error")) {
    const problems = composed.passed === undefined ? early : [limitProblem(composed.passed)];
    return documentOf(source, undefined, { problems, broken: true });
  }
  const tree = composed.root === undefined ? undefined : convertTree(composed.root, source.text);
  const syntax = explain(composed, tree, source);
  const problems = [...early, ...(tree?.problems ?? []), ...syntax];
  if (composed.secondDocument !== undefined) {
    problems.push(secondDocument(composed.secondDocument, source.text));
  }
  if (composed.otherVersion) problems.push(OTHER_VERSION);
  return documentOf(source, tree, { problems, broken: syntax.length > 0 });
}

function explain(
  composed: Composed,
  tree: YamlTree | undefined,
  source: SourceText,
): TreeProblem[] {
  const { root } = composed;
  const explained = explainProblems(composed.problems, {
    source,
    placeholders: tree?.placeholders ?? [],
  }).map((problem) => {
    const opened = problem.code === "unclosed-quote" && root !== undefined
      ? lastScalarStart(root)
      : undefined;
    return opened === undefined ? problem : { ...problem, start: opened };
  });
  if (explained.length === 0 || tree === undefined) return explained;
  const lines = new Set(
    tree.problems.filter(({ severity }) => severity === "error")
      .map(({ start }) => source.lineOf(start)),
  );
  return explained.filter(({ code, start }) =>
    code !== "text-after-value" || !lines.has(source.lineOf(start))
  );
}

const OTHER_VERSION: TreeProblem = {
  severity: "warning",
  code: "yaml-version",
  message: "The directive %YAML 1.1 is ignored: machines are read as YAML 1.2",
  hint: "Remove the directive",
  start: 0,
};

function documentOf(
  source: SourceText,
  tree: YamlTree | undefined,
  found: { readonly problems: readonly TreeProblem[]; readonly broken: boolean },
): YamlDocument {
  const sorted = [...found.problems].sort((a, b) => a.start - b.start);
  const { shown, rest } = mostImportant(sorted);
  return {
    ...(tree === undefined ? {} : { value: tree.root.value }),
    broken: found.broken,
    diagnostics: [...shown.map((problem) => toDiagnostic(problem, source)), ...rest],
    source,
    offsetOf: (path, part = "value") => tree === undefined ? 0 : offsetOf(tree.root, path, part),
  };
}

function toDiagnostic(problem: TreeProblem, source: SourceText): Diagnostic {
  const position = source.position(problem.start);
  return {
    severity: problem.severity,
    code: problem.code,
    stage: "yaml",
    message: problem.message,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    position,
    excerpt: source.excerpt(position.line),
  };
}

function offsetOf(root: YamlNode, path: DocumentPath, part: "value" | "key"): number {
  let node = root;
  let offset = root.start;
  for (const step of path) {
    const member = typeof step === "string" ? node.members?.get(step) : undefined;
    const next = typeof step === "number" ? node.items?.[step] : member?.node;
    if (next === undefined) return offset;
    offset = part === "key" && member !== undefined ? member.keyStart : next.start;
    node = next;
  }
  return offset;
}

const FLATTER = "Write it with fewer levels, or keep the value as a text";

function limitProblem({ limit, offset }: PassedLimit): TreeProblem {
  const message = {
    length: `The text is longer than ${MAX_TEXT_LENGTH} characters`,
    depth: `Lists and mappings are nested more than ${MAX_DEPTH} deep`,
    tokens: `The text has more than ${MAX_TOKENS} tokens`,
  }[limit];
  const code = { length: "too-long", depth: "too-deep", tokens: "too-large" }[limit];
  const hint = limit === "depth" ? FLATTER : "Split it into several machines that call each other";
  return { severity: "error", code, message, hint, start: offset };
}

function earlyProblems(text: string): TreeProblem[] {
  const problems: TreeProblem[] = [];
  // deno-lint-ignore no-control-regex -- these are what is looked for
  const control = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]/.exec(text);
  if (control !== null) {
    const code = (control[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    problems.push({
      severity: "error",
      code: "control-character",
      message: `The control character U+${code} is not allowed in YAML`,
      hint: 'Remove it, or write it as an escape in double quotes, such as "\\e"',
      start: control.index,
    });
  }
  const lone = /\r(?!\n)/.exec(text);
  if (lone !== null) {
    problems.push({
      severity: "error",
      code: "lone-return",
      message: "A carriage return stands without a line feed",
      hint: "Save the file with LF or CRLF line endings",
      start: lone.index,
    });
  }
  return problems;
}

function secondDocument(offset: number, text: string): TreeProblem {
  const marker = text.lastIndexOf("---", offset);
  return {
    severity: "error",
    code: "several-documents",
    message: "A second YAML document starts here: a file holds one machine",
    hint: 'Remove the "---" line, or move what follows to a file of its own',
    start: marker === -1 || text.slice(marker + 3, offset).trim() !== "" ? offset : marker,
  };
}
