/**
 * The patterns of Kit and of the Python package `executionkit` on the same scripted endpoint: results, cost accounting
 * and the requests that were sent. Every difference is a decision with a name, or a failure.
 *
 * @module
 */
import {
  consensus,
  createOpenAiProvider,
  KitError,
  type LlmProvider,
  mapReduce,
  type PatternOptions,
  type PatternResult,
  reactLoop,
  type ReactTool,
  refineLoop,
  structured,
} from "../../mod.ts";
import { respond } from "./endpoint.ts";
import { makeScript, type Script, type Trait } from "./execution_kit_scripts.ts";
import { ensurePython, PEERS, ROOT } from "./install.ts";
import type { Report } from "./report.ts";

const SCRIPTS = 600;
const SHOWN = 20;
const REFERENCE_TIMEOUT_MS = 240_000;

/** What came of one script on one side. */
interface Outcome {
  /** The result, as JSON. */
  readonly value?: unknown;
  /** The score. */
  readonly score?: number | null;
  /** Name or code of what was thrown. */
  readonly error?: string;
  /** For people. */
  readonly text?: string;
  /** What was spent. */
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly llmCalls: number;
  } | null;
  /** Facts of the pattern. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Roles of the messages of each request. */
  readonly wire?: readonly string[];
}

type Difference = "value" | "score" | "error" | "cost" | "requests" | "roles" | "rounds";

/**
 * Plays the scripts through both and compares.
 *
 * @param report Collects the outcomes.
 */
export async function checkExecutionKit(report: Report): Promise<void> {
  const python = await ensurePython();
  const scripts = Array.from({ length: SCRIPTS }, (_, id) => makeScript(id));
  await using endpoint = startScripted(scripts);
  const theirs = await playReference(python, scripts, endpoint);
  const tally = new Map<string, number>();
  let shown = 0;
  for (const [index, script] of scripts.entries()) {
    const ours = await playKit(script, endpoint);
    const their = theirs[index] ?? { error: "nothing" };
    const found = compare(ours, their);
    const verdict = found.length === 0
      ? `${script.pattern} agrees`
      : explain(script, { found, ours, theirs: their });
    const key = verdict ?? "unexplained";
    tally.set(key, (tally.get(key) ?? 0) + 1);
    if (verdict === undefined && shown++ < SHOWN) {
      report.fail(
        `executionkit script ${script.id}`,
        tell(script, { found, ours, theirs: their }),
      );
    }
  }
  for (const [key, count] of [...tally].toSorted()) {
    if (key !== "unexplained") report.pass(`executionkit: ${key}`, `${count} scripts`);
  }
  report.check(`executionkit: all ${SCRIPTS} scripts agree or differ by decision`, {
    ok: !tally.has("unexplained"),
    detail: `${tally.get("unexplained") ?? 0} unexplained`,
  });
}

interface ScriptedEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Roles of the messages of each request of one script on one side. */
  wire(side: string, id: number): readonly string[];
}

function startScripted(scripts: readonly Script[]): ScriptedEndpoint {
  const seen = new Map<string, string[]>();
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const [, side = "", id = ""] = new URL(request.url).pathname.split("/");
    const body: { readonly messages: readonly { readonly role: string }[] } = await request.json();
    const key = `${side}/${id}`;
    const wire = seen.get(key) ?? [];
    seen.set(key, wire);
    const index = wire.push(body.messages.map(({ role }) => role).join(" ")) - 1;
    const replies = scripts[Number(id)]?.replies ?? [];
    return respond(replies[Math.min(index, replies.length - 1)] ?? {});
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    wire: (side, id) => seen.get(`${side}/${id}`) ?? [],
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function playReference(
  python: string,
  scripts: readonly Script[],
  endpoint: ScriptedEndpoint,
): Promise<readonly Outcome[]> {
  const file = `${PEERS}/execution_kit_scripts.json`;
  await Deno.writeTextFile(file, JSON.stringify(scripts));
  const output = await new Deno.Command(python, {
    args: [`${ROOT}/tests/peers/execution_kit_runner.py`, file, `${endpoint.url}/theirs`],
    stdin: "null",
    signal: AbortSignal.timeout(REFERENCE_TIMEOUT_MS),
  }).output();
  if (!output.success) throw new Error(new TextDecoder().decode(output.stderr).slice(-600));
  const lines = new TextDecoder().decode(output.stdout).trim().split("\n");
  return lines.map((line, index): Outcome => ({
    ...JSON.parse(line),
    wire: endpoint.wire("theirs", scripts[index]?.id ?? -1),
  }));
}

async function playKit(script: Script, endpoint: ScriptedEndpoint): Promise<Outcome> {
  const model = createOpenAiProvider({ baseUrl: `${endpoint.url}/ours/${script.id}`, model: "m" });
  try {
    const { value, score, usage, metadata } = await runPattern(script, model);
    const wire = endpoint.wire("ours", script.id);
    return { value, score: score ?? null, usage, metadata: { ...metadata }, wire };
  } catch (error) {
    if (!(error instanceof KitError)) throw error;
    const wire = endpoint.wire("ours", script.id);
    return { error: error.code, text: error.message, usage: error.usage, wire };
  }
}

function runPattern(script: Script, model: LlmProvider): Promise<PatternResult<unknown>> {
  const common: PatternOptions = {
    retry: { maxAttempts: 3, baseDelayMs: 1, maxDelayMs: 1 },
    ...(script.maxCalls === undefined ? {} : { budget: { maxCalls: script.maxCalls } }),
  };
  const option = (name: string): number => Number(script.options[name]);
  switch (script.pattern) {
    case "consensus":
      return consensus(model, "Q", {
        ...common,
        numSamples: option("n"),
        strategy: script.options["strategy"] === "unanimous" ? "unanimous" : "majority",
        normalize: "whitespace",
        maxConcurrency: 1,
      });
    case "react_loop":
      return reactLoop(model, "Q", { ...common, tools: TOOLS, maxRounds: option("maxRounds") });
    case "refine_loop":
      return refineLoop(model, "Q", {
        ...common,
        targetScore: option("target"),
        maxIterations: option("maxIterations"),
        patience: option("patience"),
        deltaThreshold: option("delta"),
      });
    case "structured":
      return structured(model, "Q", { ...common, maxRepairs: option("maxRepairs") });
    case "map_reduce":
      return mapReduce(model, itemsOf(script), {
        ...common,
        mapPrompt: "Map {item}",
        reducePrompt: "Reduce {mapped_outputs}",
        maxConcurrency: 1,
      });
  }
}

function itemsOf(script: Script): readonly string[] {
  const items = script.options["items"];
  return Array.isArray(items) ? items.map(String) : [];
}

const TOOLS: readonly ReactTool[] = [
  {
    name: "add",
    description: "Adds",
    parameters: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" } },
      required: ["a", "b"],
    },
    execute: ({ a, b }) => String(Number(a) + Number(b)),
  },
  {
    name: "upper",
    description: "Upper case",
    parameters: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
    execute: ({ text }) => String(text).toUpperCase(),
  },
];

/** What the two outcomes do not share. */
function compare(ours: Outcome, theirs: Outcome): readonly Difference[] {
  const found: Difference[] = [];
  if ((ours.wire ?? []).length !== (theirs.wire ?? []).length) found.push("requests");
  if ((ours.error === undefined) !== (theirs.error === undefined)) return [...found, "error"];
  if (ours.error !== undefined) {
    return CODES[theirs.error ?? ""]?.includes(ours.error) ? found : [...found, "error"];
  }
  if (textOf(ours.value) !== textOf(theirs.value)) found.push("value");
  if (Math.abs((ours.score ?? 0) - (theirs.score ?? 0)) > 1e-9) found.push("score");
  if (costOf(ours) !== costOf(theirs)) found.push("cost");
  if (ours.metadata?.["rounds"] !== theirs.metadata?.["rounds"]) found.push("rounds");
  return found;
}

/** Texts are compared as Kit gives them: trimmed. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim() : JSON.stringify(value);
}

function costOf({ usage }: Outcome): string {
  return `${usage?.inputTokens} in, ${usage?.outputTokens} out, ${usage?.llmCalls} calls`;
}

/** Name of their error to codes of ours that say the same. */
const CODES: Readonly<Record<string, readonly string[]>> = {
  RateLimitError: ["rate_limit"],
  ProviderError: ["server", "overloaded", "bad_response", "network"],
  PermanentError: ["auth", "bad_request", "not_found"],
  ConsensusFailedError: ["no_consensus"],
  MaxIterationsError: ["max_rounds"],
  BudgetExhaustedError: ["budget"],
  PatternError: ["structured"],
};

/** The decision that a difference follows from, or `undefined`: then it is a fault. */
function explain(
  script: Script,
  sides: {
    readonly found: readonly Difference[];
    readonly ours: Outcome;
    readonly theirs: Outcome;
  },
): string | undefined {
  const used = Math.max((sides.ours.wire ?? []).length, (sides.theirs.wire ?? []).length);
  const traits = new Set(
    Array.from(script.traits).flatMap(([index, set]) => index < used ? [...set] : []),
  );
  const pattern = script.pattern;
  if (traits.has("usage-absent") && sides.found.every((difference) => difference === "cost")) {
    return "absent usage is charged by estimate";
  }
  if (script.options["strategy"] === "unanimous" && sides.ours.error === "no_consensus") {
    return "a broken unanimous vote asks no further";
  }
  if (pattern === "refine_loop" && plateausDiffer(script, sides)) {
    return "a plateau is measured against the best score";
  }
  if (pattern === "refine_loop" && sides.theirs.error === "BudgetExhaustedError") {
    return "a refinement that runs out of its budget gives its best draft";
  }
  if (pattern === "map_reduce" && sides.theirs.error === "PermanentError") {
    return "a request refused for good ends the items that were not sent";
  }
  return DECISIONS.find((entry) => entry.pattern === pattern && traits.has(entry.trait))?.decision;
}

interface Decision {
  /** The pattern. */
  readonly pattern: Script["pattern"];
  /** What must be in the replies that were used. */
  readonly trait: Trait;
  /** What was decided. */
  readonly decision: string;
}

const DECISIONS: readonly Decision[] = [
  { pattern: "consensus", trait: "failed", decision: "a failed sample does not vote" },
  { pattern: "consensus", trait: "empty", decision: "an empty sample does not vote" },
  { pattern: "consensus", trait: "truncated", decision: "a truncated sample does not vote" },
  {
    pattern: "react_loop",
    trait: "unusable-arguments",
    decision: "unusable arguments are told to the model, not retried",
  },
  {
    pattern: "refine_loop",
    trait: "prose-score",
    decision: "a judge without a clear score is asked again, and the best draft is kept",
  },
  {
    pattern: "refine_loop",
    trait: "truncated",
    decision: "a judge without a clear score is asked again, and the best draft is kept",
  },
  { pattern: "map_reduce", trait: "empty", decision: "an answer without text is no output" },
];

/** Whether the two rules for a plateau, played on the scores of the script, give just the requests that were seen. */
function plateausDiffer(
  script: Script,
  { ours, theirs }: { readonly ours: Outcome; readonly theirs: Outcome },
): boolean {
  const answers = script.replies.filter(({ status }) => status === undefined);
  const scores = answers.flatMap(({ text }, index) => index % 2 === 1 ? [Number(text) / 10] : []);
  const rounds = (rule: (before: readonly number[], score: number) => boolean): number => {
    let stale = 0;
    for (const [round, score] of scores.entries()) {
      if (round > 0) stale = rule(scores.slice(0, round), score) ? stale + 1 : 0;
      const over = score >= Number(script.options["target"]) ||
        stale >= Number(script.options["patience"]) ||
        round >= Number(script.options["maxIterations"]);
      if (over) return 2 * (round + 1);
    }
    return NaN;
  };
  const delta = Number(script.options["delta"]);
  const beside = rounds((before, score) => Math.abs(score - (before.at(-1) ?? 0)) <= delta);
  const best = rounds((before, score) => score - Math.max(...before) <= delta);
  return answered(script, ours) === best && answered(script, theirs) === beside;
}

/** How many requests were answered, those that failed and were sent again left out. */
function answered(script: Script, { wire = [] }: Outcome): number {
  return script.replies.slice(0, wire.length).filter(({ status }) => status === undefined).length;
}

function tell(
  script: Script,
  { found, ours, theirs }: {
    readonly found: readonly Difference[];
    readonly ours: Outcome;
    readonly theirs: Outcome;
  },
): string {
  const side = (outcome: Outcome) =>
    JSON.stringify({ ...outcome, metadata: undefined, wire: outcome.wire?.length });
  const traits = [...script.traits].flatMap(([index, set]) =>
    [...set].map((trait) => `${index}:${trait}`)
  );
  return `${script.pattern} ${JSON.stringify(script.options)} cap ${script.maxCalls} differs in ${
    found.join(", ")
  }; ours ${side(ours)}; theirs ${side(theirs)}; traits ${traits.join(" ")}`;
}
