/**
 * Running the tools that a model asks for. Whatever goes wrong with a call is an observation for the model.
 *
 * @module
 */
import {
  canonicalJson,
  cloneJson,
  type CompiledSchema,
  compileSchema,
  deepFreeze,
  type JsonObject,
  member,
  problemText,
} from "../json/mod.ts";
import {
  ConfigError,
  linkSignals,
  type OpenSpan,
  openSpan,
  raceSignal,
  type ToolCall,
  type ToolSchema,
} from "../llm/mod.ts";
import { forEachIndex } from "./pool.ts";
import type { ReactLoopOptions, ReactTool } from "./react_options.ts";
import type { PatternRun } from "./run_pattern.ts";
import { truncateText } from "./text_limits.ts";

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_NAME_CHARACTERS = 64;
const MAX_PROBLEMS_TOLD = 5;
const DEFAULT_TOOL_TIMEOUT_MS = 30_000;
const DEFAULT_TOOL_CONCURRENCY = 8;

/** A tool that is ready to be called. */
export interface PreparedTool {
  /** The tool. */
  readonly tool: ReactTool;
  /** Checks its arguments. */
  readonly schema: CompiledSchema;
}

/** What came of a call. */
export interface Observation {
  /** Whether the tool gave a result. */
  readonly ok: boolean;
  /** What the model is told, within the limit. */
  readonly output: string;
  /** Whether it was cut. */
  readonly truncated: boolean;
  /** Whether the tool was run; `shared` calls got another one's result, `rejected` ones were beyond a limit. */
  readonly kind: "executed" | "shared" | "refused" | "rejected";
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/**
 * Checks tools and compiles their schemas, before anything is spent.
 *
 * @param tools The tools.
 * @returns By name.
 * @throws {ConfigError} Code `tool_definition`, if a name is unusable or taken, or a time-out or schema cannot be used.
 */
export async function prepareTools(
  tools: readonly ReactTool[],
): Promise<ReadonlyMap<string, PreparedTool>> {
  const prepared = new Map<string, PreparedTool>();
  for (const tool of tools) {
    if (typeof tool?.name !== "string" || !TOOL_NAME.test(tool.name)) {
      throw badTool(tool, "its name must be 1 to 64 of A-Z a-z 0-9 _ -");
    }
    if (typeof tool.execute !== "function") throw badTool(tool, "it has no method execute()");
    if (prepared.has(tool.name)) throw badTool(tool, "its name is taken by another tool");
    if (tool.timeoutMs !== undefined && !(Number.isFinite(tool.timeoutMs) && tool.timeoutMs > 0)) {
      throw badTool(tool, `its timeoutMs is ${tool.timeoutMs}, wanted milliseconds above 0`);
    }
    if (member(tool.parameters, "type") !== "object") {
      throw badTool(tool, 'the root of its parameters must have type "object"');
    }
    try {
      prepared.set(tool.name, { tool, schema: await compileSchema(tool.parameters) });
    } catch (error) {
      throw badTool(tool, error instanceof Error ? error.message : String(error), error);
    }
  }
  return prepared;
}

function badTool(tool: ReactTool, problem: string, cause?: unknown): ConfigError {
  const name = truncateText(String(tool?.name), MAX_NAME_CHARACTERS).text;
  return new ConfigError(`Cannot use tool "${name}": ${problem}`, {
    code: "tool_definition",
    ...(cause === undefined ? {} : { cause }),
  });
}

/** How tools are offered to a model. */
export function toolSchemas(tools: readonly ReactTool[]): readonly ToolSchema[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
}

/** Runs the calls of one loop. */
export class ToolRunner {
  readonly #tools: ReadonlyMap<string, PreparedTool>;
  readonly #run: PatternRun;
  readonly #options: ReactLoopOptions;

  /** Made for one loop. */
  constructor(
    tools: ReadonlyMap<string, PreparedTool>,
    run: PatternRun,
    options: ReactLoopOptions,
  ) {
    this.#tools = tools;
    this.#run = run;
    this.#options = options;
  }

  /**
   * Runs the calls of a round.
   *
   * @param calls In the order of the model.
   * @param facts Which round, and how many calls may run.
   * @returns What came of each, in the same order.
   * @throws What ended the loop, once no tool runs any more.
   */
  async runAll(
    calls: readonly ToolCall[],
    facts: { readonly round: number; readonly allowed: number },
  ): Promise<readonly Observation[]> {
    const running = new Map<string, Promise<Observation>>();
    const observations: Observation[] = [];
    const limit = this.#options.toolConcurrency ?? DEFAULT_TOOL_CONCURRENCY;
    await forEachIndex(calls.length, limit, async (index) => {
      const call = calls[index];
      if (call === undefined) return;
      observations[index] = index < facts.allowed
        ? await this.#runOnce(call, facts.round, running)
        : this.#refuse(
          "rejected",
          `not run: ${calls.length} calls, at most ${facts.allowed} allowed`,
        );
    });
    return observations;
  }

  #runOnce(
    call: ToolCall,
    round: number,
    running: Map<string, Promise<Observation>>,
  ): Promise<Observation> {
    if (this.#options.dedupeIdentical !== true || call.kind !== "ok") {
      return this.#runTraced(call, round);
    }
    const key = `${call.name} ${canonicalJson(call.arguments)}`;
    const earlier = running.get(key);
    if (earlier !== undefined) return earlier.then((seen) => ({ ...seen, kind: "shared" }));
    const work = this.#runTraced(call, round);
    running.set(key, work);
    return work;
  }

  async #runTraced(call: ToolCall, round: number): Promise<Observation> {
    const { clock } = this.#run.ports;
    const started = clock.monotonic();
    const span = openSpan("tool-call", {
      tool: truncateText(call.name, MAX_NAME_CHARACTERS).text,
      toolCallId: call.id,
      round,
      ...this.#tracedArguments(call),
    }, { trace: this.#run.trace, span: this.#run.span, ports: this.#run.ports });
    try {
      const observation = await this.#runChecked(call, span);
      const capture = this.#run.trace?.captureContent === "full";
      span.end(observation.ok ? "ok" : "error", capture ? { output: observation.output } : {});
      return { ...observation, durationMs: clock.monotonic() - started };
    } catch (error) {
      span.end(this.#run.signal.aborted ? "aborted" : "error", {});
      throw error;
    }
  }

  #tracedArguments(call: ToolCall): { readonly arguments?: string } {
    const capture = this.#run.trace?.captureContent ?? "none";
    if (capture === "none" || call.kind !== "ok") return {};
    if (capture === "full") return { arguments: JSON.stringify(call.arguments) };
    const keys = Object.keys(call.arguments).map((key) => [key, "[redacted]"]);
    return { arguments: JSON.stringify(Object.fromEntries(keys)) };
  }

  /** Lookup, then arguments, then approval: nobody is asked to approve what cannot run. */
  async #runChecked(call: ToolCall, span: OpenSpan<"tool-call">): Promise<Observation> {
    const prepared = this.#tools.get(call.name);
    if (prepared === undefined) {
      const offered = [...this.#tools.keys()].join(", ");
      const name = truncateText(call.name, MAX_NAME_CHARACTERS).text;
      return this.#refuse("refused", `unknown tool "${name}"; offered: ${offered || "none"}`);
    }
    if (call.kind === "invalid") {
      return this.#refuse("refused", `argument error: ${call.problem}; the tool was not run`);
    }
    const args = deepFreeze(cloneJson(call.arguments));
    const problems = prepared.schema.validate(args).slice(0, MAX_PROBLEMS_TOLD);
    if (problems.length > 0) {
      const text = problems.map(problemText).join("; ");
      return this.#refuse("refused", `argument error: ${text}; the tool was not run`);
    }
    const refusal = await this.#askApproval(call.name, args, span);
    if (refusal !== undefined) return this.#refuse("refused", refusal);
    return await this.#execute(prepared.tool, args, call.id);
  }

  async #askApproval(
    name: string,
    args: JsonObject,
    span: OpenSpan<"tool-call">,
  ): Promise<string | undefined> {
    const gate = this.#options.approvalGate;
    if (gate === undefined) return undefined;
    const facts = { action: "tool_call", subject: name } as const;
    span.point("approval-request", facts);
    const decision = await gate.request(
      { ...facts, details: args, signal: this.#run.signal },
      { clock: this.#run.ports.clock },
    );
    span.point("approval-decide", { ...facts, ...decision });
    if (decision.approved) return undefined;
    span.end("error", { blocked: true });
    return `blocked by approval: ${decision.reason ?? "no reason given"}`;
  }

  async #execute(tool: ReactTool, args: JsonObject, toolCallId: string): Promise<Observation> {
    const timeoutMs = tool.timeoutMs ?? this.#options.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS;
    using timer = this.#run.ports.clock.deadline(timeoutMs);
    using linked = linkSignals([this.#run.signal, timer.signal]);
    const { signal } = linked;
    const { clock } = this.#run.ports;
    const started = clock.monotonic();
    const timedOut = { ok: false, output: `timed out after ${timeoutMs} ms` };
    try {
      const result = await raceSignal(start(tool, args, { signal, toolCallId }), signal);
      // work that blocked the thread kept the timer from firing
      if (clock.monotonic() - started > timeoutMs) return this.#observe("executed", timedOut);
      return this.#observe("executed", { ok: true, output: resultText(result) });
    } catch (error) {
      this.#run.signal.throwIfAborted();
      if (timer.signal.aborted) return this.#observe("executed", timedOut);
      // the class alone: what a tool says in its message may hold paths and keys
      const name = error instanceof Error ? error.name : typeof error;
      return this.#observe("executed", { ok: false, output: `failed: ${name}` });
    }
  }

  #refuse(kind: "refused" | "rejected", output: string): Observation {
    return this.#observe(kind, { ok: false, output });
  }

  #observe(
    kind: Observation["kind"],
    { ok, output }: { readonly ok: boolean; readonly output: string },
  ): Observation {
    const cut = truncateText(output, this.#options.maxObservationChars ?? Infinity);
    return { ok, output: cut.text, truncated: cut.truncated, kind, durationMs: 0 };
  }
}

async function start(
  tool: ReactTool,
  args: JsonObject,
  context: { readonly signal: AbortSignal; readonly toolCallId: string },
): Promise<unknown> {
  return await tool.execute(args, context);
}

function resultText(result: unknown): string {
  return typeof result === "string" ? result : JSON.stringify(result) ?? "";
}

/**
 * Writes an observation as data: in this form it can neither pose as instructions nor as another tool's result.
 *
 * @param tool The tool's name as the model wrote it.
 * @param observation What came of the call.
 * @returns The text of the tool message.
 */
export function observationText(tool: string, observation: Observation): string {
  const { ok, output } = observation;
  return JSON.stringify({ tool: truncateText(tool, MAX_NAME_CHARACTERS).text, ok, output });
}
