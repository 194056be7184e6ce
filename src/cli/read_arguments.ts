/**
 * Reads a command line against the command table. Every message names what was written and what would be right.
 *
 * @module
 */
import { Arguments, UsageError } from "./arguments.ts";
import type { Command, OptionSpec, PositionalSpec } from "./command.ts";
import { nearest } from "./nearest.ts";
import { type ArgumentToken, tokenize, type TokenOption } from "./node_util.ts";

/** Flags that every command takes. */
export const COMMON_OPTIONS: readonly OptionSpec[] = [
  {
    name: "color",
    value: "WHEN",
    choices: ["auto", "always", "never"],
    description: "Colours: auto (default) on a terminal unless NO_COLOR is set",
  },
  {
    name: "log-level",
    value: "LEVEL",
    choices: ["error", "warning", "info", "debug"],
    description: "What to log on standard error (default: warning)",
  },
  { name: "help", description: "Show this help" },
];

/**
 * Reads the arguments of a command.
 *
 * @param command Its row in the table.
 * @param args What follows the command's name.
 * @returns The flags and words.
 * @throws {UsageError} On an unknown flag, a missing or needless value, a value that is not among the choices, too few
 * or too many words.
 */
export function readArguments(command: Command, args: readonly string[]): Arguments {
  const options = optionsOf(command);
  const known = new Map(options.map((option) => [option.name, option]));
  const flags = new Map<string, string[]>();
  const words: string[] = [];
  for (const token of tokenize(args, tokenOptions(options))) {
    if (token.kind === "positional") words.push(token.value);
    else addFlag(flags, { command, token, option: known.get(token.name) });
  }
  if (!flags.has("help")) checkWords(command, words);
  return new Arguments(flags, words);
}

/**
 * All flags of a command.
 *
 * @param command Its row in the table.
 * @returns Its own flags, then `--format` if it can print in several ways, then the common ones.
 */
export function optionsOf(command: Command): readonly OptionSpec[] {
  const format: OptionSpec[] = command.formats.length < 2 ? [] : [{
    name: "format",
    value: "FORMAT",
    choices: ["auto", ...command.formats],
    description: command.jsonWhenPiped === true
      ? "How to print (default: auto, json where the output is not a terminal)"
      : "How to print (default: text)",
  }];
  return [...command.options, ...format, ...COMMON_OPTIONS];
}

function tokenOptions(options: readonly OptionSpec[]): Record<string, TokenOption> {
  return Object.fromEntries(options.map((option): [string, TokenOption] => [
    option.name,
    {
      type: option.value === undefined ? "boolean" : "string",
      ...(option.name === "help" ? { short: "h" } : {}),
    },
  ]));
}

function addFlag(
  flags: Map<string, string[]>,
  found: {
    readonly command: Command;
    readonly token: Extract<ArgumentToken, { kind: "option" }>;
    readonly option: OptionSpec | undefined;
  },
): void {
  const { command, token, option } = found;
  if (option === undefined) throw unknownFlag(command, token.rawName);
  const value = flagValue(option, token);
  const before = flags.get(option.name);
  if (before === undefined) flags.set(option.name, [value]);
  else if (option.repeat === true) before.push(value);
  else throw new UsageError(`${token.rawName} was given twice`);
}

function flagValue(
  option: OptionSpec,
  token: Extract<ArgumentToken, { kind: "option" }>,
): string {
  if (option.value === undefined) {
    if (!token.inlineValue) return "";
    throw new UsageError(`${token.rawName} takes no value, but "${token.value}" was given`);
  }
  if (token.value === undefined) {
    throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${option.value}`);
  }
  if (option.choices !== undefined && !option.choices.includes(token.value)) {
    throw new UsageError(
      `${token.rawName} takes ${option.choices.join(", ")}, not "${token.value}"`,
    );
  }
  return token.value;
}

function unknownFlag(command: Command, rawName: string): UsageError {
  const names = optionsOf(command).map(({ name }) => `--${name}`);
  const near = nearest(rawName, names);
  return new UsageError(
    `kit ${command.name} has no flag "${rawName}"` +
      (near === undefined
        ? `: kit help ${command.name} lists its flags`
        : `: did you mean "${near}"?`),
  );
}

function checkWords(command: Command, words: readonly string[]): void {
  const specs = command.positionals;
  const required = specs.filter(({ optional }) => optional !== true);
  const missing = required[words.length];
  if (missing !== undefined) {
    throw new UsageError(
      `kit ${command.name} needs ${missing.name}${missing.many === true ? " (one or more)" : ""}`,
    );
  }
  const many = specs.at(-1)?.many === true;
  const extra = words[specs.length];
  if (extra !== undefined && !many) {
    throw new UsageError(`kit ${command.name} does not know what to do with "${extra}"`);
  }
  specs.forEach((spec, index) => checkChoice(spec, words[index]));
}

function checkChoice(spec: PositionalSpec, word: string | undefined): void {
  if (word === undefined || spec.choices === undefined || spec.choices.includes(word)) return;
  const near = nearest(word, spec.choices);
  throw new UsageError(
    `${spec.name} is one of ${spec.choices.join(", ")}, not "${word}"` +
      (near === undefined ? "" : `: did you mean "${near}"?`),
  );
}
