/**
 * The command table. Help, argument checking and shell completions are made from it.
 *
 * @module
 */
import type { Command, CommandModule, OptionSpec } from "./command.ts";

const CONFIG: OptionSpec = {
  name: "config",
  value: "FILE",
  completion: "file",
  description:
    "Configuration file (default: EXECUTIONKIT_*, KIT_CONFIG, ./kit.jsonc, user kit.jsonc)",
};
const PROVIDER: OptionSpec = {
  name: "provider",
  value: "NAME",
  description: 'A configured provider, or "scripted" for the offline one',
};
const SCRIPT: OptionSpec = {
  name: "script",
  value: "FILE",
  completion: "file",
  description: "Answers for the offline provider: a scenario file, its first scenario is played",
};
const SET: OptionSpec = {
  name: "set",
  value: "PATH=VALUE",
  repeat: true,
  description: "Set a context value by dotted path; JSON if it reads as JSON, else text (repeat)",
};
const MAX_TOKENS: OptionSpec = {
  name: "max-tokens",
  value: "N",
  description: "Most tokens of the run, above 0; on resume a total",
};
const CHECKPOINT: OptionSpec = {
  name: "checkpoint",
  value: "FILE",
  completion: "file",
  description: "Where to keep a suspended run; budgets then suspend instead of halting",
};
const HITL: OptionSpec = {
  name: "hitl",
  description: "Pause for a person where an escalate gate fires",
};
const STRICT: OptionSpec = {
  name: "strict",
  description: "An unknown language version is an error",
};
const ON_TRUNCATE: OptionSpec = {
  name: "on-truncate",
  value: "POLICY",
  choices: ["report", "halt"],
  description: "What a cut-off answer does (default: report)",
};
const UNTRUSTED_FLOW: OptionSpec = {
  name: "untrusted-flow",
  value: "POLICY",
  choices: ["report", "halt"],
  description: "What an effect after a decision swayed by outside data does (default: report)",
};
const WORKSPACE: OptionSpec = {
  name: "workspace",
  value: "DIR",
  completion: "directory",
  description: "The only directory that file tools see",
};
const ALLOW_WRITE: OptionSpec = {
  name: "allow-write",
  description: "File tools may write in the workspace",
};
const DETAIL: OptionSpec = {
  name: "detail",
  value: "LEVEL",
  choices: ["full", "summary"],
  description: "How much of the trace the JSON holds (default: full)",
};
const STORE: OptionSpec = {
  name: "store",
  value: "PLACE",
  description: "Where suspended runs are kept: sqlite:PATH or postgres://… (default: KIT_STORE)",
};
const MACHINE = { name: "MACHINE", completion: "machine" } as const;

const RUN: Command = {
  name: "run",
  summary: "Run a machine: a file, or the name of a bundled or installed one",
  positionals: [MACHINE],
  options: [
    SET,
    CONFIG,
    PROVIDER,
    SCRIPT,
    MAX_TOKENS,
    CHECKPOINT,
    HITL,
    STRICT,
    WORKSPACE,
    ALLOW_WRITE,
    ON_TRUNCATE,
    UNTRUSTED_FLOW,
    DETAIL,
    STORE,
    {
      name: "record",
      value: "FILE",
      completion: "file",
      description: "Keep every answer of the model, for kit test --from FILE",
    },
  ],
  formats: ["text", "json"],
  jsonWhenPiped: true,
  examples: [
    "kit run machines/hello.mk --set name=Ann",
    "kit run std_refine --set task='Explain DNS in two sentences' --max-tokens 20000",
    "kit run leave.mk --hitl --checkpoint leave.json",
  ],
};

const RESUME: Command = {
  name: "resume",
  summary: "Go on with a suspended run",
  positionals: [{ name: "CHECKPOINT", completion: "file" }],
  options: [
    SET,
    CONFIG,
    PROVIDER,
    SCRIPT,
    MAX_TOKENS,
    CHECKPOINT,
    HITL,
    {
      name: "machine",
      value: "FILE",
      completion: "machine",
      description: "The machine, where the recorded one has moved",
    },
    { name: "force", description: "Go on although the machine has changed" },
    WORKSPACE,
    ALLOW_WRITE,
    ON_TRUNCATE,
    UNTRUSTED_FLOW,
    DETAIL,
    STORE,
  ],
  formats: ["text", "json"],
  jsonWhenPiped: true,
  examples: [
    'kit resume leave.json --set decision.answer="yes, granted"',
    "kit resume leave.json --max-tokens 40000",
  ],
};

const CHECK: Command = {
  name: "check",
  summary: "Check machines: syntax, schema, states, budgets",
  positionals: [{ name: "FILE", many: true, completion: "machine" }],
  options: [STRICT],
  formats: ["text", "json", "github", "sarif"],
  examples: ["kit check machines/*.mk", "kit check --format github machines/*.mk"],
  notes:
    "With one FILE, --format json prints the object of the MCP tool check; with several, an envelope:\n" +
    "{command, ok, items: [{path, status, errors, warnings}], diagnostics, summary}. Both have ok and\n" +
    "diagnostics, which name what was found, its code, line and column.",
};

const LINT: Command = {
  name: "lint",
  summary: "Check machines and look for what usually goes wrong",
  positionals: [{ name: "FILE", many: true, completion: "machine" }],
  options: [
    { name: "strict", description: "Findings fail, and so does an unknown language version" },
    { name: "llm", description: "Ask the model too whether conditions are stable and distinct" },
    {
      name: "llm-samples",
      value: "K",
      description: "Outputs to make for each state with --llm (default: 5)",
    },
    {
      name: "llm-repeats",
      value: "R",
      description: "How often to judge each of them with --llm (default: 3)",
    },
    CONFIG,
    PROVIDER,
    SCRIPT,
  ],
  formats: ["text", "json", "github", "sarif"],
  examples: [
    "kit lint --strict machines/*.mk",
    "kit lint --format sarif machines/*.mk > lint.sarif",
  ],
};

const TEST: Command = {
  name: "test",
  summary: "Play scenarios of a machine with scripted answers, offline",
  positionals: [{ ...MACHINE, optional: true }],
  options: [
    {
      name: "script",
      value: "FILE",
      completion: "file",
      description: "Scenarios of MACHINE (default: MACHINE's name with .test.yaml)",
    },
    {
      name: "cases",
      value: "DIR",
      completion: "directory",
      description: "Conformance cases: every *.yaml directly in DIR, each with its machine",
    },
    {
      name: "from",
      value: "FILE",
      completion: "file",
      description: "Print the scenario that replays a recording of kit run --record",
    },
    { name: "coverage", description: "Name the states and gates that no scenario reached" },
  ],
  formats: ["text", "json"],
  examples: [
    "kit test machines/hello.mk --script machines/hello.test.yaml --coverage",
    "kit test --cases tests/conformance",
    "kit test --from run.json > run.test.yaml",
  ],
};

const MACHINES: Command = {
  name: "machines",
  summary: "List the machines that have names",
  positionals: [{ name: "NAME", optional: true, completion: "name" }],
  options: [{
    name: "dir",
    value: "DIR",
    completion: "directory",
    description: "List the machines of this directory too",
  }],
  formats: ["text", "json"],
  jsonWhenPiped: true,
  examples: ["kit machines", "kit machines std_refine", "kit machines --dir machines"],
  notes: "With NAME it describes one machine.",
};

const INIT: Command = {
  name: "init",
  summary: "Write a first machine, its tests and a configuration; never overwrites",
  positionals: [],
  options: [
    { name: "user", description: "In Kit's user directories instead of the current directory" },
    { name: "dir", value: "DIR", completion: "directory", description: "In this directory" },
  ],
  formats: ["text", "json"],
  examples: ["kit init", "kit init --dir my-machines"],
};

const DOCTOR: Command = {
  name: "doctor",
  summary: "Say what is configured, and what is missing",
  positionals: [],
  options: [CONFIG, PROVIDER, STORE],
  formats: ["text", "json"],
  examples: ["kit doctor", "kit doctor --store sqlite:runs.db"],
};

const DEMO: Command = {
  name: "demo",
  summary: "See it work: a server and a client in one process, offline",
  positionals: [],
  options: [],
  formats: ["text"],
  examples: ["kit demo"],
};

const RUNS: Command = {
  name: "runs",
  summary: "List the runs that a store keeps",
  positionals: [],
  options: [STORE],
  formats: ["text", "json"],
  examples: ["kit runs --store sqlite:runs.db"],
};

const MCP: Command = {
  name: "mcp",
  summary: "Serve MCP on standard input and output (also: kit without words)",
  positionals: [],
  options: [
    CONFIG,
    PROVIDER,
    SCRIPT,
    WORKSPACE,
    ALLOW_WRITE,
    {
      name: "checkpoint-dir",
      value: "DIR",
      completion: "directory",
      description: "The only directory for checkpoint files",
    },
    STORE,
    {
      name: "tools",
      value: "NAMES",
      description: "Serve only these tools, separated by commas",
    },
    { name: "tool-prefix", value: "PREFIX", description: "Put this before every tool's name" },
    {
      name: "max-message-bytes",
      value: "N",
      description: "Longest message that is read (default: 67108864)",
    },
  ],
  formats: ["text"],
  examples: ["kit mcp --tools consensus,run,resume", "kit mcp --provider scripted"],
};

const COMPLETIONS: Command = {
  name: "completions",
  summary: "Print the completions of a shell",
  positionals: [{ name: "SHELL", choices: ["bash", "zsh", "fish"] }],
  options: [],
  formats: ["text"],
  examples: [
    'eval "$(kit completions bash)"',
    "kit completions fish > ~/.config/fish/completions/kit.fish",
  ],
};

const HELP: Command = {
  name: "help",
  summary: "Explain a command, or exit-codes",
  positionals: [{ name: "TOPIC", optional: true }],
  options: [],
  formats: ["text"],
  examples: ["kit help run", "kit help exit-codes"],
};

/** All commands, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  { ...RUN, load: () => commandFile("run") },
  { ...RESUME, load: () => commandFile("resume") },
  { ...CHECK, load: () => commandFile("check") },
  { ...LINT, load: () => commandFile("lint") },
  { ...TEST, load: () => commandFile("test") },
  { ...MACHINES, load: () => commandFile("machines") },
  { ...RUNS, load: () => commandFile("runs") },
  { ...INIT, load: () => commandFile("init") },
  { ...DOCTOR, load: () => commandFile("doctor") },
  { ...DEMO, load: () => commandFile("demo") },
  MCP,
  { ...COMPLETIONS, load: () => commandFile("completions") },
  HELP,
];

/** The files of the commands, each loaded by a name that is no literal: starting one does not read the others. */
interface CommandFiles {
  readonly run: typeof import("./commands/run.ts");
  readonly resume: typeof import("./commands/resume.ts");
  readonly check: typeof import("./commands/check.ts");
  readonly lint: typeof import("./commands/lint.ts");
  readonly test: typeof import("./commands/test.ts");
  readonly machines: typeof import("./commands/machines.ts");
  readonly runs: typeof import("./commands/runs.ts");
  readonly init: typeof import("./commands/init.ts");
  readonly doctor: typeof import("./commands/doctor.ts");
  readonly demo: typeof import("./commands/demo.ts");
  readonly completions: typeof import("./commands/completions.ts");
}

async function commandFile(name: keyof CommandFiles): Promise<CommandModule> {
  const path: string = `./commands/${name}.ts`;
  const file: CommandFiles[typeof name] = await import(path);
  return file;
}
