/**
 * Steps one after another, each with an instruction, each seeing what came before.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { LlmProvider } from "../llm/mod.ts";
import type { PatternResult } from "./options.ts";
import { Workflow } from "./workflow.ts";
import type { WorkflowMetadata, WorkflowOptions, WorkflowStepContext } from "./workflow_options.ts";

/** What a step of a plan works with. `outputs` are those of all earlier steps. */
export interface PlanStepContext extends WorkflowStepContext {
  /** What is to be done. */
  readonly instruction: string;
}

/** A step of a plan. */
export interface PlanStep {
  /** Its name, unique in the plan. */
  readonly name: string;
  /** What is to be done. */
  readonly instruction: string;
  /** Most milliseconds for it; default no limit of its own. */
  readonly timeoutMs?: number;
  /** Facts for approval and people; not seen by the model. */
  readonly metadata?: JsonObject;
  /**
   * Does the work.
   *
   * @param context What it works with.
   * @returns JSON data, or a pattern's result, whose value is kept.
   */
  run(context: PlanStepContext): unknown;
}

/**
 * A list of steps: a workflow without branches, with the same checkpoints, approval and errors.
 *
 * @example
 * ```ts
 * import { Plan } from "@kit/mcp";
 * import { MockProvider } from "@kit/mcp/testing";
 * import { assertEquals } from "@std/assert";
 *
 * const plan = new Plan([
 *   { name: "count", instruction: "Count the words", run: ({ input }) => String(input["text"]).split(" ").length },
 *   { name: "double", instruction: "Double it", run: ({ outputs }) => Number(outputs["count"]) * 2 },
 * ]);
 * const { value } = await plan.run(new MockProvider([]), { text: "one two three" });
 * assertEquals(value, { count: 3, double: 6 });
 * ```
 */
export class Plan {
  readonly #workflow: Workflow;

  /**
   * Makes a plan.
   *
   * @param steps The steps, in order.
   * @throws {KitError} Code `workflow`, if there are none or names are not unique.
   */
  constructor(steps: readonly PlanStep[]) {
    const names = steps.map(({ name }) => name);
    this.#workflow = new Workflow(
      steps.map((step, index) => ({
        name: step.name,
        dependsOn: names.slice(0, index),
        metadata: { ...step.metadata, instruction: step.instruction },
        ...(step.timeoutMs === undefined ? {} : { timeoutMs: step.timeoutMs }),
        run: (context) => step.run({ ...context, instruction: step.instruction }),
      })),
      { action: "plan_step" },
    );
  }

  /**
   * Runs the steps.
   *
   * @param provider Whom the steps ask.
   * @param input What the steps start with: JSON data.
   * @param options How the plan runs.
   * @returns What the steps gave, by name.
   * @throws {KitError} As {@linkcode Workflow.run} does.
   */
  async run(
    provider: LlmProvider,
    input: Readonly<Record<string, unknown>> = {},
    options: WorkflowOptions = {},
  ): Promise<PatternResult<JsonObject, WorkflowMetadata>> {
    return await this.#workflow.run(provider, input, options);
  }
}
