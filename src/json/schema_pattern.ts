/**
 * Which regular expressions of a schema are tried at all. JavaScript's engine backtracks, so an innocent-looking pattern
 * can take longer than the universe; those that could are refused.
 *
 * @module
 */

/** The longest pattern. */
export const MAX_PATTERN_LENGTH = 256;

/** The longest text that a simple pattern is tried on. */
export const MAX_PATTERN_SUBJECT = 4096;

/** The longest text that a pattern with several open repetitions is tried on. */
export const MAX_COMPLEX_SUBJECT = 512;

/** The most open repetitions (`*`, `+`, `{n,}`) in a pattern. */
export const MAX_REPETITIONS = 10;

/** Repetitions from which on a pattern counts as complex. */
const COMPLEX_REPETITIONS = 2;

/**
 * Refuses a pattern that could run for long.
 *
 * @param pattern The pattern, as JavaScript reads it with the flag `u`.
 * @param refusal Makes the error of a problem.
 * @throws What `refusal` makes.
 */
export function checkPattern(pattern: string, refusal: (problem: string) => Error): void {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw refusal(`a pattern has at most ${MAX_PATTERN_LENGTH} characters`);
  }
  try {
    new RegExp(pattern, "u");
  } catch {
    throw refusal("the pattern is not a regular expression");
  }
  if (/\\[1-9]|\\k</.test(pattern)) throw refusal("a pattern has no back-references");
  if (/\(\?<?[=!]/.test(pattern)) throw refusal("a pattern looks neither ahead nor behind");
  const { repetitions, nested } = survey(pattern);
  if (nested) {
    throw refusal(
      "the pattern repeats a group that repeats something itself and begins with no separator",
    );
  }
  if (repetitions > MAX_REPETITIONS) {
    throw refusal(`a pattern has at most ${MAX_REPETITIONS} open repetitions`);
  }
}

/**
 * The longest text that a pattern is tried on.
 *
 * @param pattern A pattern that passed {@linkcode checkPattern}.
 * @returns Characters.
 */
export function patternSubjectLimit(pattern: string): number {
  const { repetitions } = survey(pattern);
  return repetitions > COMPLEX_REPETITIONS ? MAX_COMPLEX_SUBJECT : MAX_PATTERN_SUBJECT;
}

interface Group {
  readonly start: number;
  repetitions: number;
}

/** Counts open repetitions, and looks for one within another. Escapes and classes are one atom each. */
function survey(pattern: string): { readonly repetitions: number; readonly nested: boolean } {
  const open: Group[] = [];
  let repetitions = 0;
  let closed: { readonly body: string; readonly repetitions: number } | undefined;
  let nested = false;
  for (const token of tokensOf(pattern)) {
    if (token.text === "(") {
      open.push({ start: token.end, repetitions });
      closed = undefined;
    } else if (token.text === ")") {
      const group = open.pop();
      closed = group === undefined ? undefined : {
        body: pattern.slice(group.start, token.end - 1),
        repetitions: repetitions - group.repetitions,
      };
    } else if (isOpenRepetition(token.text)) {
      repetitions += 1;
      if (closed !== undefined && closed.repetitions > 0 && !isSeparated(closed.body)) {
        nested = true;
      }
      closed = undefined;
    } else closed = undefined;
  }
  return { repetitions, nested };
}

const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\s\S]/gu;

function* tokensOf(pattern: string): Generator<{ readonly text: string; readonly end: number }> {
  for (const match of pattern.matchAll(TOKEN)) {
    yield { text: match[0], end: match.index + match[0].length };
  }
}

function isOpenRepetition(token: string): boolean {
  return token === "*" || token === "+" || /^\{\d+,\}$/.test(token) ||
    /^\{\d*,?\d{3,}\}$/.test(token);
}

/**
 * Whether each round of a repeated group begins with a punctuation mark that nothing else in the group can match, so that
 * there is one way only to divide a text into rounds: `(?:-[a-z]+)*` but not `(?:[a-z]+)*`.
 */
function isSeparated(body: string): boolean {
  const match = /^(?:\?:|\?<[^>]*>)?(?:\\([^A-Za-z0-9])|([^A-Za-z0-9\\.[\](){}*+?^$|]))(.*)$/su
    .exec(
      body,
    );
  if (match === null) return false;
  const separator = match[1] ?? match[2] ?? "";
  const rest = (match[3] ?? "").replace(PLAIN_RANGE, "");
  return !rest.includes(separator) && !OPTIONAL_FIRST.test(rest) && !MATCHES_MORE.test(rest) &&
    !(/\s/.test(separator) && rest.includes("\\s")) &&
    !(separator === "_" && rest.includes("\\w"));
}

/** Ranges within one kind of letters or digits, which no punctuation mark falls into. */
const PLAIN_RANGE = /[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]/g;
const OPTIONAL_FIRST = /^[*?{]/;
const MATCHES_MORE = /\||\[\^|\\[WDSPp]|(?:^|[^\\])\.|\[[^\]]*[^\\\]]-[^\]]/;
