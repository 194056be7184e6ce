/**
 * The one arithmetic evaluator: recursive descent over a bounded text, never the host's `eval`.
 *
 * Integers are exact within bounds, everything else is a double; numbers are written as JSON writes them. Errors say
 * what and where, and never repeat the input.
 *
 * @module
 */
import {
  applyOperator,
  ArithmeticError,
  type ArithmeticProblem,
  MAX_EXPONENT,
  type Numeric,
  printNumber,
} from "./arithmetic_operators.ts";

/** Most characters of an expression. */
export const MAX_EXPRESSION_CHARACTERS = 512;
/** Most tokens of an expression. */
export const MAX_EXPRESSION_TOKENS = 256;
/** Deepest nesting of parentheses, signs and powers. */
export const MAX_EXPRESSION_DEPTH = 64;
/** Most digits of one literal. */
export const MAX_LITERAL_DIGITS = 32;
/** What an expression comes to. */
export type ArithmeticResult =
  | {
    /** It has a value. */
    readonly ok: true;
    /** The number as JSON writes it: `1411`, `0.5`, `1e+21`. */
    readonly text: string;
  }
  | {
    /** It has none. */
    readonly ok: false;
    /** Why, for programs. */
    readonly problem: ArithmeticProblem;
    /** Why, for models and people, without any part of the input. */
    readonly message: string;
  };

/** Which notation is read. */
export interface ArithmeticOptions {
  /**
   * `"calculator"` (default): decimal numbers, `+ - * / % **`, parentheses. `"calc"`: also `//`, `0x` `0o` `0b`
   * literals, `_` between digits, and `True` and `False` as 1 and 0.
   */
  readonly dialect?: "calculator" | "calc";
}

/**
 * Evaluates an arithmetic expression.
 *
 * Grammar: `+` and `-`; `*`, `/`, `%` and (dialect `calc`) `//` bind tighter; signs bind tighter still; `**` binds
 * tightest and to the right, so `-2**2` is -4 and `2**-1` is 0.5. `%` and `//` round toward minus infinity.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(evaluateArithmetic("17 * 83"), { ok: true, text: "1411" });
 * assertEquals(evaluateArithmetic("4/2"), { ok: true, text: "2" });
 * assertEquals(evaluateArithmetic("1/0"), {
 *   ok: false,
 *   problem: "division-by-zero",
 *   message: "division by zero",
 * });
 * ```
 *
 * @param expression The text, at most 512 ASCII characters.
 * @param options The dialect.
 * @returns The value's text, or why there is none. Never throws.
 */
export function evaluateArithmetic(
  expression: string,
  options: ArithmeticOptions = {},
): ArithmeticResult {
  try {
    if (expression.length > MAX_EXPRESSION_CHARACTERS) {
      throw new ArithmeticError(
        "too-long",
        `expression over ${MAX_EXPRESSION_CHARACTERS} characters`,
      );
    }
    const tokens = tokenize(expression, { extended: options.dialect === "calc" });
    return { ok: true, text: printNumber(new Parser(tokens).parse()) };
  } catch (error) {
    if (error instanceof ArithmeticError) {
      return { ok: false, problem: error.problem, message: error.message };
    }
    throw error;
  }
}

type Token =
  | { readonly kind: "number"; readonly value: Numeric; readonly at: number }
  | { readonly kind: "operator" | "open" | "close"; readonly text: string; readonly at: number };

const SPACE = /[ \t\r\n]+/y;
const OPERATOR = /\*\*|[-+*/%]/y;
const EXTENDED_OPERATOR = /\*\*|\/\/|[-+*/%]/y;
const DECIMAL = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?/y;
const EXTENDED_DECIMAL =
  /(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][-+]?\d+(?:_\d+)*)?/y;
const PREFIXED = /0(?:[xX](?:_?[0-9a-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)/y;
const WORD = /True|False/y;
/** A whole number with zeros before it, which the language of `calc` leaves out: other programs read it as octal. */
const LEADING_ZERO = /0[\d_]*[1-9][\d_]*(?![\d_.eE])/y;

function tokenize(text: string, { extended }: { readonly extended: boolean }): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const space = matchAt(SPACE, text, at);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    if (tokens.length === MAX_EXPRESSION_TOKENS) {
      throw new ArithmeticError("too-many-tokens", `over ${MAX_EXPRESSION_TOKENS} tokens`);
    }
    const [token, length] = readToken(text, at, { extended });
    tokens.push(token);
    at += length;
  }
  return tokens;
}

function readToken(
  text: string,
  at: number,
  { extended }: { readonly extended: boolean },
): [Token, number] {
  const character = text.charAt(at);
  if (character === "(") return [{ kind: "open", text: character, at }, 1];
  if (character === ")") return [{ kind: "close", text: character, at }, 1];
  const operator = matchAt(extended ? EXTENDED_OPERATOR : OPERATOR, text, at);
  if (operator !== undefined) return [{ kind: "operator", text: operator, at }, operator.length];
  const literal = (extended ? matchAt(PREFIXED, text, at) ?? matchAt(WORD, text, at) : undefined) ??
    matchAt(extended ? EXTENDED_DECIMAL : DECIMAL, text, at);
  const next = literal === undefined ? at : at + literal.length;
  const zeros = extended ? matchAt(LEADING_ZERO, text, at) : undefined;
  if (zeros !== undefined && zeros === literal) {
    throw new ArithmeticError("unexpected-character", `zero before a whole number at ${at + 1}`);
  }
  if (literal === undefined || /[\w.]/.test(text.charAt(next))) {
    throw new ArithmeticError(
      "unexpected-character",
      `unexpected character at position ${next + 1}`,
    );
  }
  return [{ kind: "number", value: readLiteral(literal), at }, literal.length];
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function readLiteral(literal: string): Numeric {
  if (literal === "True") return 1n;
  if (literal === "False") return 0n;
  const text = literal.replaceAll("_", "");
  const prefixed = /^0[xob]/i.test(text);
  const [mantissa = "", exponent] = prefixed ? [text.slice(2)] : text.split(/e/i);
  const digits = mantissa.replace(".", "").length;
  if (digits > MAX_LITERAL_DIGITS || (exponent?.length ?? 0) > MAX_LITERAL_DIGITS) {
    throw new ArithmeticError("literal-too-long", `number over ${MAX_LITERAL_DIGITS} digits`);
  }
  if (exponent !== undefined && Math.abs(Number(exponent)) > MAX_EXPONENT) {
    throw new ArithmeticError("exponent-too-large", `exponent over ${MAX_EXPONENT}`);
  }
  if (prefixed || /^\d+$/.test(text)) return BigInt(text);
  const value = Number(text);
  if (!Number.isFinite(value)) throw new ArithmeticError("result-too-large", "result too large");
  return value;
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  /** The outermost operand is not nested. */
  #depth = -1;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Numeric {
    if (this.#tokens.length === 0) throw new ArithmeticError("empty", "empty expression");
    const value = this.#sum();
    const rest = this.#tokens[this.#at];
    if (rest?.kind === "close") {
      throw new ArithmeticError("unbalanced-parenthesis", "unbalanced parenthesis");
    }
    if (rest !== undefined) throw unexpected(rest);
    return value;
  }

  #sum(): Numeric {
    let left = this.#product();
    for (let operator = this.#take("+", "-"); operator; operator = this.#take("+", "-")) {
      left = applyOperator(operator, left, this.#product());
    }
    return left;
  }

  #product(): Numeric {
    let left = this.#factor();
    for (;;) {
      const operator = this.#take("*", "/", "%", "//");
      if (operator === undefined) return left;
      left = applyOperator(operator, left, this.#factor());
    }
  }

  #factor(): Numeric {
    return this.#nested(() => {
      const sign = this.#take("+", "-");
      if (sign === undefined) return this.#power();
      const value = this.#factor();
      return sign === "-" ? negate(value) : value;
    });
  }

  #power(): Numeric {
    const base = this.#atom();
    if (this.#take("**") === undefined) return base;
    return applyOperator("**", base, this.#factor());
  }

  #atom(): Numeric {
    const token = this.#tokens[this.#at];
    if (token === undefined) {
      throw new ArithmeticError("unexpected-end", "expression ends where a number is due");
    }
    this.#at += 1;
    if (token.kind === "number") return token.value;
    if (token.kind !== "open") throw unexpected(token);
    const value = this.#sum();
    if (this.#tokens[this.#at]?.kind !== "close") {
      const found = this.#tokens[this.#at];
      if (found !== undefined) throw unexpected(found);
      throw new ArithmeticError("unbalanced-parenthesis", "unbalanced parenthesis");
    }
    this.#at += 1;
    return value;
  }

  #nested(read: () => Numeric): Numeric {
    this.#depth += 1;
    if (this.#depth > MAX_EXPRESSION_DEPTH) {
      throw new ArithmeticError("too-deep", `nested over ${MAX_EXPRESSION_DEPTH} levels`);
    }
    const value = read();
    this.#depth -= 1;
    return value;
  }

  #take(...operators: readonly string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token?.kind !== "operator" || !operators.includes(token.text)) return undefined;
    this.#at += 1;
    return token.text;
  }
}

function negate(value: Numeric): Numeric {
  return typeof value === "bigint" ? -value : -value;
}

function unexpected(token: Token): ArithmeticError {
  return new ArithmeticError("unexpected-token", `unexpected token at position ${token.at + 1}`);
}
