/**
 * Steps that wait for each other and for nothing else.
 *
 * @module
 */
import { deepFreeze, isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { addUsage, ConfigError, type LlmProvider } from "../llm/mod.ts";
import { fingerprint } from "./fingerprint.ts";
import {
  checkFunction,
  checkMethod,
  checkNames,
  checkNumber,
  checkProvider,
  COMMON_NAMES,
  type PatternResult,
} from "./options.ts";
import { toPlainJson } from "./plain_json.ts";
import { runPattern } from "./run_pattern.ts";
import {
  checkpointFailure,
  readCheckpoint,
  type ResumedState,
  workflowDigest,
} from "./workflow_checkpoint.ts";
import { checkOrder } from "./workflow_order.ts";
import type { WorkflowMetadata, WorkflowOptions, WorkflowStep } from "./workflow_options.ts";
import { WorkflowRun } from "./workflow_run.ts";

const DEFAULT_CONCURRENCY = 10;
const WORKFLOW_NAMES = {
  ...COMMON_NAMES,
  maxConcurrency: true,
  approvalGate: true,
  onCheckpoint: true,
  onCheckpointError: true,
  resumeFrom: true,
  checkpoints: true,
  onStep: true,
} satisfies Record<keyof WorkflowOptions, true>;

/**
 * A graph of steps. A step starts as soon as the steps that it depends on are finished; there are no levels.
 *
 * @example
 * ```ts
 * import { consensus, Workflow } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const workflow = new Workflow([
 *   { name: "facts", run: ({ input }) => `${input["topic"]} is red` },
 *   {
 *     name: "title",
 *     dependsOn: ["facts"],
 *     run: ({ provider, options, outputs }) =>
 *       consensus(provider, `Title for: ${outputs["facts"]}`, { ...options, numSamples: 1 }),
 *   },
 * ]);
 * const { value, usage } = await workflow.run(new MockProvider(["Red"]), { topic: "Mars" });
 * assertEquals(value, { facts: "Mars is red", title: "Red" });
 * assertEquals(usage.llmCalls, 1);
 * ```
 */
export class Workflow {
  readonly #steps: readonly WorkflowStep[];
  readonly #action: "workflow_step" | "plan_step";

  /**
   * Makes a workflow.
   *
   * @param steps The steps, in any order.
   * @param options `action`: what an approval gate is asked for, default `workflow_step`.
   * @throws {KitError} Code `workflow`, if names are not unique, a dependency is unknown, or steps wait for each other.
   */
  constructor(
    steps: readonly WorkflowStep[],
    options: { readonly action?: "workflow_step" | "plan_step" } = {},
  ) {
    checkOrder(steps);
    for (const step of steps) {
      checkNumber(`maxAttempts of "${step.name}"`, step.maxAttempts ?? 1, { min: 1 });
      checkNumber(`timeoutMs of "${step.name}"`, step.timeoutMs ?? 1, { min: 1, integer: false });
    }
    this.#steps = Object.freeze(steps.map((step) => step));
    this.#action = options.action ?? "workflow_step";
  }

  /** The names of the steps, in the order in which they were given. */
  get stepNames(): readonly string[] {
    return this.#steps.map(({ name }) => name);
  }

  /**
   * Runs the steps. When one fails, those under way are ended, and nothing more is started.
   *
   * @param provider Whom the steps ask.
   * @param input What the steps start with: JSON data, copied and frozen.
   * @param options How the workflow runs.
   * @returns What the steps gave, by name.
   * @throws {ConfigError} Code `argument`, if the input is not JSON data; `KitError` code `checkpoint`, if what is to be
   * gone on from does not fit or cannot be read.
   * @throws {KitError} What the failing step threw, `details.step` its name; `partial` is a {@linkcode
   * WorkflowCheckpoint} with what the finished steps gave.
   */
  async run(
    provider: LlmProvider,
    input: Readonly<Record<string, unknown>> = {},
    options: WorkflowOptions = {},
  ): Promise<PatternResult<JsonObject, WorkflowMetadata>> {
    checkNames("workflow", options, WORKFLOW_NAMES);
    checkMethod("approvalGate", options.approvalGate, "request");
    checkFunction("option onCheckpoint", options.onCheckpoint);
    checkFunction("option onStep", options.onStep);
    checkProvider(provider);
    checkNumber("maxConcurrency", options.maxConcurrency ?? 1, { min: 1 });
    const data = copyInput(input);
    const digests = {
      workflowDigest: await workflowDigest(this.#steps),
      inputDigest: await fingerprint(data),
    };
    const resumed = await this.#resume(options, digests);
    return await runPattern("workflow", options, async (run) => {
      const work = new WorkflowRun({
        run,
        provider,
        options: { ...options, maxConcurrency: options.maxConcurrency ?? DEFAULT_CONCURRENCY },
        steps: this.#steps,
        action: this.#action,
        input: data,
        digests,
        resumed,
      });
      run.keep(() => work.checkpoint());
      await work.finishAll();
      await work.forget();
      const value = deepFreeze(Object.fromEntries<JsonValue>(work.outputs()));
      const result = run.result({ value, metadata: { steps: work.reports() } });
      return resumed === undefined
        ? result
        : deepFreeze({ ...result, usage: addUsage(result.usage, resumed.usage) });
    });
  }

  async #resume(
    options: WorkflowOptions,
    digests: { readonly workflowDigest: string; readonly inputDigest: string },
  ): Promise<ResumedState | undefined> {
    const { resumeFrom, checkpoints } = options;
    const kept = resumeFrom === undefined ? await loadKept(checkpoints) ?? undefined : resumeFrom;
    return kept === undefined
      ? undefined
      : readCheckpoint(kept, { ...digests, steps: this.#steps });
  }
}

async function loadKept(checkpoints: WorkflowOptions["checkpoints"]): Promise<unknown> {
  try {
    return await checkpoints?.store.load(checkpoints.key);
  } catch (error) {
    throw checkpointFailure("read", error);
  }
}

function copyInput(input: Readonly<Record<string, unknown>>): JsonObject {
  const plain = toPlainJson(input);
  if (plain.ok && isJsonObject(plain.value)) return plain.value;
  const where = plain.ok ? "" : ` at "${plain.problem.pointer}": found ${plain.problem.found}`;
  throw new ConfigError(`Cannot start a workflow: its input is not a JSON object${where}`, {
    code: "argument",
  });
}
