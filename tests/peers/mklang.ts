/**
 * Runs generated machines through Kit and through the reference interpreter of the language, and compares status, result,
 * context, trace and frames, also after a resume from the frames of the reference.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import {
  decodeFrames,
  injectInputs,
  readCase,
  resultObject,
  type RunResult,
  runScenario,
} from "../../src/machine/mod.ts";
import { type RandomCase, randomCase } from "../machine/support/random_machine.ts";
import { MissingPeer, PEERS, ROOT } from "./install.ts";
import type { Report } from "./report.ts";

/** The release that Kit is compared with. */
export const MKLANG_VERSION = "1.2.0";
const CASES = 4000;
const SHOWN = 5;

/**
 * Compares Kit with the reference interpreter.
 *
 * @param report Where the outcome goes.
 * @param options `cases`: how many; `seed`: the first one.
 */
export async function checkMklang(
  report: Report,
  options: { readonly cases?: number; readonly seed?: number } = {},
): Promise<void> {
  const folder = await installMklang();
  const first = options.seed ?? 0;
  const cases = Array.from({ length: options.cases ?? CASES }, (_, i) => randomCase(first + i));
  const [long, ...answers] = await askReference(folder, [LONG_RUN, ...cases]);
  report.pass("mklang speed", await compareSpeed(long));
  const decided = new Map<string, number>();
  let same = 0;
  const different: string[] = [];
  for (const [i, randomised] of cases.entries()) {
    const outcome = await compareCase(randomised, answers[i]);
    if (outcome === undefined) same++;
    else if ("decision" in outcome) {
      decided.set(outcome.decision, (decided.get(outcome.decision) ?? 0) + 1);
    } else different.push(`seed ${first + i}: ${outcome.difference}`);
  }
  for (const [decision, count] of decided) {
    report.pass(`mklang differs by decision: ${decision}`, `${count} machines`);
  }
  for (const line of different.slice(0, SHOWN)) report.fail("mklang", line);
  report.check(`mklang ${MKLANG_VERSION} agrees`, {
    ok: different.length === 0,
    detail: `${same} of ${cases.length} machines the same, ${different.length} different`,
  });
}

/** What the reference needs of its dependencies where no model is asked. */
const NEEDS = ["jsonschema==4.26.0", "pyyaml==6.0.3"];

/**
 * Installs the reference and what it needs, where they are missing.
 *
 * @returns The folders, as a search path of Python.
 * @throws {MissingPeer} If they cannot be had.
 */
export async function installMklang(): Promise<string> {
  const reference = [`mklang==${MKLANG_VERSION}`, "--no-deps"];
  return [
    await installInto(`${PEERS}/mklang-${MKLANG_VERSION}`, {
      marker: "mklang",
      packages: reference,
    }),
    await installInto(`${PEERS}/mklang-needs`, { marker: "jsonschema", packages: NEEDS }),
  ].join(":");
}

async function installInto(
  folder: string,
  { marker, packages }: { readonly marker: string; readonly packages: readonly string[] },
): Promise<string> {
  const present = await Deno.stat(`${folder}/${marker}`).catch(() => undefined);
  if (present !== undefined) return folder;
  const output = await new Deno.Command("python3", {
    args: ["-m", "pip", "install", "--quiet", "--target", folder, ...packages],
    stdin: "null",
  }).output().catch((error: unknown) => {
    throw new MissingPeer(`"python3" could not be run: ${String(error)}`);
  });
  if (!output.success) throw new MissingPeer(`${packages.join(" and ")} could not be installed`);
  return folder;
}

async function askReference(folder: string, cases: readonly RandomCase[]): Promise<JsonValue[]> {
  const child = new Deno.Command("python3", {
    args: [`${ROOT}/tests/peers/mklang_runner.py`],
    env: { PYTHONPATH: folder },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = cases.map((one) => `${JSON.stringify(one)}\n`).join("");
  const sent = new Response(lines).body?.pipeTo(child.stdin);
  const text = await new Response(child.stdout).text();
  await sent;
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** A run of many states with a prompt, a judge and a tool in turn. */
const LONG_RUN: RandomCase = {
  machine: {
    machine: "long",
    entry: "a",
    budget: 4000,
    states: {
      a: {
        structure: "s",
        prompt: "Use {{found}} for {{topic}}",
        output: "text",
        gates: [{ when: "it is done", then: "ok", to: "END" }, {
          when: "otherwise",
          then: "ok",
          to: "b",
        }],
      },
      b: {
        tool: "search",
        input: { q: "{{text}}" },
        output: "found",
        gates: [{ when: "otherwise", then: "ok", to: "a" }],
      },
    },
    context: { topic: "tea" },
  },
  registry: {},
  scenario: {
    llm: { produce: [], judge: ["none"] },
    tools: { search: ["leaves"] },
    hooks: {},
    input: {},
    run: {},
  },
  resumeInputs: {},
};

async function compareSpeed(answer: JsonValue | undefined): Promise<string> {
  await runScenario(...scenarioOf(LONG_RUN));
  const started = performance.now();
  await runScenario(...scenarioOf(LONG_RUN));
  const kit = performance.now() - started;
  const seconds = isJsonObject(answer) && typeof answer.seconds === "number" ? answer.seconds : NaN;
  const reference = seconds * 1000;
  const ratio = (reference / kit).toFixed(1);
  return `4000 states: Kit ${kit.toFixed(0)} ms, the reference ${
    reference.toFixed(0)
  } ms, ${ratio} to 1`;
}

/** A case as a scenario that expects nothing, with its machines read. */
function scenarioOf(one: RandomCase): Parameters<typeof runScenario> {
  const { machine, registry } = readCase({ machine: one.machine, registry: one.registry });
  return [machine, { ...one.scenario, expect: {} }, { registry }];
}

type Outcome = { readonly difference: string } | { readonly decision: string } | undefined;

async function compareCase(one: RandomCase, answer: JsonValue | undefined): Promise<Outcome> {
  if (!isJsonObject(answer)) return { difference: "the reference gave no answer" };
  const [machine, scenario, options] = scenarioOf(one);
  const run = await runScenario(machine, scenario, options);
  if (run.result === undefined) {
    return { difference: `${run.mismatches.join()} / ${answer.raised}` };
  }
  if (!isJsonObject(answer.first)) {
    return { difference: `only the reference raised ${answer.raised}` };
  }
  const parses = JSON.stringify(one).includes('"parse"');
  const first = compareResults(run.result, answer.first, { parses });
  if (first !== undefined || !isJsonObject(answer.second)) return first;
  const frames = injectInputs(decodeFrames(answer.first.frames ?? null), one.resumeInputs);
  const { cost_budget: _budget, ...limits } = isJsonObject(one.scenario.run)
    ? one.scenario.run
    : {};
  const resumed = await runScenario(machine, {
    ...one.scenario,
    expect: {},
    input: {},
    run: { ...limits, resume: JSON.parse(JSON.stringify(frames)) },
  }, options);
  if (resumed.result === undefined) return { difference: `resume: ${resumed.mismatches.join()}` };
  return compareResults(resumed.result, answer.second, { parses });
}

const COMPARED = [
  "status",
  "error",
  "result",
  "at",
  "ask",
  "reply_to",
  "diagnosis",
  "trace",
  "context",
  "frames",
  "usage",
];

function compareResults(
  run: RunResult,
  reference: JsonObject,
  facts: { readonly parses: boolean },
): Outcome {
  const ours = plain({ ...resultObject(run), context: run.context, frames: run.frames ?? null });
  const theirs = plain(reference);
  const difference = firstDifference(canonical(ours), canonical(theirs));
  if (difference === undefined) return undefined;
  const decision = explain(ours, theirs, facts);
  return decision === undefined ? { difference } : { decision };
}

function firstDifference(ours: JsonObject, theirs: JsonObject): string | undefined {
  for (const key of COMPARED) {
    const left = JSON.stringify(ours[key] ?? null);
    const right = JSON.stringify(theirs[key] ?? null);
    if (left !== right) return `${key}: Kit ${cut(left, right)}, reference ${cut(right, left)}`;
  }
  return undefined;
}

/** Differences that product.md decides: in section 3, what is dispatched and what is counted. */
function explain(
  ours: JsonObject,
  theirs: JsonObject,
  facts: { readonly parses: boolean },
): string | undefined {
  const text = JSON.stringify(ours);
  if (/"policy":"cost-exhausted"|"pending"|branch-error: cost-exhausted/.test(text)) {
    return "nothing is dispatched once the token budget is reached";
  }
  if (!facts.parses) return undefined;
  const counted = firstDifference(withoutTokens(canonical(ours)), withoutTokens(canonical(theirs)));
  if (counted === undefined || text.includes("cost-exhausted")) {
    return "tokens of failed calls are counted";
  }
  return undefined;
}

const TOKEN_KEYS: ReadonlySet<string> = new Set(["usage", "cost", "total_in", "total_out"]);

function withoutTokens(object: JsonObject): JsonObject {
  const strip = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(strip);
    if (!isJsonObject(value)) return value;
    const kept = Object.entries(value).filter(([key]) => !TOKEN_KEYS.has(key));
    return Object.fromEntries(kept.map(([key, item]) => [key, strip(item)]));
  };
  const stripped = strip(object);
  return isJsonObject(stripped) ? stripped : {};
}

function plain(value: unknown): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/** Wording that is each side's own, and keys in no fixed order. */
function canonical(value: JsonObject): JsonObject {
  const result = walk(value);
  if (!isJsonObject(result)) throw new TypeError("not an object");
  const frames = Array.isArray(result.frames) ? result.frames.filter(isJsonObject) : [];
  // The reference counts the unfinished entry of a call in outer frames.
  const masked = frames.map((frame, i) =>
    i < frames.length - 1 ? { ...frame, visits: null } : frame
  );
  return { ...result, frames: masked.length > 0 ? masked : null };
}

function walk(value: JsonValue): JsonValue {
  if (typeof value === "string") return canonicalText(value);
  if (Array.isArray(value)) return value.map(walk);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => {
    if (key === "judge_model") return [key, "m"];
    if (key === "feedback") return [key, item === ""];
    if (key === "repair_left" && Array.isArray(item)) return [key, item.map(String).sort()];
    return [key, walk(item)];
  });
  return Object.fromEntries(entries.sort(([a], [b]) => a < b ? -1 : 1));
}

const TYPES: Readonly<Record<string, string>> = {
  dict: "object",
  str: "string",
  int: "number",
  float: "number",
  bool: "boolean",
  NoneType: "null",
  list: "array",
};

const UNKNOWN =
  /"?(tool|call|hook): unknown (\w+) '([^']*)'(?: \((?:register it via run\(\w+=\.\.\.\)|this host[^)]*|not in[^)]*)\))?"?/g;

function canonicalText(text: string): string {
  // Both quote what found no script, each in its own way.
  if (/no scripted (?:produce|output)/.test(text)) return "no scripted answer";
  return text
    .replace(UNKNOWN, "$1: unknown $2 '$3'")
    .replace(/"?(over: path '[^']*' not found in context)"?/g, "$1")
    .replace(
      /\(got (dict|str|int|float|bool|NoneType|list)\)/g,
      (_, name: string) => `(got ${TYPES[name]})`,
    )
    .replace(/(parse-(?:json|list): output is not valid JSON) \([^\n]*?\)(?=$|\])/gs, "$1")
    .replace(/<\/?data-[0-9a-f]{12}>/g, "<data>");
}

function cut(text: string, other: string): string {
  let start = 0;
  while (start < text.length && text[start] === other[start]) start++;
  return text.slice(Math.max(0, start - 80), start + 160);
}
