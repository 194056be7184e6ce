/**
 * Unquoted scalars that mean one thing under YAML 1.2, which Kit reads, and another under YAML 1.1, which other readers
 * of machines use.
 *
 * @see {@link https://yaml.org/spec/1.2.2/#103-core-schema | YAML 1.2.2, core schema}
 * @see {@link https://yaml.org/type/ | YAML 1.1 types}
 * @module
 */

/** What to say about a scalar with two readings. */
export interface OtherReading {
  /** The stable word. */
  readonly code: string;
  /** Both readings. */
  readonly message: string;
  /** How to write each. */
  readonly hint: string;
}

interface Trap {
  readonly code: string;
  readonly pattern: RegExp;
  /** What YAML 1.1 makes of it. */
  reading(source: string): string;
  /** A further fact about the way it is written. */
  readonly fact?: string;
}

/** Longest scalar that can be a trap; longer ones are prose. */
const MAX_TRAP_LENGTH = 40;

const TRAPS: readonly Trap[] = [
  {
    code: "yaml-boolean",
    pattern: /^(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)$/,
    reading: (source) => `the boolean ${/^(?:y|on)/i.test(source)}`,
  },
  {
    code: "yaml-octal",
    pattern: /^[-+]?0[0-7]+$/,
    reading: (source) => `the octal number ${decimal(source, 8)}`,
    fact: " with a leading zero",
  },
  {
    code: "yaml-octal",
    pattern: /^[-+]?0[0-9]+$/,
    reading: () => "text",
    fact: " with a leading zero",
  },
  { code: "yaml-octal", pattern: /^0o[0-7]+$/, reading: () => "text" },
  {
    code: "yaml-binary",
    pattern: /^[-+]?0b[01_]+$/,
    reading: (source) => `the number ${decimal(source.replace("0b", ""), 2)}`,
  },
  {
    code: "yaml-base60",
    pattern: /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/,
    reading: (source) => `the number ${base60(source)} in base 60`,
  },
  {
    code: "yaml-underscore",
    pattern: /^[-+]?(?:0|[1-9][0-9]*)(?:_[0-9_]*)(?:\.[0-9_]*)?$/,
    reading: (source) => `the number ${source.replaceAll("_", "")}`,
  },
  {
    code: "yaml-exponent",
    pattern: /^[-+]?(?:[0-9]+[eE][-+]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)[eE][0-9]+)$/,
    reading: () => "text",
  },
  {
    code: "yaml-date",
    pattern: /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}.*)?$/,
    reading: () => "a date",
  },
];

/**
 * Tells how YAML 1.1 reads an unquoted scalar, where that differs.
 *
 * @param source The scalar as written.
 * @param value What YAML 1.2 makes of it.
 * @returns What to say, or `undefined` if both agree.
 */
export function otherReading(source: string, value: unknown): OtherReading | undefined {
  if (source.length > MAX_TRAP_LENGTH) return undefined;
  const trap = TRAPS.find(({ pattern }) => pattern.test(source));
  if (trap === undefined) return undefined;
  const here = typeof value === "number" ? `the number ${value}` : "text";
  const hint = typeof value === "number"
    ? `Write ${value} if the number is meant, "${source}" in quotes if text is meant`
    : `Put it in quotes ("${source}") if text is meant${plainAlternative(trap.code, source)}`;
  return {
    code: trap.code,
    message: `Unquoted ${source}${trap.fact ?? ""} is ${here} here (YAML 1.2), but ${
      trap.reading(source)
    } to readers of YAML 1.1`,
    hint,
  };
}

/**
 * Gives the boolean that a YAML 1.1 word stands for.
 *
 * @param text A text that was found where a boolean is wanted.
 * @returns The boolean, or `undefined` if the text is not such a word.
 */
export function booleanOf(text: string): boolean | undefined {
  if (!/^(?:yes|no|on|off|true|false)$/i.test(text)) return undefined;
  return /^(?:yes|on|true)$/i.test(text);
}

function plainAlternative(code: string, source: string): string {
  if (code === "yaml-boolean") return `, ${booleanOf(source)} if the boolean is meant`;
  if (code === "yaml-underscore") return `, ${source.replaceAll("_", "")} if the number is meant`;
  return "";
}

function decimal(digits: string, base: number): number {
  const sign = digits.startsWith("-") ? -1 : 1;
  return sign * Number.parseInt(digits.replace(/^[-+]/, "").replaceAll("_", ""), base);
}

function base60(source: string): number {
  const sign = source.startsWith("-") ? -1 : 1;
  const parts = source.replace(/^[-+]/, "").replaceAll("_", "").split(":").map(Number);
  return sign * parts.reduce((sum, part) => sum * 60 + part, 0);
}
