/**
 * Shell completions, made from the command table.
 *
 * @module
 */
import { optionsOf } from "./read_arguments.ts";
import type { Command, Completion, OptionSpec } from "./command.ts";

/** Shells that completions can be made for. */
export type Shell = "bash" | "zsh" | "fish";

/**
 * Writes the completions of a shell.
 *
 * @param shell The shell.
 * @param commands The table.
 * @returns A script for the shell to load.
 */
export function completions(shell: Shell, commands: readonly Command[]): string {
  switch (shell) {
    case "bash":
      return bash(commands);
    case "zsh":
      return zsh(commands);
    case "fish":
      return fish(commands);
  }
}

function bash(commands: readonly Command[]): string {
  const arms = commands.map((command) => {
    const flags = optionsOf(command);
    return `    ${command.name})
      case "$previous" in
${flags.flatMap(bashValue).join("\n")}
      esac
      case "$current" in
        -*) COMPREPLY=($(compgen -W "${
      flags.map(({ name }) => `--${name}`).join(" ")
    }" -- "$current")); return ;;
      esac
      ${bashWords(command, commands)} ;;`;
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

function bashValue(option: OptionSpec): string[] {
  if (option.value === undefined) return [];
  return [`        --${option.name}) ${bashReply(option.completion, option.choices)}; return ;;`];
}

function bashWords(command: Command, commands: readonly Command[]): string {
  const word = command.positionals.at(-1);
  if (word === undefined) return ":";
  if (command.name === "help") return bashReply("none", topics(commands));
  return bashReply(word.completion, word.choices);
}

function bashReply(completion: Completion | undefined, choices?: readonly string[]): string {
  if (choices !== undefined) {
    return `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current"))`;
  }
  if (completion === "directory") return 'COMPREPLY=($(compgen -d -- "$current"))';
  if (completion === "file" || completion === "machine") {
    return 'COMPREPLY=($(compgen -f -- "$current"))';
  }
  return "COMPREPLY=()";
}

function zsh(commands: readonly Command[]): string {
  const list = commands.map(({ name, summary }) => `    '${name}:${zshText(summary)}'`);
  const arms = commands.map((command) => {
    const flags = optionsOf(command).map((option) => `        ${zshFlag(option)}`);
    const choices = command.name === "help" ? topics(commands) : undefined;
    const words = command.positionals.map((word) =>
      `        '${word.many === true ? "*" : word.optional === true ? ":" : ""}:${word.name}:${
        zshAction(word.completion, choices ?? word.choices)
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

function zshFlag(option: OptionSpec): string {
  const repeat = option.repeat === true ? "*" : "";
  const text = `[${zshText(option.description)}]`;
  if (option.value === undefined) return `'${repeat}--${option.name}${text}'`;
  const action = zshAction(option.completion, option.choices);
  return `'${repeat}--${option.name}=${text}:${option.value.replaceAll(":", "\\:")}:${action}'`;
}

function zshAction(completion: Completion | undefined, choices?: readonly string[]): string {
  if (choices !== undefined) return `(${choices.join(" ")})`;
  if (completion === "directory") return "_files -/";
  return completion === "file" || completion === "machine" ? "_files" : "";
}

function zshText(text: string): string {
  return text.replaceAll("'", "’").replace(/[\[\]:\\]/g, "\\$&");
}

function fish(commands: readonly Command[]): string {
  const lines = ["# fish completion of kit", "complete -c kit -f"];
  for (const { name, summary } of commands) {
    lines.push(`complete -c kit -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
  }
  for (const command of commands) {
    const inside = `-n '__fish_seen_subcommand_from ${command.name}'`;
    for (const option of optionsOf(command)) {
      lines.push(
        `complete -c kit ${inside} -l ${option.name}${fishValue(option)} -d ${
          quoted(option.description)
        }`,
      );
    }
    const word = command.positionals.at(-1);
    const choices = command.name === "help" ? topics(commands) : word?.choices;
    if (choices !== undefined) {
      lines.push(`complete -c kit ${inside} -a ${quoted(choices.join(" "))}`);
    } else if (word?.completion !== undefined) lines.push(`complete -c kit ${inside} -F`);
  }
  return `${lines.join("\n")}\n`;
}

function fishValue({ value, choices, completion }: OptionSpec): string {
  if (value === undefined) return "";
  if (choices !== undefined) return ` -x -a ${quoted(choices.join(" "))}`;
  if (completion === "directory") return " -x -a '(__fish_complete_directories)'";
  return completion === undefined ? " -x" : " -r -F";
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
