/**
 * Trying things out many times, and counting.
 *
 * @module
 */
import { deepFreeze } from "../json/mod.ts";
import {
  addUsage,
  ConfigError,
  KitError,
  linkSignals,
  NO_USAGE,
  notify,
  raceSignal,
  redact,
  sumUsage,
  totalTokens,
  type Usage,
} from "../llm/mod.ts";
import { ambientPorts, type Clock } from "../ports/mod.ts";
import type {
  EvalCase,
  EvalLimits,
  EvalReport,
  EvalResult,
  EvalSuiteOptions,
  EvalVerdict,
  PassRate,
} from "./eval_options.ts";
import { checkFunction, checkNames, checkNumber, requireMethod } from "./options.ts";
import { forEachIndex } from "./pool.ts";
import { thrownText, truncateText } from "./text_limits.ts";

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_REASON_CHARACTERS = 1000;
const SUITE_NAMES = {
  minAccuracy: true,
  limits: true,
  repeat: true,
  concurrency: true,
  timeoutMs: true,
  signal: true,
  clock: true,
  redact: true,
  onCase: true,
} satisfies Record<keyof EvalSuiteOptions, true>;
const LIMIT_NAMES = {
  maxCalls: true,
  maxTokens: true,
  p99Ms: true,
  p50Ms: true,
} satisfies Record<keyof EvalLimits, true>;
/** Standard deviations of a 95 % interval. */
const Z = 1.96;

/**
 * Tries every case and counts what passes. A case that throws, hangs or takes too long has failed; the others go on.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { manualPorts } from "@kit/mcp/testing";
 *
 * const report = await runEvalSuite([
 *   { name: "adds", run: () => 1 + 1, check: (sum) => sum === 2 },
 *   { name: "guesses", run: () => "maybe", check: (text) => text === "yes" ? null : "not a yes" },
 * ], { minAccuracy: 0.5, clock: manualPorts().clock });
 * assertEquals(report.summary, "1/2 passed (50.0% accuracy)");
 * assertEquals([report.passed, report.accuracyPassed], [false, true]);
 * assertEquals(report.results[1]?.reason, "not a yes");
 * ```
 *
 * @param cases The cases.
 * @param options How the suite runs.
 * @returns The report. An empty suite has not passed, nor has one that used more than its `limits`.
 * @throws {ConfigError} Code `argument`, if an option is out of range or two cases have one name.
 */
export async function runEvalSuite(
  // deno-lint-ignore no-explicit-any -- each case checks its own output, whose type nobody else needs
  cases: readonly EvalCase<any>[],
  options: EvalSuiteOptions = {},
): Promise<EvalReport> {
  checkSuite(cases, options);
  const clock = options.clock ?? ambientPorts().clock;
  const started = clock.monotonic();
  const results: EvalResult[] = [];
  const { concurrency = 1, repeat = 1 } = options;
  await forEachIndex(cases.length, concurrency, async (index) => {
    const one = cases[index];
    if (one === undefined) return;
    results[index] = await tryCase(one, { ...options, repeat, clock });
    notify(options.onCase, results[index]);
  });
  return makeReport(results, { options, durationMs: clock.monotonic() - started });
}

/**
 * The 95 % interval of Wilson for a share.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const { low, high } = passRate(9, 10);
 * assertEquals([low.toFixed(3), high.toFixed(3)], ["0.596", "0.982"]);
 * ```
 *
 * @param passed How many passed.
 * @param runs Of how many; 0 gives the rate 0 and the interval from 0 to 1.
 * @returns The share and its interval.
 */
export function passRate(passed: number, runs: number): PassRate {
  if (runs === 0) return { rate: 0, low: 0, high: 1 };
  const rate = passed / runs;
  const scale = 1 + Z * Z / runs;
  const middle = rate + Z * Z / (2 * runs);
  const spread = Z * Math.sqrt(rate * (1 - rate) / runs + Z * Z / (4 * runs * runs));
  return {
    rate,
    low: Math.max(0, (middle - spread) / scale),
    high: Math.min(1, (middle + spread) / scale),
  };
}

function checkSuite(cases: readonly EvalCase[], options: EvalSuiteOptions): void {
  checkNames("runEvalSuite", options, SUITE_NAMES);
  if (options.limits !== undefined) checkNames("limits", options.limits, LIMIT_NAMES);
  checkFunction("option onCase", options.onCase);
  checkFunction("option redact", options.redact);
  if (!Array.isArray(cases)) {
    throw new ConfigError("Cannot run the suite: wanted a list of cases", { code: "argument" });
  }
  for (const one of cases) {
    requireMethod("cases", one, "run");
    requireMethod("cases", one, "check");
  }
  checkNumber("repeat", options.repeat ?? 1, { min: 1 });
  checkNumber("concurrency", options.concurrency ?? 1, { min: 1 });
  checkNumber("minAccuracy", options.minAccuracy ?? 1, { min: 0, max: 1, integer: false });
  checkNumber("timeoutMs", options.timeoutMs ?? 1, { min: 1, integer: false });
  for (const [name, limit] of Object.entries(options.limits ?? {})) {
    checkNumber(`limits.${name}`, limit, { min: 0, integer: false });
  }
  if (new Set(cases.map(({ name }) => name)).size < cases.length) {
    throw new ConfigError("Cannot run the suite: two cases have the same name", {
      code: "argument",
    });
  }
}

interface Try {
  readonly reason: string | undefined;
  readonly usage: Usage;
}

async function tryCase(
  one: EvalCase,
  options: EvalSuiteOptions & { readonly repeat: number; readonly clock: Clock },
): Promise<EvalResult> {
  const started = options.clock.monotonic();
  const tries: Try[] = [];
  for (let run = 0; run < options.repeat; run += 1) tries.push(await tryOnce(one, options));
  const passedRuns = tries.filter(({ reason }) => reason === undefined).length;
  const reason = tries.find((attempt) => attempt.reason !== undefined)?.reason;
  return {
    name: one.name,
    passed: passedRuns === tries.length,
    runs: tries.length,
    passedRuns,
    passRate: passRate(passedRuns, tries.length),
    ...(reason === undefined
      ? {}
      : { reason: truncateText((options.redact ?? redact)(reason), MAX_REASON_CHARACTERS).text }),
    durationMs: options.clock.monotonic() - started,
    usage: sumUsage(tries.map(({ usage }) => usage)),
    ...(one.metadata === undefined ? {} : { metadata: one.metadata }),
  };
}

async function tryOnce(
  one: EvalCase,
  options: EvalSuiteOptions & { readonly clock: Clock },
): Promise<Try> {
  const timeoutMs = one.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  using timer = options.clock.deadline(timeoutMs);
  using linked = linkSignals([options.signal, timer.signal]);
  let usage = NO_USAGE;
  try {
    linked.signal.throwIfAborted();
    const output = await raceSignal(start(one, linked.signal), linked.signal);
    usage = usageOf(output);
    const verdict = await raceSignal(check(one, output), linked.signal);
    return { reason: reasonOf(verdict), usage };
  } catch (error) {
    if (timer.signal.aborted) return { reason: `took more than ${timeoutMs} ms`, usage };
    if (error instanceof KitError) usage = addUsage(usage, error.usage);
    return { reason: `failed with ${thrownText(error)}`, usage };
  }
}

async function start(one: EvalCase, signal: AbortSignal): Promise<unknown> {
  return await one.run({ signal });
}

async function check(one: EvalCase, output: unknown): Promise<EvalVerdict> {
  return await one.check(output);
}

function reasonOf(verdict: EvalVerdict): string | undefined {
  if (verdict === undefined || verdict === null || verdict === true || verdict === "") {
    return undefined;
  }
  if (verdict === false) return "the check said false";
  return typeof verdict === "string" ? verdict : `the check gave ${typeof verdict}`;
}

function usageOf(output: unknown): Usage {
  if (typeof output !== "object" || output === null || !("usage" in output)) return NO_USAGE;
  const usage = output.usage;
  if (typeof usage !== "object" || usage === null) return NO_USAGE;
  const counts = new Map(Object.entries(usage));
  const count = (name: keyof Usage): number => {
    const value: unknown = counts.get(name);
    return typeof value === "number" && Number.isFinite(value) ? value : 0;
  };
  return {
    inputTokens: count("inputTokens"),
    outputTokens: count("outputTokens"),
    llmCalls: count("llmCalls"),
    uncertainTokens: count("uncertainTokens"),
  };
}

function makeReport(
  results: readonly EvalResult[],
  facts: { readonly options: EvalSuiteOptions; readonly durationMs: number },
): EvalReport {
  const total = results.length;
  const passedCount = results.filter(({ passed }) => passed).length;
  const runs = results.reduce((sum, result) => sum + result.runs, 0);
  const accuracy = passRate(results.reduce((sum, result) => sum + result.passedRuns, 0), runs);
  const allPassed = total > 0 && passedCount === total;
  const { minAccuracy, limits = {} } = facts.options;
  const usage = sumUsage(results.map((result) => result.usage));
  const durations = results.map((result) => result.durationMs).sort((left, right) => left - right);
  const [p50Ms, p99Ms] = [percentile(durations, 0.5), percentile(durations, 0.99)];
  const used = { maxCalls: usage.llmCalls, maxTokens: totalTokens(usage), p50Ms, p99Ms };
  const exceeded = LIMITS.filter((name) => used[name] > (limits[name] ?? Infinity));
  const over = exceeded.length === 0 ? "" : `, limits passed: ${exceeded.join(", ")}`;
  return deepFreeze({
    total,
    passed: allPassed && exceeded.length === 0,
    passedCount,
    failedCount: total - passedCount,
    accuracy,
    accuracyPassed: minAccuracy === undefined
      ? allPassed
      : total > 0 && accuracy.rate >= minAccuracy,
    results,
    usage,
    durationMs: facts.durationMs,
    p50Ms,
    p99Ms,
    exceeded,
    summary: `${passedCount}/${total} passed (${
      (accuracy.rate * 100).toFixed(1)
    }% accuracy)${over}`,
  });
}

const LIMITS = ["maxCalls", "maxTokens", "p50Ms", "p99Ms"] as const;

/** The smallest value that a share of the values does not pass. */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
