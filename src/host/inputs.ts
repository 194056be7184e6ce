/**
 * Judges what a call asks for before anything is touched: every problem at once.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { MachineReference, RequestProblem, ResumeRequest, RunRequest } from "./host.ts";

/** Longest path of an input, in characters. */
const MAX_PATH_CHARS = 1000;
/** Deepest nesting of inputs: contexts, frames and files are read back with room to spare. */
const MAX_DEPTH = 128;
const POLICIES = ["report", "halt"];

/**
 * Judges a run.
 *
 * @param request The request.
 * @param known What is wrong with it already.
 * @returns Every problem, one sentence each; of an argument that is known to be wrong nothing more is said.
 */
export function runProblems(
  request: RunRequest,
  known: readonly RequestProblem[] = [],
): readonly string[] {
  return withKnown(known, () => [...targetProblem(request, known), ...commonProblems(request)]);
}

/**
 * Judges which machine a call means.
 *
 * @param reference The machine.
 * @param known What is wrong with the call already.
 * @returns Every problem, one sentence each.
 */
export function referenceProblems(
  reference: MachineReference,
  known: readonly RequestProblem[] = [],
): readonly string[] {
  return withKnown(known, () => targetProblem(reference, known));
}

/**
 * Judges a resume.
 *
 * @param request The request.
 * @param known What is wrong with it already.
 * @returns Every problem, one sentence each; of an argument that is known to be wrong nothing more is said.
 */
export function resumeProblems(
  request: ResumeRequest,
  known: readonly RequestProblem[] = [],
): readonly string[] {
  const { checkpoint, run, cancel, inputs } = request;
  const given = givenWith(known);
  const isLook = given("run", run);
  return withKnown(known, () => [
    ...exactlyOne(["checkpoint", given("checkpoint", checkpoint)], ["run", isLook]),
    ...(cancel === true && !isLook ? [whole('"cancel" needs "run"')] : []),
    ...(given("inputs", inputs) && isLook
      ? [whole('"inputs" needs "checkpoint": a run handle only looks')]
      : []),
    ...commonProblems(request),
  ]);
}

/** Adds what is found to what is known. */
function withKnown(
  known: readonly RequestProblem[],
  find: () => readonly RequestProblem[],
): readonly string[] {
  const named = new Set(known.map(({ argument }) => argument));
  // A problem of all arguments at once, such as their size: they are not gone into.
  const found = named.has(undefined) ? [] : find();
  const more = found.filter(({ argument }) => argument === undefined || !named.has(argument));
  return [...known, ...more].map(({ message }) => message);
}

/** Whether an argument was given, be it one that cannot be read. */
function givenWith(
  known: readonly RequestProblem[],
): (argument: string, value: unknown) => boolean {
  return (argument, value) =>
    value !== undefined || known.some((problem) => problem.argument === argument);
}

function targetProblem(
  { source, path }: MachineReference,
  known: readonly RequestProblem[],
): readonly RequestProblem[] {
  const given = givenWith(known);
  return exactlyOne(["source", given("source", source)], ["path", given("path", path)]);
}

type Alternative = readonly [name: string, isGiven: boolean];

function exactlyOne(first: Alternative, second: Alternative): readonly RequestProblem[] {
  if (first[1] !== second[1]) return [];
  const which = first[1] ? "both" : "neither";
  return [whole(`Give exactly one of "${first[0]}" and "${second[0]}": found ${which}`)];
}

function whole(message: string): RequestProblem {
  return { argument: undefined, message };
}

function commonProblems(request: RunRequest | ResumeRequest): readonly RequestProblem[] {
  return [
    ...policyProblem("on_truncate", request.onTruncate),
    ...policyProblem("on_untrusted_flow", request.onUntrustedFlow),
    ...budgetProblem(request.costBudget),
    ...waitProblem(request.waitSeconds),
    ...inputProblems(request.inputs ?? {}),
  ];
}

/**
 * Reads a policy.
 *
 * @param value What was asked for.
 * @param usual What holds otherwise.
 * @returns The policy.
 */
export function policy(
  value: string | undefined,
  usual: "report" | "halt",
): "report" | "halt" {
  return value === "halt" || value === "report" ? value : usual;
}

function policyProblem(
  argument: string,
  value: string | undefined,
): readonly RequestProblem[] {
  if (value === undefined || POLICIES.includes(value)) return [];
  const message = `"${argument}" is "${value.slice(0, 40)}": write "report" or "halt"`;
  return [{ argument, message }];
}

function budgetProblem(budget: number | undefined): readonly RequestProblem[] {
  if (budget === undefined || (Number.isFinite(budget) && budget > 0)) return [];
  const message = `"cost_budget" is ${budget}: write a number of tokens above 0`;
  return [{ argument: "cost_budget", message }];
}

function waitProblem(seconds: number | undefined): readonly RequestProblem[] {
  if (seconds === undefined || (Number.isFinite(seconds) && seconds >= 0)) return [];
  const message = `"wait_seconds" is ${seconds}: write a number of seconds, or 0 for no limit`;
  return [{ argument: "wait_seconds", message }];
}

/** Level by level, since a value that is too deep must not be gone into by recursion. */
function depthOf(value: JsonValue): number {
  let level: readonly JsonValue[] = [value];
  let depth = 0;
  while (level.length > 0 && depth <= MAX_DEPTH) {
    level = level.flatMap((item) =>
      typeof item === "object" && item !== null ? Object.values(item) : []
    );
    depth++;
  }
  return depth;
}

function inputProblems(inputs: JsonObject): readonly RequestProblem[] {
  const problems: string[] = [];
  for (const path of Object.keys(inputs)) {
    const deep = path.split(".").length + depthOf(inputs[path] ?? null) > MAX_DEPTH;
    if (deep) problems.push(`"inputs" is nested over ${MAX_DEPTH} levels deep, its paths included`);
    if (path.trim() === "") problems.push('"inputs" has a blank path');
    else if (path.length > MAX_PATH_CHARS) {
      problems.push(`"inputs" has a path of ${path.length} characters, over ${MAX_PATH_CHARS}`);
    }
  }
  return problems.map((message) => ({ argument: "inputs", message }));
}
