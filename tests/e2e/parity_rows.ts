/**
 * What is asked at both doors: machines, arguments, and how they end.
 *
 * @module
 */
import type { JsonObject } from "../../src/json/mod.ts";

/** What is asked at both doors. */
export interface Row {
  /** The machine: text for a file, or a name. */
  readonly machine: string;
  /** Other files of the folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** Words of the command line. */
  readonly flags?: readonly string[];
  /** The same as arguments of the tool. */
  readonly args?: JsonObject;
  /** How it ends: status, and what the error begins with. */
  readonly ends: readonly [status: string, error: string | null];
  /** What goes on from there, in order. */
  readonly then?: readonly Step[];
}

/** A resume at both doors. */
export interface Step {
  readonly flags?: readonly string[];
  readonly args?: JsonObject;
  readonly ends: readonly [status: string, error: string | null];
}

/** Ends the run. */
export const END = "[{ when: otherwise, then: ok, to: END }]";
const CATCH = "{ when: otherwise, then: ok, to: END }";

/** A machine of the states given, its first one the entry. */
export function states(text: string, head = "budget: 8"): string {
  return `machine: m\nentry: a\n${head}\nstates:\n${text}`;
}

/** A state. */
export function state(id: string, gates: string, more = 'prompt: "go"'): string {
  return `  ${id}: { structure: s, ${more}, output: ${id}, gates: ${gates} }\n`;
}

const ASK = '[{ when: otherwise, escalate: true, to: b, ask: "Sure?", reply_to: r.x }]';
/** Asks a person. */
export const ASKING = states(state("a", ASK) + state("b", END, 'prompt: "then {{r.x}}"'));
const TWICE = states(
  state("a", ASK) + state("b", ASK.replaceAll("b,", "c,").replace("Sure", "Really")) +
    state("c", END),
);
const COSTLY = states(
  state("a", "[{ when: otherwise, then: ok, to: b }]") +
    state("b", "[{ when: otherwise, then: ok, to: c }]") + state("c", END),
);
const KID = (gates: string) =>
  `machine: kid\nentry: k\nbudget: 4\nresult: k\nstates:\n${state("k", gates)}`;
const CALLING = states(`  a: { call: kid, output: a, gates: ${END} }\n`, "budget: 8\nresult: a");
const SELF =
  `machine: m\nentry: a\nbudget: 4\nstates:\n  a: { call: m, output: a, gates: ${END} }\n`;

/** Runs, and what goes on from them. */
export const RUNS: Readonly<Record<string, Row>> = {
  "done": { machine: states(state("a", END), "budget: 8\nresult: a"), ends: ["done", null] },
  "done: inputs by path": {
    machine: states(
      state("a", END, 'prompt: "go {{t.b}} {{t.n}}"'),
      "budget: 8\ncontext: { t: {} }",
    ),
    flags: ["--set", "t.b=x", "--set", "t.n=[1, 2.5]"],
    args: { inputs: { "t.b": "x", "t.n": [1, 2.5] } },
    ends: ["done", null],
  },
  "done: a judge": {
    machine: states(
      state("a", `[{ when: FIRST, then: ok, to: END }, { when: otherwise, fail: true }]`),
    ),
    ends: ["done", null],
  },
  "done: none of the conditions": {
    machine: states(state("a", `[{ when: NONE, fail: true }, ${CATCH}]`)),
    ends: ["done", null],
  },
  "done: a judge's fallback": {
    machine: states(state("a", `[{ when: ODD, fail: true }, ${CATCH}]`)),
    ends: ["done", null],
  },
  "done: a hook": {
    machine: states(
      state(
        "a",
        `[{ when: always, hook: always_true, then: ok, to: END }, { when: otherwise, fail: true }]`,
      ),
    ),
    ends: ["done", null],
  },
  "done: a repair": {
    machine: states(state("a", `[{ when: FIRST, repair: 1, to: a }, ${CATCH}]`)),
    ends: ["done", null],
  },
  "done: fan-out": {
    machine: states(
      state("a", END, 'over: "{{xs}}", prompt: "do {{item}}"'),
      "budget: 8\ncontext: { xs: [p, q, r] }",
    ),
    ends: ["done", null],
  },
  "done: samples": {
    machine: states(state("a", END, 'sample: 3, prompt: "go"')),
    ends: ["done", null],
  },
  "done: a tool": {
    machine: states(
      `  a: { tool: calc, input: { expression: "6*7" }, output: a, gates: ${END} }\n`,
    ),
    ends: ["done", null],
  },
  "done: a call": { machine: CALLING, files: { "kid.mk": KID(END) }, ends: ["done", null] },
  "done: parsed JSON": {
    machine: states(state("a", END, 'parse: json, prompt: "JSON"'), "budget: 8\nresult: a"),
    ends: ["done", null],
  },
  "done: a bundled machine by name": {
    machine: "std_cot",
    flags: ["--set", "task=add"],
    args: { inputs: { task: "add" } },
    ends: ["done", null],
  },
  "done: truncated and reported": {
    machine: states(state("a", END, 'prompt: "LENGTH"')),
    ends: ["done", null],
  },
  "gate-fail": {
    machine: states(state("a", `[{ when: FIRST, fail: true }, ${CATCH}]`)),
    ends: ["halt", "gate-fail"],
  },
  "no-gate-matched": {
    machine: states(state("a", "[{ when: NONE, then: ok, to: END }]")),
    ends: ["halt", "no-gate-matched"],
  },
  "judge-unparseable": {
    machine: states(state("a", "[{ when: ODD, then: ok, to: END }]")),
    ends: ["halt", "judge-unparseable"],
  },
  "loop-ceiling": {
    machine: states(
      state("a", `[{ when: FIRST, then: ok, to: a }, ${CATCH}]`, 'prompt: "go", max_visits: 2'),
    ),
    ends: ["halt", "loop-ceiling"],
  },
  "untrusted-control-flow": {
    machine: states(
      state("a", `[{ when: FIRST, then: ok, to: w }, ${CATCH}]`, 'prompt: "go {{req}}"') +
        `  w: { tool: write_file, input: { path: o.md, content: x }, output: d, gates: ${END} }\n`,
      'budget: 8\ncontext: { req: "" }',
    ),
    flags: ["--set", "req=hi", "--untrusted-flow", "halt"],
    args: { inputs: { req: "hi" }, on_untrusted_flow: "halt" },
    ends: ["halt", "untrusted-control-flow"],
  },
  "call-failed: gate-fail": {
    machine: CALLING,
    files: { "kid.mk": KID(`[{ when: FIRST, fail: true }, ${CATCH}]`) },
    ends: ["halt", "call-failed: gate-fail"],
  },
  "call-failed: call-depth-exceeded": { machine: SELF, ends: ["halt", "call-failed: "] },
  "refusal": { machine: states(state("a", END, 'prompt: "REFUSE"')), ends: ["halt", "refusal"] },
  "provider-error": {
    machine: states(state("a", END, 'prompt: "BROKEN"')),
    ends: ["halt", "provider-error: "],
  },
  "state-error: a judge that is refused": {
    machine: states(state("a", `[{ when: BROKEN, then: ok, to: END }, ${CATCH}]`)),
    ends: ["halt", "state-error: "],
  },
  "state-error: unknown tool": {
    machine: states(`  a: { tool: launch, output: a, gates: ${END} }\n`),
    ends: ["halt", "state-error: tool: unknown tool"],
  },
  "state-error: unknown hook": {
    machine: states(state("a", `[{ when: x, hook: nope, then: ok, to: END }, ${CATCH}]`)),
    ends: ["halt", "state-error: hook: unknown hook"],
  },
  "state-error: over a path that is missing": {
    machine: states(
      state("a", END, 'over: "{{t.xs}}", prompt: "do {{item}}"'),
      "budget: 8\ncontext: { t: {} }",
    ),
    ends: ["halt", "state-error: over: "],
  },
  "state-error: over something else than a list": {
    machine: states(
      state("a", END, 'over: "{{xs}}", prompt: "do {{item}}"'),
      "budget: 8\ncontext: { xs: 5 }",
    ),
    ends: ["halt", "state-error: over: "],
  },
  "state-error: parse-list": {
    machine: states(state("a", END, 'parse: list, prompt: "JSON"')),
    ends: ["halt", "state-error: parse-list"],
  },
  "state-error: parse-json": {
    machine: states(state("a", END, 'parse: json, prompt: "go"')),
    ends: ["halt", "state-error: parse-json"],
  },
  "done: a tool that says what was wrong": {
    machine: states(
      `  a: { tool: calc, input: { expression: "1/0" }, output: a, gates: ${END} }\n`,
    ),
    ends: ["done", null],
  },
  "state-error: truncation": {
    machine: states(state("a", END, 'prompt: "LENGTH"')),
    flags: ["--on-truncate", "halt"],
    args: { on_truncate: "halt" },
    ends: ["halt", "state-error: output-truncated"],
  },
  "escalated": {
    machine: ASKING,
    flags: ["--hitl"],
    args: { hitl: true },
    ends: ["suspended", "escalated"],
    then: [
      { ends: ["suspended", "escalated"] },
      { flags: ["--set", "r.x=yes"], args: { inputs: { "r.x": "yes" } }, ends: ["done", null] },
      {
        flags: ["--set", "r.x=yes"],
        args: { inputs: { "r.x": "yes" } },
        ends: ["error", "already-resumed"],
      },
    ],
  },
  "escalated twice": {
    machine: TWICE,
    flags: ["--hitl"],
    args: { hitl: true },
    ends: ["suspended", "escalated"],
    then: [
      {
        flags: ["--set", "r.x=one"],
        args: { inputs: { "r.x": "one" } },
        ends: ["suspended", "escalated"],
      },
      { flags: ["--set", "r.x=two"], args: { inputs: { "r.x": "two" } }, ends: ["done", null] },
    ],
  },
  "escalated below a call": {
    machine: CALLING,
    files: {
      "kid.mk": `machine: kid\nentry: a\nbudget: 4\nresult: b\nstates:\n${state("a", ASK)}${
        state("b", END)
      }`,
    },
    flags: ["--hitl"],
    args: { hitl: true },
    ends: ["suspended", "escalated"],
    then: [
      { flags: ["--set", "r.x=yes"], args: { inputs: { "r.x": "yes" } }, ends: ["done", null] },
    ],
  },
  "escalated without hitl": { machine: ASKING, ends: ["done", null] },
  "budget-exhausted": {
    machine: states(state("a", `[{ when: FIRST, then: ok, to: a }, ${CATCH}]`), "budget: 3"),
    ends: ["suspended", "budget-exhausted"],
  },
  "cost-exhausted": {
    machine: COSTLY,
    flags: ["--max-tokens", "20"],
    args: { cost_budget: 20 },
    ends: ["suspended", "cost-exhausted"],
    then: [
      { ends: ["suspended", "cost-exhausted"] },
      { flags: ["--max-tokens", "99"], args: { cost_budget: 99 }, ends: ["done", null] },
    ],
  },
  "prepare-failed: no YAML": { machine: "machine: [m", ends: ["error", "prepare-failed"] },
  "prepare-failed: not of the schema": {
    machine: "machine: m\nentry: a\nstates: 5\nbudget: no\n",
    ends: ["error", "prepare-failed"],
  },
  "prepare-failed: several errors": {
    machine: states(state("a", "[{ when: otherwise, then: ok, to: gone }]") + state("b", END)),
    ends: ["error", "prepare-failed"],
  },
  "prepare-failed: a call to nobody": { machine: CALLING, ends: ["error", "prepare-failed"] },
  "prepare-failed: an unknown name": { machine: "std_nothing", ends: ["error", "prepare-failed"] },
  "prepare-failed: an unknown provider": {
    machine: states(state("a", END)),
    flags: ["--provider", "elsewhere"],
    args: { provider: "elsewhere" },
    ends: ["error", "prepare-failed"],
  },
  "prepare-failed: strict about a version": {
    machine: `mklang: "9.9"\n${states(state("a", END))}`,
    flags: ["--strict"],
    args: { strict: true },
    ends: ["error", "prepare-failed"],
  },
};

/** Machines whose check is compared. */
export const CHECKS: Readonly<Record<string, string>> = {
  "sound": states(state("a", END), "budget: 8\nresult: a"),
  "findings": states(state("a", END, 'prompt: "go {{zz}}"') + state("c", END)),
  "errors": states(state("a", "[{ when: otherwise, then: ok, to: gone }]")),
  "not of the schema": "machine: m\nentry: a\nstates: 5\nbudget: no\n",
  "no YAML": "machine: [m",
};

/** What becomes of a suspension in a file: the text of the file and that of its machine are changed before the resume. */
export interface FileRow {
  readonly file?: (text: string) => string;
  readonly machine?: (text: string) => string;
  readonly flags?: readonly string[];
  readonly args?: JsonObject;
  readonly ends: Row["ends"];
}

const FORCE = { flags: ["--force"], args: { force: true } };

/** Suspensions in files. */
export const FILES: Readonly<Record<string, FileRow>> = {
  "resumed": { ends: ["done", null] },
  "a changed comment": { machine: (text) => `# new\n${text}`, ends: ["done", null] },
  "machine-changed": {
    machine: (text) => text.replace("then {{", "than {{"),
    ends: ["error", "machine-changed"],
  },
  "a changed machine by force": {
    machine: (text) => text.replace("then {{", "than {{"),
    ...FORCE,
    ends: ["done", null],
  },
  "resume-mismatch": {
    machine: (text) => text.replace("  b: {", "  bb: {").replace("to: b,", "to: bb,"),
    ...FORCE,
    ends: ["halt", "resume-mismatch"],
  },
  "bad-checkpoint: an edit": {
    file: (text) => text.replace('"fine"', '"FINE"'),
    ends: ["error", "bad-checkpoint"],
  },
  "bad-checkpoint: half of it": {
    file: (text) => text.slice(0, text.length / 2),
    ends: ["error", "bad-checkpoint"],
  },
  "bad-checkpoint: another format": {
    file: (text) => text.replace('"format": 1', '"format": 7'),
    ends: ["error", "bad-checkpoint"],
  },
};
