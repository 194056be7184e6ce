/**
 * What the YAML library says about a broken text, in words for the author of a machine: one problem a line, its likely
 * cause, and what to write.
 *
 * @module
 */
import type { SourceText } from "./source_text.ts";
import type { TreeProblem } from "./yaml_tree.ts";
import type { SyntaxProblem } from "./yaml.ts";

/** What explaining needs beside the problems. */
export interface ExplainContext {
  /** The text. */
  readonly source: SourceText;
  /** Offsets of unquoted placeholders, which are reported already. */
  readonly placeholders: readonly number[];
}

/** Codes of lines that are broken because the line before was. */
const STRUCTURAL: ReadonlySet<string> = new Set([
  "TAB_AS_INDENT",
  "BAD_INDENT",
  "MULTILINE_IMPLICIT_KEY",
]);

/**
 * Explains syntax problems; those that follow from an earlier one are left out.
 *
 * @param problems The library's problems, in the order of the text.
 * @param context Text and placeholders.
 * @returns One problem a line, errors all.
 */
export function explainProblems(
  problems: readonly SyntaxProblem[],
  context: ExplainContext,
): TreeProblem[] {
  const byLine = groupByLine(problems, context.source);
  const explained: TreeProblem[] = [];
  const broken = new Set<number>();
  for (const start of context.placeholders) broken.add(context.source.lineOf(start));
  const quoted = new Set(broken);
  for (const [line, group] of byLine) {
    const codes = new Set(group.map(({ code }) => code));
    const structural = [...codes].some((code) => STRUCTURAL.has(code));
    const follows = broken.has(line - 1) &&
      (codes.has("MULTILINE_IMPLICIT_KEY") || (quoted.has(line - 1) && structural));
    if (structural) broken.add(line);
    const [first] = group;
    if (first === undefined || follows || quoted.has(line)) continue;
    // Behind the end of a broken document everything is wrong, and nothing of it is news.
    if (isOutside(first) && (explained.length > 0 || broken.size > 0)) continue;
    explained.push({ severity: "error", start: first.start, ...explain(first, codes, context) });
  }
  return explained;
}

const EXTRA_BRACKET = /flow-(?:map|seq)-end/;

function isOutside({ message }: SyntaxProblem): boolean {
  return message.endsWith("token in YAML stream") && !EXTRA_BRACKET.test(message);
}

function groupByLine(
  problems: readonly SyntaxProblem[],
  source: SourceText,
): Map<number, SyntaxProblem[]> {
  const groups = new Map<number, SyntaxProblem[]>();
  for (const problem of problems) {
    const line = source.lineOf(problem.start);
    const group = groups.get(line);
    if (group === undefined) groups.set(line, [problem]);
    else group.push(problem);
  }
  return groups;
}

interface Explanation {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly start?: number;
}

const QUOTE_VALUE = "Put the whole value in quotes";
const ALIGN = "Give the members of a mapping the same number of spaces before them";

function explain(
  problem: SyntaxProblem,
  codes: ReadonlySet<string>,
  { source }: ExplainContext,
): Explanation {
  const line = source.excerpt(source.lineOf(problem.start));
  if (/^[ ]*\t/.test(line)) {
    return {
      code: "tab-indent",
      message: "A tab is used as indentation, where YAML allows spaces only",
      hint: "Replace the tab with spaces",
    };
  }
  switch (problem.code) {
    case "BLOCK_AS_IMPLICIT_KEY":
      return codes.has("MULTILINE_IMPLICIT_KEY") ? badIndent() : colonInText();
    case "BLOCK_IN_FLOW":
      return {
        code: "missing-comma",
        message: 'A second ": " in one value: a comma is missing, or the text needs quotes',
        hint: "Write { when: text, then: ok }, and put a text that holds a colon in quotes",
      };
    case "MULTILINE_IMPLICIT_KEY":
      return /:(?:\s|$)/.test(line) ? badIndent() : missingColon(line);
    case "BAD_INDENT":
      return problem.message.startsWith("Flow") ? unclosedBracket(problem, source) : badIndent();
    case "MISSING_CHAR":
      return /^Flow (?:map|sequence) must end/.test(problem.message)
        ? unclosedBracket(problem, source)
        : missingCharacter(problem, line);
    case "UNEXPECTED_TOKEN":
      return unexpected(problem);
    default:
      return byCode(problem);
  }
}

function badIndent(): Explanation {
  return {
    code: "bad-indent",
    message: "This line is indented differently from the lines it belongs to",
    hint: ALIGN,
  };
}

function colonInText(): Explanation {
  return {
    code: "colon-in-text",
    message: 'A second ": " on the line starts a mapping inside a value',
    hint: QUOTE_VALUE,
  };
}

function missingColon(line: string): Explanation {
  const glued = /^\s*(?:- )?([A-Za-z_]+):(\S.*)$/.exec(line);
  return {
    code: "missing-colon",
    message: "This line is neither a member of the mapping nor part of a text",
    hint: glued === null
      ? 'Write "key: value"'
      : `Write a space after the colon: "${glued[1]}: ${(glued[2] ?? "").slice(0, 40)}"`,
  };
}

function unclosedBracket({ start }: SyntaxProblem, source: SourceText): Explanation {
  const opened = openBracketBefore(source.text, start);
  const where = opened === undefined ? "above" : `on line ${source.lineOf(opened)}`;
  return {
    code: "unclosed-bracket",
    message: `A bracket opened ${where} is not closed here`,
    hint: 'Close it with "}" or "]", or put a text that starts with a bracket in quotes',
  };
}

/** How far back the opening bracket is looked for, in UTF-16 units. */
const MAX_BRACKET_DISTANCE = 4_000;

/** Finds the last bracket before an offset that is still open, whatever stands in quotes between. */
function openBracketBefore(text: string, offset: number): number | undefined {
  let closed = 0;
  for (let at = offset - 1; at >= Math.max(0, offset - MAX_BRACKET_DISTANCE); at--) {
    const char = text[at];
    if (char === "}" || char === "]") closed++;
    else if ((char === "{" || char === "[") && closed-- === 0) return at;
  }
}

function missingCharacter(problem: SyntaxProblem, line: string): Explanation {
  if (problem.message.startsWith("Missing closing")) {
    return {
      code: "unclosed-quote",
      message: "A quoted text is not closed",
      hint: "Write the closing quote; inside single quotes, write '' for one of them",
    };
  }
  if (problem.message.startsWith("Implicit map keys")) return missingColon(line);
  if (/^Missing , .*between flow/.test(problem.message)) {
    return {
      code: "missing-comma",
      message: "A comma is missing between two members in brackets",
      hint:
        "Write [a, b] or { when: text, then: ok }, and put a text that holds a bracket in quotes",
    };
  }
  if (problem.message.startsWith("Sequence item")) return badIndent();
  if (problem.message.startsWith("Missing directives-end")) {
    return {
      code: "missing-marker",
      message: 'A line that starts with "%" is a directive and needs an end',
      hint: 'Write a line "---" after it, or remove the directive',
    };
  }
  if (problem.message.startsWith("Comments must")) {
    return {
      code: "comment-space",
      message: 'A comment follows a value without a space before "#"',
      hint: 'Write a space before "#", or put the text in quotes',
    };
  }
  return other(problem);
}

function unexpected(problem: SyntaxProblem): Explanation {
  const { message } = problem;
  if (message.includes("at node end") || /^Unexpected [a-z-]+ token$/.test(message)) {
    return {
      code: "text-after-value",
      message: "Text follows a value that is already complete",
      hint: `${QUOTE_VALUE}; inside single quotes, write '' for one of them`,
    };
  }
  if (message.startsWith("Not a YAML token") || message.startsWith("Block scalar header")) {
    return {
      code: "block-header",
      message: 'Text stands on the same line as "|" or ">"',
      hint: 'Start the text on the next line, or put it in quotes if it starts with "|" or ">"',
    };
  }
  if (message.includes("block-seq-ind")) {
    return {
      code: "list-on-key-line",
      message: 'A list item "- " stands on the line of its key',
      hint: 'Start the list on the next line, or put a text that starts with "-" in quotes',
    };
  }
  if (message.startsWith("Unexpected , in") || message.startsWith("Unexpected empty item")) {
    return { code: "extra-comma", message: "A comma has nothing before it", hint: "Remove it" };
  }
  if (isOutside(problem)) {
    return {
      code: "outside-document",
      message: "This line stands behind the end of the machine",
      hint:
        "Look for a bracket or quote that closes too early, and at how far the line is indented",
    };
  }
  if (EXTRA_BRACKET.test(message)) {
    return {
      code: "extra-bracket",
      message: "A bracket is closed that was not opened",
      hint: "Remove it, or put the text in quotes",
    };
  }
  return other(problem);
}

function byCode(problem: SyntaxProblem): Explanation {
  switch (problem.code) {
    case "TAB_AS_INDENT":
      return {
        code: "tab-indent",
        message: "A tab is used as indentation, where YAML allows spaces only",
        hint: "Replace the tab with spaces",
      };
    case "BAD_DQ_ESCAPE":
      return {
        code: "bad-escape",
        message: `${problem.message} in a text in double quotes`,
        hint: 'Write "\\\\" for a backslash, or use single quotes',
      };
    case "BAD_SCALAR_START":
      return {
        code: "reserved-character",
        message: problem.message.replace("Plain value", "An unquoted value"),
        hint: QUOTE_VALUE,
      };
    case "BAD_ALIAS":
      return {
        code: "bad-alias",
        message: 'A value starts with "*" or "&" but names no anchor',
        hint: QUOTE_VALUE,
      };
    case "KEY_OVER_1024_CHARS":
      return {
        code: "long-key",
        message: "A key is longer than 1024 characters",
        hint: "Use a short name; if it is a text, put it in quotes as a value",
      };
    case "RESOURCE_EXHAUSTION":
      return {
        code: "too-deep",
        message: "Lists and mappings are nested too deeply",
        hint: "Write it with fewer levels, or keep the value as a text",
      };
    default:
      return other(problem);
  }
}

function other(problem: SyntaxProblem): Explanation {
  return {
    code: "yaml-syntax",
    message: problem.message,
    hint: "Look for a quote, bracket or colon that is missing here, or put the text in quotes",
  };
}
