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
import { Composer, type CST, type Document, Lexer, type ParsedNode, Parser } from "yaml";

export { isAlias, isMap, isNode, isScalar, isSeq } from "yaml";
export type { Node, ParsedNode } from "yaml";

/** Longest text that is read, in UTF-16 units. */
export const MAX_TEXT_LENGTH = 16 * 1024 * 1024;
/** Deepest nesting of lists and mappings. */
export const MAX_DEPTH = 100;
/** Most lexical tokens of a text: a machine of 20,000 states has about that many. */
export const MAX_TOKENS = 2_000_000;

/** Most problems of syntax after which reading ends. */
export const MAX_SYNTAX_PROBLEMS = 1_000;

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
  const problems = new ProblemList();
  // The library's own list makes an error object, with a stack, for each of any number of problems.
  Reflect.set(composer, "onError", problems.take);
  const passed = text.length > MAX_TEXT_LENGTH
    ? { limit: "length" as const, offset: MAX_TEXT_LENGTH }
    : withoutEnvironment(() => compose(text, { composer, documents, problems }));
  const [first, second] = documents;
  return {
    root: first?.contents ?? undefined,
    problems: passed === undefined ? problems.sorted() : [],
    secondDocument: second?.range[0],
    otherVersion: first?.directives.yaml.version === "1.1",
    passed,
  };
}

interface Composition {
  readonly composer: Composer;
  readonly documents: Document.Parsed[];
  readonly problems: ProblemList;
}

function compose(
  text: string,
  { composer, documents, problems }: Composition,
): PassedLimit | undefined {
  const parser = new Parser();
  const feed = (tokens: Iterable<CST.Token>) => {
    for (const token of tokens) {
      if (token.type === "error") problems.take(token, "UNEXPECTED_TOKEN", token.message);
      else documents.push(...composer.next(token));
    }
  };
  let tokens = 0;
  try {
    for (const lexeme of new Lexer().lex(text)) {
      feed(parser.next(lexeme));
      if (parser.stack.length > MAX_DEPTH + 1) return { limit: "depth", offset: parser.offset };
      if (++tokens > MAX_TOKENS) return { limit: "tokens", offset: parser.offset };
      if (documents.length > 1) break;
    }
    feed(parser.end());
    documents.push(...composer.end());
  } catch (error) {
    if (!problems.full) throw error;
  }
}

/** Where a problem is, as the library says it. */
type ProblemPlace = number | readonly [number, number] | readonly [number, number, number] | {
  readonly offset: number;
};

/** Problems as they come, up to a number after which reading ends. */
class ProblemList {
  readonly #problems: SyntaxProblem[] = [];

  /** Whether reading ended because there were too many. */
  get full(): boolean {
    return this.#problems.length >= MAX_SYNTAX_PROBLEMS;
  }

  /** Takes a problem, or throws once there are too many. Warnings are left out. */
  readonly take = (
    place: ProblemPlace,
    code: string,
    message: string,
    ...warning: readonly boolean[]
  ): void => {
    if (warning[0] === true) return;
    if (this.full) throw new RangeError("Too many problems");
    const start = typeof place === "number" ? place : "offset" in place ? place.offset : place[0];
    this.#problems.push({ code, message, start });
  };

  /** The problems in the order of the text. */
  sorted(): readonly SyntaxProblem[] {
    return this.#problems.toSorted((a, b) => a.start - b.start);
  }
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
