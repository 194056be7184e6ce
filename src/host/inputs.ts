/**
 * Judges what a call asks for before anything is touched: every problem at once.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { ResumeRequest, RunRequest } from "./host.ts";

/** Longest path of an input, in characters. */
const MAX_PATH_CHARS = 1000;
/** Deepest nesting of inputs: contexts, frames and files are read back with room to spare. */
const MAX_DEPTH = 128;
const POLICIES = ["report", "halt"];

/**
 * Judges what `run` and `resume` have in common.
 *
 * @param request The request.
 * @returns Every problem, one sentence each.
 */
export function requestProblems(request: RunRequest | ResumeRequest): readonly string[] {
  return [
    ...policyProblem("on_truncate", request.onTruncate),
    ...policyProblem("on_untrusted_flow", request.onUntrustedFlow),
    ...budgetProblem(request.costBudget),
    ...waitProblem(request.waitSeconds),
    ...inputProblems(request.inputs ?? {}),
  ];
}

/**
 * Judges which run a resume means.
 *
 * @param request The request.
 * @returns Every problem, one sentence each.
 */
export function resumeProblems(request: ResumeRequest): readonly string[] {
  const { checkpoint, run, cancel, inputs } = request;
  const problems: string[] = [];
  if ((checkpoint === undefined) === (run === undefined)) {
    const which = run === undefined ? "neither" : "both";
    problems.push(`Give exactly one of "checkpoint" and "run": found ${which}`);
  }
  if (cancel === true && run === undefined) problems.push('"cancel" needs "run"');
  if (inputs !== undefined && run !== undefined) {
    problems.push('"inputs" needs "checkpoint": a run handle only looks');
  }
  return [...problems, ...requestProblems(request)];
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

function policyProblem(name: string, value: string | undefined): readonly string[] {
  if (value === undefined || POLICIES.includes(value)) return [];
  return [`"${name}" is "${value.slice(0, 40)}": write "report" or "halt"`];
}

function budgetProblem(budget: number | undefined): readonly string[] {
  if (budget === undefined || (Number.isFinite(budget) && budget > 0)) return [];
  return [`"cost_budget" is ${budget}: write a number of tokens above 0`];
}

function waitProblem(seconds: number | undefined): readonly string[] {
  if (seconds === undefined || (Number.isFinite(seconds) && seconds >= 0)) return [];
  return [`"wait_seconds" is ${seconds}: write a number of seconds, or 0 for no limit`];
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

function inputProblems(inputs: JsonObject): readonly string[] {
  const problems: string[] = [];
  for (const path of Object.keys(inputs)) {
    const deep = path.split(".").length + depthOf(inputs[path] ?? null) > MAX_DEPTH;
    if (deep) problems.push(`"inputs" is nested over ${MAX_DEPTH} levels deep, its paths included`);
    if (path.trim() === "") problems.push('"inputs" has a blank path');
    else if (path.length > MAX_PATH_CHARS) {
      problems.push(`"inputs" has a path of ${path.length} characters, over ${MAX_PATH_CHARS}`);
    }
  }
  return problems;
}
