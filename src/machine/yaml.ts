/**
 * The one file that names the YAML library: text in, syntax nodes and problems out, within limits.
 *
 * The library is driven token by token, so that a hostile text is given up before its tree exists. Keys are not
 * compared here: the library does that pair by pair, {@link ./yaml_tree.ts} with a set.
 *
 * @module
 */
// deno-lint-ignore no-external-import -- what the library itself loads; see withoutEnvironment()
import nodeProcess from "node:process";
import { Composer, type Document, Lexer, type ParsedNode, Parser } from "yaml";

export { isAlias, isMap, isNode, isScalar, isSeq } from "yaml";
export type { Node, ParsedNode } from "yaml";

/** Longest text that is read, in UTF-16 units. */
export const MAX_TEXT_LENGTH = 16 * 1024 * 1024;
/** Deepest nesting of lists and mappings. */
export const MAX_DEPTH = 100;
/** Most lexical tokens of a text: a machine of 20,000 states has about that many. */
export const MAX_TOKENS = 2_000_000;

/** A limit that was passed. */
export interface PassedLimit {
  /** Which one. */
  readonly limit: "length" | "depth" | "tokens";
  /** Where reading stopped, as an offset. */
  readonly offset: number;
}

/** A problem as the library words it. */
export interface SyntaxProblem {
  /** The library's code. */
  readonly code: string;
  /** The library's text, in English, about YAML alone. */
  readonly message: string;
  /** Where it starts, as an offset. */
  readonly start: number;
}

/** What composing gave. */
export interface Composed {
  /** The first document's root, if there is one. */
  readonly root: ParsedNode | undefined;
  /** Problems in the order of the text. */
  readonly problems: readonly SyntaxProblem[];
  /** Where a second document starts, if there is one. */
  readonly secondDocument: number | undefined;
  /** Whether a `%YAML` directive asks for another version than 1.2. */
  readonly otherVersion: boolean;
  /** The limit that ended reading, if one did. */
  readonly passed: PassedLimit | undefined;
}

/**
 * Composes the syntax nodes of a text under YAML 1.2's core schema.
 *
 * @param text The text, without a byte order mark.
 * @returns Nodes and problems; never throws.
 */
export function composeYaml(text: string): Composed {
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents: Document.Parsed[] = [];
  const passed = text.length > MAX_TEXT_LENGTH
    ? { limit: "length" as const, offset: MAX_TEXT_LENGTH }
    : withoutEnvironment(() => compose(text, composer, documents));
  const problems = passed === undefined
    ? [...documents.flatMap((document) => document.errors), ...composer.streamInfo().errors]
      .map((error) => ({ code: error.code, message: error.message, start: error.pos[0] }))
      .sort((a, b) => a.start - b.start)
    : [];
  const first = documents[0];
  return {
    root: first?.contents ?? undefined,
    problems,
    secondDocument: documents[1]?.range[0],
    otherVersion: first?.directives.yaml.version === "1.1",
    passed,
  };
}

function compose(
  text: string,
  composer: Composer,
  documents: Document.Parsed[],
): PassedLimit | undefined {
  const parser = new Parser();
  let tokens = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    if (parser.stack.length > MAX_DEPTH + 1) return { limit: "depth", offset: parser.offset };
    if (++tokens > MAX_TOKENS) return { limit: "tokens", offset: parser.offset };
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end());
  return undefined;
}

/**
 * Hides the environment while the library works, all of which is synchronous. It asks for two variables at every token:
 * that needs a permission, takes a quarter of the time, and where one is set it writes to stdout, which is the
 * protocol's.
 */
function withoutEnvironment<T>(work: () => T): T {
  const { env } = nodeProcess;
  nodeProcess.env = {};
  try {
    return work();
  } finally {
    nodeProcess.env = env;
  }
}
