/**
 * Checks and lints generated documents with Kit and with the reference interpreter of the language, and compares whether
 * they are machines at all, errors, warnings and findings: what each is about, and their order.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import {
  checkMachine,
  createRegistry,
  type Diagnostic,
  libraryRegistry,
  lintMachine,
  type Machine,
  machineFromValue,
  type Registry,
} from "../../src/machine/mod.ts";
import { randomDocument } from "../machine/support/random_document.ts";
import { ROOT } from "./install.ts";
import { installMklang, MKLANG_VERSION } from "./mklang.ts";
import type { Report } from "./report.ts";

const CASES = 4000;
const SHOWN = 5;

/** Machines that documents can call beside the standard ones. */
const CALLED: JsonObject = {
  kid: {
    machine: "kid",
    entry: "k",
    budget: 3,
    states: {
      k: {
        tool: "send_reply",
        output: "z",
        gates: [{ when: "otherwise", then: "ok", to: "END" }],
      },
    },
  },
  kin: {
    machine: "kin",
    entry: "k",
    budget: 3,
    states: {
      k: { call: "kin", output: "z", gates: [{ when: "otherwise", then: "ok", to: "l" }] },
      l: { tool: "calc", output: "z", gates: [{ when: "otherwise", then: "ok", to: "END" }] },
    },
  },
};

/**
 * Compares the checks of Kit with those of the reference interpreter.
 *
 * @param report Where the outcome goes.
 * @param options `cases`: how many; `seed`: the first one.
 */
export async function checkMklangChecks(
  report: Report,
  options: { readonly cases?: number; readonly seed?: number } = {},
): Promise<void> {
  const searchPath = await installMklang();
  const first = options.seed ?? 0;
  const documents = Array.from(
    { length: options.cases ?? CASES },
    (_, index) => randomDocument(first + index),
  );
  const answers = await askReference(searchPath, documents);
  const base = await libraryRegistry();
  const called = Object.values(CALLED).flatMap((value) => machineFromValue(value).machine ?? []);
  let decided = 0;
  let machines = 0;
  const different: string[] = [];
  for (const [index, document] of documents.entries()) {
    const { machine } = machineFromValue(document);
    if (machine !== undefined) machines++;
    const registry = createRegistry([...called, ...(machine === undefined ? [] : [machine])], {
      base,
    });
    const outcome = compareDocument(machine, answers[index] ?? null, registry);
    if (outcome === "decided") decided++;
    else if (outcome !== undefined) different.push(`seed ${first + index}: ${outcome}`);
  }
  report.pass(
    "mklang lint differs by decision: a reply fills a key, a hook reads one",
    `${decided} documents`,
  );
  for (const line of different.slice(0, SHOWN)) report.fail("mklang lint", line);
  report.check(`mklang ${MKLANG_VERSION} agrees in check and lint`, {
    ok: different.length === 0,
    detail: `${documents.length} documents, ${machines} of them machines, ` +
      `${different.length} different`,
  });
}

async function askReference(
  searchPath: string,
  documents: readonly JsonObject[],
): Promise<JsonValue[]> {
  const child = new Deno.Command("python3", {
    args: [`${ROOT}/tests/peers/mklang_checks_runner.py`],
    env: { PYTHONPATH: searchPath },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = [CALLED, ...documents].map((one) => `${JSON.stringify(one)}\n`).join("");
  const sent = new Response(lines).body?.pipeTo(child.stdin);
  const text = await new Response(child.stdout).text();
  await sent;
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

function compareDocument(
  machine: Machine | undefined,
  answer: JsonValue,
  registry: Registry,
): string | undefined {
  if (machine === undefined || !isJsonObject(answer)) {
    if ((machine === undefined) === (answer === null)) return undefined;
    return machine === undefined ? "only the reference reads it" : "only Kit reads it";
  }
  for (const strict of [false, true]) {
    const found = checkMachine(machine, { registry, strict }).filter(isOfTheLanguage);
    const [errors, warnings] = listsOf(strict ? answer.strict : answer.check);
    const difference = differenceOf(ofSeverity(found, "error"), errors ?? []) ??
      differenceOf(ofSeverity(found, "warning"), warnings ?? []);
    if (difference !== undefined) return `check: ${difference}`;
  }
  const found = lintMachine(machine, { registry }).filter(({ code }) => code !== "call-cycle");
  const ours = found.map(({ message }) => subjectOf(message));
  const [theirs = []] = listsOf([answer.lint ?? null]);
  const difference = differenceOf(ours, theirs);
  if (difference === undefined) return undefined;
  const kept = theirs.map(subjectOf).filter((subject) =>
    ours.includes(subject) || !/^(?:root|unread) /.test(subject)
  );
  return kept.join() === ours.join() ? "decided" : `lint: ${difference}`;
}

/** Kit's check also tells of placeholders that nothing fills, which the language leaves to lint. */
function isOfTheLanguage({ code }: Diagnostic): boolean {
  return code !== "unresolved-root" && code !== "end-state";
}

function ofSeverity(found: readonly Diagnostic[], severity: "error" | "warning"): string[] {
  return found.filter((one) => one.severity === severity).map(({ message }) => subjectOf(message));
}

function listsOf(value: JsonValue | undefined): string[][] {
  if (!Array.isArray(value)) return [];
  return value.map((list) => Array.isArray(list) ? list.map(String) : []);
}

function differenceOf(ours: readonly string[], messages: readonly string[]): string | undefined {
  const theirs = messages.map(subjectOf);
  return ours.join() === theirs.join()
    ? undefined
    : `Kit [${ours.join("; ")}], reference [${theirs.join("; ")}]`;
}

/** The fixed words of messages, and what each stands for. */
const SUBJECTS: readonly (readonly [RegExp, string])[] = [
  [/^entry .* is not a state/, "entry"],
  [/gate -> unknown state/, "target"],
  [/call -> unknown machine/, "machine"],
  [/gate hook .* not declared/, "hook"],
  [/tool .* not declared/, "tool"],
  [/budget-infeasible: /, "infeasible"],
  [/headroom/, "headroom"],
  [/version-unsupported: /, "strict-version"],
  [/"0\.2"-"0\.4"/, "version"],
  [/0\.3 face/, "parse-0.3"],
  [/no reachable path to END/, "no-end"],
  [/unreachable state/, "unreachable"],
  [/result key .* not produced/, "result"],
  [/the ceiling fires before the repairs finish$/, "ceiling"],
  [/^note: machine uses escalate on/, "escalate"],
  [/effectful tool '.*' is reachable/, "effect"],
  [/sub-machine '.*' reaches an effectful/, "called-effect"],
  [/gate\(s\) after 'otherwise' can never fire/, "dead"],
  [/every gate is a repair/, "repair-only"],
  [/only `when: otherwise` gate is a repair/, "repair-catch-all"],
  [/is never read/, "unread"],
  [/not a fan-out/, "fan-out"],
  [/no context key or state output provides/, "root"],
  [/inline context map/, "field"],
  [/no-gate-matched/, "catch-all"],
  [/max_visits/, "max_visits-0.4"],
  [/parse: json/, "json-0.4"],
  [/ask|reply_to/, "ask-0.4"],
];

/** What a message is about, whatever its words: its kind, its state, and the first name in quotes or count. */
function subjectOf(message: string): string {
  const kind = SUBJECTS.find(([pattern]) => pattern.test(message))?.[1] ?? message;
  const state = /^(?:note: )?(?:state ')?([a-d])\b/.exec(message)?.[1] ?? "";
  const name = /'(?:\{\{)?([^'}]*)/.exec(message)?.[1] ?? "";
  const count = /(\d+) gate\(s\)/.exec(message)?.[1] ?? "";
  return [kind, state, NAMED.has(kind) ? name : "", count].join(" ");
}

const NAMED: ReadonlySet<string> = new Set([
  "entry",
  "target",
  "machine",
  "hook",
  "tool",
  "result",
  "effect",
  "called-effect",
  "unread",
  "root",
]);
