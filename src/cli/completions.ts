/**
 * Shell completions, made from the command table.
 *
 * @module
 */
import { optionsOf } from "./read_arguments.ts";
import type { Command, OptionSpec } from "./command.ts";

/** Shells that completions can be made for. */
export type Shell = "bash" | "zsh" | "fish";

/** What is completed. */
export interface Vocabulary {
  /** The table. */
  readonly commands: readonly Command[];
  /** Names of machines that are offered beside files. */
  readonly machines: readonly string[];
}

/**
 * Writes the completions of a shell.
 *
 * @param shell The shell.
 * @param vocabulary The table, and the machines that have names.
 * @returns A script for the shell to load.
 */
export function completions(shell: Shell, vocabulary: Vocabulary): string {
  switch (shell) {
    case "bash":
      return bash(vocabulary);
    case "zsh":
      return zsh(vocabulary);
    case "fish":
      return fish(vocabulary);
  }
}

function bash({ commands, machines }: Vocabulary): string {
  const arms = commands.map((command) => {
    const flags = optionsOf(command);
    return `    ${command.name})
      case "$previous" in
${flags.flatMap((flag) => bashValue(flag, machines)).join("\n")}
      esac
      case "$current" in
        -*) COMPREPLY=($(compgen -W "${
      flags.map(({ name }) => `--${name}`).join(" ")
    }" -- "$current")); return ;;
      esac
      ${bashWords(command, { commands, machines })} ;;`;
  });
  return `# bash completion of kit; load it with: eval "$(kit completions bash)"
_kit() {
  local current previous command word
  COMPREPLY=()
  current=\${COMP_WORDS[COMP_CWORD]}
  previous=\${COMP_WORDS[COMP_CWORD-1]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names(commands).join(" ")} --version --help" -- "$current"))
    return
  fi
  command=\${COMP_WORDS[1]}
  case "$command" in
${arms.join("\n")}
  esac
}
complete -F _kit kit
`;
}

function bashValue(option: OptionSpec, machines: readonly string[]): string[] {
  if (option.value === undefined) return [];
  return [`        --${option.name}) ${bashReply(option, machines)}; return ;;`];
}

function bashWords(command: Command, { commands, machines }: Vocabulary): string {
  const word = command.positionals.at(-1);
  if (word === undefined) return ":";
  return bashReply(command.name === "help" ? { choices: topics(commands) } : word, machines);
}

function bashReply(wanted: Wanted, machines: readonly string[]): string {
  const words = wordsOf(wanted, machines);
  const offered = [
    ...(words.length === 0 ? [] : [`compgen -W "${words.join(" ")}" -- "$current"`]),
    ...(wanted.completion === "directory" ? ['compgen -d -- "$current"'] : []),
    ...(offersFiles(wanted) ? ['compgen -f -- "$current"'] : []),
  ];
  return offered.length === 0 ? "COMPREPLY=()" : `COMPREPLY=($(${offered.join("; ")}))`;
}

/** What a value or a word takes. */
type Wanted = Pick<OptionSpec, "completion" | "choices">;

function wordsOf({ choices, completion }: Wanted, machines: readonly string[]): readonly string[] {
  if (choices !== undefined) return choices;
  return completion === "machine" || completion === "name" ? machines : [];
}

function offersFiles({ choices, completion }: Wanted): boolean {
  return choices === undefined && (completion === "file" || completion === "machine");
}

function zsh({ commands, machines }: Vocabulary): string {
  const list = commands.map(({ name, summary }) => `    '${name}:${zshText(summary)}'`);
  const arms = commands.map((command) => {
    const flags = optionsOf(command).map((option) => `        ${zshFlag(option, machines)}`);
    const help = command.name === "help" ? { choices: topics(commands) } : {};
    const words = command.positionals.map((word) =>
      `        '${word.many === true ? "*" : word.optional === true ? ":" : ""}:${word.name}:${
        zshAction({ ...word, ...help }, machines)
      }'`
    );
    return `    ${command.name})
      _arguments \\
${[...flags, ...words].join(" \\\n")} ;;`;
  });
  return `#compdef kit
# zsh completion of kit; put it into a directory of $fpath as _kit
_kit() {
  local -a commands
  commands=(
${list.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${arms.join("\n")}
  esac
}
compdef _kit kit
`;
}

function zshFlag(option: OptionSpec, machines: readonly string[]): string {
  const repeat = option.repeat === true ? "*" : "";
  const text = `[${zshText(option.description)}]`;
  if (option.value === undefined) return `'${repeat}--${option.name}${text}'`;
  const action = zshAction(option, machines);
  return `'${repeat}--${option.name}=${text}:${option.value.replaceAll(":", "\\:")}:${action}'`;
}

function zshAction(wanted: Wanted, machines: readonly string[]): string {
  const words = wordsOf(wanted, machines);
  if (wanted.completion === "directory") return "_files -/";
  if (words.length === 0) return offersFiles(wanted) ? "_files" : "";
  // Two actions of one word are alternatives; their specifications are quoted inside the quotes of the argument.
  return offersFiles(wanted) ? `{compadd ${words.join(" ")}; _files}` : `(${words.join(" ")})`;
}

function zshText(text: string): string {
  return text.replaceAll("'", "’").replace(/[\[\]:\\]/g, "\\$&");
}

function fish({ commands, machines }: Vocabulary): string {
  const lines = ["# fish completion of kit", "complete -c kit -f"];
  for (const { name, summary } of commands) {
    lines.push(`complete -c kit -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
  }
  for (const command of commands) {
    const inside = `-n '__fish_seen_subcommand_from ${command.name}'`;
    for (const option of optionsOf(command)) {
      lines.push(
        `complete -c kit ${inside} -l ${option.name}${fishValue(option, machines)} -d ${
          quoted(option.description)
        }`,
      );
    }
    const word = command.positionals.at(-1);
    const wanted = command.name === "help" ? { choices: topics(commands) } : word ?? {};
    const words = wordsOf(wanted, machines);
    if (words.length > 0) lines.push(`complete -c kit ${inside} -a ${quoted(words.join(" "))}`);
    if (offersFiles(wanted)) lines.push(`complete -c kit ${inside} -F`);
  }
  return `${lines.join("\n")}\n`;
}

function fishValue(option: OptionSpec, machines: readonly string[]): string {
  if (option.value === undefined) return "";
  if (option.completion === "directory") return " -x -a '(__fish_complete_directories)'";
  const words = wordsOf(option, machines);
  const offered = words.length === 0 ? "" : ` -a ${quoted(words.join(" "))}`;
  return `${offersFiles(option) ? " -r -F" : " -x"}${offered}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** What `kit help` explains. */
function topics(commands: readonly Command[]): string[] {
  return [...names(commands), "exit-codes"];
}

function names(commands: readonly Command[]): string[] {
  return commands.map(({ name }) => name);
}
