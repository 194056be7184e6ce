/**
 * The machine language for users of the library. Everything is loaded on first use, so that importing Kit for a vote
 * does not pay for machines.
 *
 * @module
 */
import type { Ledger, LlmProvider } from "../llm/mod.ts";
import type { CheckOptions } from "./check.ts";
import type { Diagnostic, Machine, Registry, Tier } from "./document.ts";
import type { EstimateOptions, RunEstimate } from "./estimate.ts";
import type { LintOptions } from "./lint.ts";
import type { RunOptions } from "./options.ts";
import type { Oracle } from "./oracle.ts";
import type { ReadOptions, ReadResult } from "./read.ts";
import type { RegistryOptions } from "./registry.ts";
import type { Frame, RunResult } from "./trace.ts";

/** How a machine is run from a program. One of `provider` and `oracle` is needed. */
export interface MachineRunOptions extends Omit<RunOptions, "oracle"> {
  /** The model of every tier, or one for each tier that the machine uses. */
  readonly provider?: LlmProvider | Readonly<Partial<Record<Tier, LlmProvider>>>;
  /** The model that decides gates; default the one of the state's tier. */
  readonly judge?: LlmProvider;
  /** Where spending is reserved and counted; default an account without caps. */
  readonly ledger?: Ledger;
  /** Answers instead of models, such as {@linkcode createScriptedOracle} makes one. */
  readonly oracle?: Oracle;
}

/**
 * Reads a machine. Every problem is found in one pass.
 *
 * @example
 * ```ts
 * import { parseMachine } from "@kit/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * const { machine, diagnostics } = await parseMachine("machine: m\nentry: a\nbudget: 1\n");
 * assertEquals(machine, undefined);
 * assertEquals(diagnostics[0]?.severity, "error");
 * ```
 *
 * @param text The document, YAML.
 * @param options How strictly.
 * @returns The machine, `undefined` if there is an error, and what was found, with positions.
 */
export async function parseMachine(text: string, options?: ReadOptions): Promise<ReadResult> {
  return await (await room()).parseMachine(text, options);
}

/**
 * Checks what the grammar cannot: states, targets, reachability, budgets.
 *
 * @example
 * ```ts
 * import { checkMachine, parseMachine } from "@kit/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * const source = `
 * machine: lost
 * entry: a
 * budget: 1
 * states:
 *   a:
 *     structure: One word.
 *     prompt: Say yes.
 *     output: text
 *     gates: [ { when: otherwise, then: ok, to: nowhere } ]
 * `;
 * const { machine } = await parseMachine(source);
 * const findings = machine === undefined ? [] : await checkMachine(machine);
 * assertEquals(findings.map(({ code }) => code), ["unknown-state", "no-path-to-end"]);
 * ```
 *
 * @param machine The machine.
 * @param options What it may call; strictness.
 * @returns What was found. An error means that it should not be run.
 */
export async function checkMachine(
  machine: Machine,
  options?: CheckOptions,
): Promise<readonly Diagnostic[]> {
  return (await room()).checkMachine(machine, options);
}

/**
 * Looks for what usually goes wrong.
 *
 * @example
 * ```ts
 * import { lintMachine, parseMachine } from "@kit/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * const source = `
 * machine: greeting
 * entry: greet
 * budget: 3
 * result: text
 * states:
 *   greet:
 *     structure: One sentence.
 *     prompt: Greet everybody.
 *     output: text
 *     gates: [ { when: otherwise, then: ok, to: END } ]
 * `;
 * const { machine } = await parseMachine(source);
 * assertEquals(machine && await lintMachine(machine), []);
 * ```
 *
 * @param machine The machine.
 * @param options What it may call; effects of tools.
 * @returns What was found, beside the findings of {@linkcode checkMachine}.
 */
export async function lintMachine(
  machine: Machine,
  options?: LintOptions,
): Promise<readonly Diagnostic[]> {
  return (await room()).lintMachine(machine, options);
}

/**
 * Tells the most that a run can cost, before it costs anything.
 *
 * @example
 * ```ts
 * import { estimateRun, parseMachine } from "@kit/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * const source = `
 * machine: greeting
 * entry: greet
 * budget: 3
 * result: text
 * states:
 *   greet:
 *     structure: One sentence.
 *     prompt: Greet everybody.
 *     output: text
 *     gates: [ { when: otherwise, then: ok, to: END } ]
 * `;
 * const { machine } = await parseMachine(source);
 * const estimate = machine && await estimateRun(machine);
 * assertEquals([estimate?.answers, estimate?.judgements], [1, 0]);
 * ```
 *
 * @param machine The machine.
 * @param options What it may call; the start context; sizes of answers.
 * @returns Ceilings of calls and tokens, or why there are none.
 */
export async function estimateRun(
  machine: Machine,
  options?: EstimateOptions,
): Promise<RunEstimate> {
  return (await room()).estimateRun(machine, options);
}

/**
 * Runs a machine. A halt is a result, not an error.
 *
 * @example
 * ```ts
 * import { runMachine } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const source = `
 * machine: greeting
 * entry: greet
 * budget: 3
 * result: text
 * context: { name: World }
 * states:
 *   greet:
 *     structure: One sentence.
 *     prompt: "Greet {{name}}."
 *     output: text
 *     gates:
 *       - { when: it names the person, then: ok, to: END }
 *       - { when: otherwise, fail: true }
 * `;
 * const provider = new MockProvider(["Hello, Ann!", '{"choice": 1}']);
 * const run = await runMachine(source, { provider, inputs: { name: "Ann" } });
 * assertEquals([run.status, run.result], ["done", "Hello, Ann!"]);
 * assertEquals(run.trace[0]?.gate, "it names the person");
 * ```
 *
 * @param machine The machine, or its document.
 * @param options Who answers, inputs, budgets, tools, hooks. Without `registry` it may call itself and the bundled machines.
 * @returns How it ended, with the trace; frames where it is suspended.
 * @throws {ConfigError} Before anything is spent: if the machine has errors, those of {@linkcode checkMachine} included
 * (`details.diagnostics`); if nobody was named who answers; if an option is out of its range or a value is no JSON.
 */
export async function runMachine(
  machine: Machine | string,
  options: MachineRunOptions = {},
): Promise<RunResult> {
  const read = await machineOf(machine);
  return await (await room()).runMachine(read, await runOptions(read, options));
}

/**
 * Goes on with a suspended run.
 *
 * @example
 * ```ts
 * import { resumeMachine, runMachine } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const source = `
 * machine: letter
 * entry: draft
 * budget: 4
 * result: text
 * states:
 *   draft:
 *     structure: One sentence.
 *     prompt: Write it.
 *     output: text
 *     gates: [ { when: otherwise, escalate: true, to: send, ask: "Send it?", reply_to: reply } ]
 *   send:
 *     structure: One sentence.
 *     prompt: "Send {{text}}, since the answer was {{reply}}."
 *     output: text
 *     gates: [ { when: otherwise, then: ok, to: END } ]
 * `;
 * const provider = new MockProvider(["Dear Ann", "Sent."]);
 * const asked = await runMachine(source, { provider, escalateSuspend: true });
 * assertEquals([asked.status, asked.ask], ["suspended", "Send it?"]);
 * const sent = await resumeMachine(source, asked.frames ?? [], { provider, inputs: { reply: "yes" } });
 * assertEquals([sent.status, sent.result], ["done", "Sent."]);
 * ```
 *
 * @param machine The machine, or its document.
 * @param frames What the suspended result had as `frames`.
 * @param options As for {@linkcode runMachine}; `inputs` are written where the run stands, such as a person's reply.
 * @returns How it ended; trace and usage include everything before the suspension.
 * @throws {ConfigError} As {@linkcode runMachine}; and if the frames are none.
 */
export async function resumeMachine(
  machine: Machine | string,
  frames: readonly Frame[],
  options: MachineRunOptions = {},
): Promise<RunResult> {
  const read = await machineOf(machine);
  return await (await room()).resumeMachine(read, frames, await runOptions(read, options));
}

/**
 * Puts machines together so that `call:` finds them by name, the bundled ones too.
 *
 * @example
 * ```ts
 * import { createRegistry, parseMachine } from "@kit/mcp";
 * import { assertEquals } from "@std/assert";
 *
 * const source = `
 * machine: greeting
 * entry: greet
 * budget: 3
 * result: text
 * states:
 *   greet:
 *     structure: One sentence.
 *     prompt: Greet everybody.
 *     output: text
 *     gates: [ { when: otherwise, then: ok, to: END } ]
 * `;
 * const { machine } = await parseMachine(source);
 * const registry = await createRegistry(machine === undefined ? [] : [machine]);
 * assertEquals(registry.get("greeting")?.budget, 3);
 * ```
 *
 * @param machines The machines; of two with one name the later wins.
 * @param options `base`: where other names are looked up; default the bundled machines.
 * @returns The registry.
 */
export async function createRegistry(
  machines: Iterable<Machine>,
  options: RegistryOptions = {},
): Promise<Registry> {
  const { createRegistry, libraryRegistry } = await room();
  return createRegistry(machines, { ...options, base: options.base ?? await libraryRegistry() });
}

async function room(): Promise<typeof import("./mod.ts")> {
  return await import("./mod.ts");
}

async function machineOf(machine: Machine | string): Promise<Machine> {
  if (typeof machine !== "string") {
    if (isMachine(machine)) return machine;
    const { ConfigError } = await import("../llm/mod.ts");
    throw new ConfigError(
      "Cannot run the machine: wanted its document, or what parseMachine gave",
      {
        code: "argument",
      },
    );
  }
  const { machine: read, diagnostics } = await parseMachine(machine);
  if (read !== undefined) return read;
  throw await refusal("Cannot read the machine", diagnostics);
}

/** What `call:` finds, with the machine itself; refuses what no run could go through. */
async function soundRegistry(machine: Machine, given: Registry | undefined): Promise<Registry> {
  const own = await createRegistry([machine], given === undefined ? {} : { base: given });
  const diagnostics = await checkMachine(machine, { registry: own });
  if (diagnostics.some(isError)) throw await refusal("Cannot run the machine", diagnostics);
  return given ?? own;
}

async function refusal(what: string, diagnostics: readonly Diagnostic[]): Promise<Error> {
  const errors = diagnostics.filter(isError);
  const first = errors[0]?.message ?? "it is empty";
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  const { ConfigError } = await import("../llm/mod.ts");
  return new ConfigError(`${what}: ${first}${more}`, { details: { diagnostics } });
}

function isError({ severity }: Diagnostic): boolean {
  return severity === "error";
}

function isMachine(value: unknown): value is Machine {
  return typeof value === "object" && value !== null && "states" in value &&
    value.states instanceof Map;
}

async function runOptions(machine: Machine, options: MachineRunOptions): Promise<RunOptions> {
  const { provider, judge, ledger, oracle, ...rest } = options;
  const registry = await soundRegistry(machine, options.registry);
  if (oracle !== undefined) return { ...rest, oracle, registry };
  if (provider === undefined) {
    const { ConfigError } = await import("../llm/mod.ts");
    throw new ConfigError('Nobody answers the machine: give the option "provider" or "oracle"');
  }
  const { createModelOracle } = await room();
  return {
    ...rest,
    registry,
    oracle: createModelOracle({
      tiers: isProvider(provider)
        ? { fast: provider, balanced: provider, reasoning: provider }
        : provider,
      ...(judge === undefined ? {} : { judge }),
      ...(ledger === undefined ? {} : { ledger }),
      ...(options.ports === undefined ? {} : { ports: options.ports }),
    }),
  };
}

function isProvider(
  provider: NonNullable<MachineRunOptions["provider"]>,
): provider is LlmProvider {
  return "complete" in provider && typeof provider.complete === "function";
}
