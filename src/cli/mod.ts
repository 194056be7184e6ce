/**
 * The command line: one file per command, arguments in, text and exit code out.
 *
 * @module
 */
import { type Arguments, InputError, UsageError } from "./arguments.ts";
import type { Command, Format } from "./command.ts";
import type { CliContext } from "./context.ts";
import type { Envelope } from "./envelope.ts";
import { EXIT, EXIT_CODES_HELP, exitCodeOfSignal } from "./exit_codes.ts";
import { commandHelp, guide, usage } from "./help.ts";
import { nearest } from "./nearest.ts";
import { Output, printable } from "./output.ts";
import { leveled } from "./log_level.ts";
import { readArguments } from "./read_arguments.ts";
import { COMMANDS } from "./table.ts";

export type { CliContext, CliStdio, PairedServer } from "./context.ts";
export { demonstrate, type DemonstrationOptions, type Say } from "./demonstration.ts";

/**
 * Runs a command of the program.
 *
 * Never throws: what goes wrong is printed, on the standard error as text, or as JSON on the standard output where
 * `--format json` was written.
 *
 * @param args What follows the program's name.
 * @param context The outside, the streams and the version.
 * @returns The exit code: 0 done, 1 halted or findings, 2 usage or load, 3 suspended, 4 provider, 5 budget, and 128
 * plus the number of the signal that `context.signal` names.
 */
export async function runCli(args: readonly string[], context: CliContext): Promise<number> {
  const out = new Output(context.stdio, { color: colorOf(args), env: context.ports.env });
  try {
    const code = await dispatch(args, { context, out });
    return context.signal?.aborted === true ? exitCodeOfSignal(context.signal.reason) : code;
  } catch (error) {
    if (context.signal?.aborted === true) return exitCodeOfSignal(context.signal.reason);
    return await report(error, { args, context, out });
  }
}

interface Surroundings {
  readonly context: CliContext;
  readonly out: Output;
}

async function dispatch(args: readonly string[], around: Surroundings): Promise<number> {
  const { context, out } = around;
  const [word, ...rest] = args;
  if (word === undefined || word === "--help" || word === "-h") {
    await out.raw(guide(COMMANDS, context.version));
    return EXIT.ok;
  }
  if (word === "--version" || word === "-V") {
    await out.line(`kit ${context.version}`);
    return EXIT.ok;
  }
  const command = findCommand(word);
  const parsed = readArguments(command, rest);
  if (parsed.has("help")) {
    await out.raw(commandHelp(command));
    return EXIT.ok;
  }
  return await perform(command, parsed, around);
}

async function perform(
  command: Command,
  args: Arguments,
  { context, out }: Surroundings,
): Promise<number> {
  if (command.name === "help") return await help(args.positionals[0], { context, out });
  if (command.load === undefined) {
    throw new UsageError(`kit ${command.name} is served by the program itself, not from here`);
  }
  const { run } = await command.load();
  const format = formatOf(command, args, context);
  const ports = leveled(context.ports, args.value("log-level"));
  return await run({ args, format, out, context: { ...context, ports }, commands: COMMANDS });
}

async function help(topic: string | undefined, around: Surroundings): Promise<number> {
  const { context, out } = around;
  if (topic === undefined) await out.raw(guide(COMMANDS, context.version));
  else if (topic === "exit-codes") await out.raw(EXIT_CODES_HELP);
  else await out.raw(commandHelp(findCommand(topic)));
  return EXIT.ok;
}

function findCommand(word: string): Command {
  const command = COMMANDS.find(({ name }) => name === word);
  if (command !== undefined) return command;
  const near = nearest(word, COMMANDS.map(({ name }) => name));
  const advice = near === undefined ? "kit help lists the commands" : `did you mean "${near}"?`;
  throw new UsageError(
    word.startsWith("-")
      ? `Flags follow the command: "${word}" comes before one`
      : `There is no command "${word}": ${advice}`,
  );
}

function formatOf(command: Command, args: Arguments, context: CliContext): Format {
  const wanted = args.value("format") ?? "auto";
  const found = command.formats.find((format) => format === wanted);
  if (found !== undefined) return found;
  const piped = command.jsonWhenPiped === true && !context.stdio.stdoutIsTerminal;
  return piped ? "json" : command.formats[0] ?? "text";
}

/** Colours must be known before the arguments are: an error of theirs is printed too. */
function colorOf(args: readonly string[]): string {
  const value = flagIn(args, "color");
  return value === "always" || value === "never" ? value : "auto";
}

function flagIn(args: readonly string[], name: string): string | undefined {
  const index = args.findIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const found = args[index];
  if (found === undefined) return undefined;
  return found.includes("=") ? found.slice(found.indexOf("=") + 1) : args[index + 1];
}

async function report(
  error: unknown,
  { args, context, out }: Surroundings & { readonly args: readonly string[] },
): Promise<number> {
  const expected = error instanceof UsageError || error instanceof InputError ||
    (error instanceof Error && error.name === "FileError");
  const message = error instanceof Error ? error.message : String(error);
  const text = expected ? message : `Kit failed, and this is a fault of Kit: ${message}`;
  const name = args[0] ?? "";
  if (flagIn(args, "format") === "json") {
    await out.json(envelopeOf(name, { text, expected }));
  } else {
    await out.error(`${out.styleError("red", "error:")} ${printable(text)}`);
    const command = COMMANDS.find((command) => command.name === name);
    if (command !== undefined && error instanceof UsageError) await out.error(usage(command));
  }
  if (!expected && (context.ports.env.get("KIT_DEBUG") ?? "") !== "" && error instanceof Error) {
    await out.error(error.stack ?? "");
  }
  return EXIT.usage;
}

function envelopeOf(
  command: string,
  { text, expected }: { readonly text: string; readonly expected: boolean },
): Envelope {
  return {
    command,
    ok: false,
    items: [],
    diagnostics: [{
      severity: "error",
      message: text,
      code: expected ? "invalid-input" : "unexpected-error",
      path: null,
      hint: null,
    }],
    summary: {},
  };
}
