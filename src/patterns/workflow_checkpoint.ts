/**
 * Checkpoints of workflows, as they come back from wherever they were kept.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { KitError, NO_USAGE, type Usage } from "../llm/mod.ts";
import { fingerprint } from "./fingerprint.ts";
import { toPlainJson } from "./plain_json.ts";
import { thrownText } from "./text_limits.ts";
import type { WorkflowStep } from "./workflow_options.ts";

/** What a run goes on with. */
export interface ResumedState {
  /** What the finished steps gave. */
  readonly outputs: ReadonlyMap<string, JsonValue>;
  /** The steps among them that were skipped. */
  readonly skipped: ReadonlySet<string>;
  /** What was spent before. */
  readonly usage: Usage;
}

/**
 * The digest of a workflow's shape: the names of its steps and what each depends on.
 *
 * @param steps The steps.
 * @returns SHA-256 in hex digits.
 */
export async function workflowDigest(steps: readonly WorkflowStep[]): Promise<string> {
  const shape = steps.map(({ name, dependsOn = [] }) => [name, [...dependsOn].sort()]);
  return await fingerprint(shape.sort());
}

/**
 * Reads a checkpoint. Nothing is coerced.
 *
 * @param value What the caller or a store gave.
 * @param wanted The digests it must have, and the steps.
 * @returns The state to go on with.
 * @throws {KitError} Code `checkpoint`, naming what does not fit.
 */
export function readCheckpoint(
  value: unknown,
  wanted: {
    readonly workflowDigest: string;
    readonly inputDigest: string;
    readonly steps: readonly WorkflowStep[];
  },
): ResumedState {
  const plain = toPlainJson(value);
  if (!plain.ok || !isJsonObject(plain.value)) throw misfit("it is not a record of JSON data");
  const record = plain.value;
  if (member(record, "version") !== 1) throw misfit("its version is not 1");
  if (member(record, "workflowDigest") !== wanted.workflowDigest) {
    throw misfit("it is of a workflow with other steps");
  }
  if (member(record, "inputDigest") !== wanted.inputDigest) {
    throw misfit("it is of a run with another input");
  }
  const outputs = readOutputs(record, wanted.steps);
  return { outputs, skipped: readSkipped(record, outputs), usage: readUsage(record) };
}

function readOutputs(
  record: JsonObject,
  steps: readonly WorkflowStep[],
): ReadonlyMap<string, JsonValue> {
  const outputs = member(record, "outputs");
  if (!isJsonObject(outputs)) throw misfit('"outputs" is not an object');
  const known = new Map(steps.map((step) => [step.name, step]));
  for (const name of Object.keys(outputs)) {
    const step = known.get(name);
    if (step === undefined) throw misfit(`it has an output of "${name}", which is no step`);
    const missing = (step.dependsOn ?? []).find((other) => !Object.hasOwn(outputs, other));
    if (missing !== undefined) {
      throw misfit(`"${name}" is finished, but "${missing}", on which it depends, is not`);
    }
  }
  return new Map(Object.entries(outputs));
}

function readSkipped(
  record: JsonObject,
  outputs: ReadonlyMap<string, JsonValue>,
): ReadonlySet<string> {
  const skipped = member(record, "skipped");
  if (!Array.isArray(skipped)) throw misfit('"skipped" is not an array');
  const names = new Set<string>();
  for (const name of skipped) {
    if (typeof name !== "string" || !outputs.has(name)) {
      throw misfit('"skipped" names what is no finished step');
    }
    names.add(name);
  }
  return names;
}

function readUsage(record: JsonObject): Usage {
  const usage = member(record, "usage");
  const counts: Record<string, number> = { ...NO_USAGE };
  for (const field of Object.keys(NO_USAGE)) {
    const count = isJsonObject(usage) ? member(usage, field) : undefined;
    if (typeof count !== "number" || count < 0) throw misfit(`"usage" has no count "${field}"`);
    counts[field] = count;
  }
  return { ...NO_USAGE, ...counts };
}

function misfit(problem: string): KitError {
  return new KitError("checkpoint", `Cannot resume the workflow: ${problem}`);
}

/**
 * The error of a store, or of a listener, that a checkpoint could not be given to.
 *
 * @param what What could not be done.
 * @param cause What it threw.
 * @returns An error of code `checkpoint`.
 */
export function checkpointFailure(what: "read" | "keep" | "forget", cause: unknown): KitError {
  return new KitError(
    "checkpoint",
    `Cannot ${what} the checkpoint of the workflow: ${thrownText(cause)}`,
    { cause },
  );
}
