/**
 * Help, made from the command table.
 *
 * @module
 */
import { optionsOf } from "./read_arguments.ts";
import type { Command, OptionSpec, PositionalSpec } from "./command.ts";

const GAP = "  ";

/**
 * The guide that `kit` prints on a terminal.
 *
 * @param commands The table.
 * @param version The program's version.
 * @returns Text that ends in a line feed.
 */
export function guide(commands: readonly Command[], version: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const rows = commands.map(({ name, summary }) => `  ${name.padEnd(width)}${GAP}${summary}`);
  return `kit ${version}: votes, tool loops and state machines for agents, over MCP and here

  kit demo                 see it work, offline
  kit init                 write a first machine in this directory
  kit run MACHINE          run one
  kit mcp                  serve MCP to a host, on standard input and output

Commands

${rows.join("\n")}

kit help COMMAND explains one; kit help exit-codes lists the exit codes; --version prints the version.
`;
}

/**
 * The help of one command.
 *
 * @param command Its row in the table.
 * @returns Text that ends in a line feed.
 */
export function commandHelp(command: Command): string {
  const options = optionsOf(command);
  const heads = options.map(flagText);
  const width = Math.max(...heads.map((head) => head.length));
  const rows = options.map((option, index) =>
    `  ${(heads[index] ?? "").padEnd(width)}${GAP}${option.description}`
  );
  const notes = command.notes === undefined ? "" : `\n${command.notes}\n`;
  return `${usage(command)}

${command.summary}.
${notes}
Flags

${rows.join("\n")}

Examples

${command.examples.map((line) => `  ${line}`).join("\n")}
`;
}

/**
 * One line that says how a command is written.
 *
 * @param command Its row in the table.
 * @returns The line, without a line feed.
 */
export function usage(command: Command): string {
  const words = command.positionals.map(wordText);
  return ["Usage: kit", command.name, ...words, "[FLAGS]"].join(" ");
}

function wordText({ name, optional, many, choices }: PositionalSpec): string {
  const word = (choices?.join("|") ?? name) + (many === true ? "…" : "");
  return optional === true ? `[${word}]` : word;
}

function flagText({ name, value, choices }: OptionSpec): string {
  if (value === undefined) return `--${name}`;
  return `--${name} ${choices?.join("|") ?? value}`;
}
