/**
 * What commissioned runs are made of: machines, a model on loopback, a folder.
 *
 * @module
 */
import { type Model, type ModelReply, startModel } from "./commission_model.ts";

/** How long a model that is to be cut off would take. */
export const NEVER_MS = 60_000;
/** Branches of the machine that is cancelled. */
export const BRANCHES = 8;

const TO_END = "[{ when: otherwise, then: ok, to: END }]";

/** One state. */
export const PLAIN = `machine: plain
entry: a
budget: 3
result: o
context: { req: "" }
states:
  a: { structure: s, prompt: "SAY plain-{{req}}", output: o, gates: ${TO_END} }
`;

/** Stops for a person between two states. */
export const ASKING = `machine: asking
entry: draft
budget: 6
result: final
states:
  draft:
    structure: s
    prompt: SAY draft
    output: d
    gates:
      - { when: otherwise, escalate: true, to: send, ask: "Send this to the customer?", reply_to: human.reply }
  send: { structure: s, prompt: "SAY sent", output: final, gates: ${TO_END} }
`;

/** Stops for a person twice. */
export const ASKING_TWICE = `machine: twice
entry: a
budget: 6
result: c
states:
  a:
    structure: s
    prompt: SAY a
    output: a
    gates: [{ when: otherwise, escalate: true, to: b, ask: "First?", reply_to: one }]
  b:
    structure: s
    prompt: SAY b
    output: b
    gates: [{ when: otherwise, escalate: true, to: c, ask: "Second?", reply_to: two }]
  c: { structure: s, prompt: "SAY c", output: c, gates: ${TO_END} }
`;

/** Branches that never end by themselves. */
export const ENDLESS = `machine: endless
entry: fan
budget: 20
context: { items: [${Array.from({ length: BRANCHES }, (_, i) => `item${i}`).join(", ")}] }
states:
  fan: { over: "{{items}}", structure: s, prompt: "DELAY ${NEVER_MS} {{item}}", output: o, gates: ${TO_END} }
`;

/** Three states of a moment each. */
export const STEADY = `machine: steady
entry: a
budget: 5
result: c
states:
  a: { structure: s, prompt: "DELAY 500 SAY a", output: a, gates: [{ when: otherwise, then: ok, to: b }] }
  b: { structure: s, prompt: "DELAY 500 SAY b", output: b, gates: [{ when: otherwise, then: ok, to: c }] }
  c: { structure: s, prompt: "DELAY 500 SAY c", output: c, gates: ${TO_END} }
`;

/** One state that takes longer than a heart may be silent. */
export const SILENT = `machine: silent
entry: long
budget: 2
result: o
states:
  long: { structure: s, prompt: "DELAY 11500 SAY late", output: o, gates: ${TO_END} }
`;

/** A judge decides. */
export const JUDGED = `machine: judged
entry: a
budget: 3
result: o
states:
  a:
    structure: s
    prompt: SAY judged
    output: o
    gates: [{ when: the output is a word, then: ok, to: END }, { when: otherwise, fail: true }]
`;

/** Wrong in more than one way. */
export const WRONG = `machine: wrong
entry: nowhere
budget: 3
result: o
states:
  a: { structure: s, prompt: "{{x}}", output: o, gates: [{ when: otherwise, then: ok, to: gone }] }
  b: { call: unheard_of, output: p, gates: [{ when: otherwise, then: ok, to: lost }] }
`;

/** A folder with machines, a folder for checkpoints, and a model. */
export interface Place extends AsyncDisposable {
  /** The folder. */
  readonly folder: string;
  /** The model. */
  readonly model: Model;
  /** What tells Kit where the model is, and keeps it out of the user's own folders. */
  readonly env: Readonly<Record<string, string>>;
}

/** Makes a place. */
export async function makePlace(): Promise<Place> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "kit-commission-" }));
  const model = startModel(answerPrompt);
  for (const name of ["project/machines", "checkpoints", "data/machines", "state", "config"]) {
    await Deno.mkdir(`${folder}/${name}`, { recursive: true });
  }
  await Deno.writeTextFile(`${folder}/project/machines/asking.mk`, ASKING);
  await Deno.writeTextFile(`${folder}/project/plain.mk`, PLAIN);
  const named = PLAIN.replace("machine: plain", "machine: named");
  await Deno.writeTextFile(`${folder}/data/machines/named.mk`, named);
  return {
    folder,
    model,
    env: {
      EXECUTIONKIT_BASE_URL: model.url,
      EXECUTIONKIT_MODEL: "loopback",
      KIT_DATA_DIR: `${folder}/data`,
      KIT_STATE_DIR: `${folder}/state`,
      KIT_CONFIG_DIR: `${folder}/config`,
    },
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Answers as the prompt says: `DELAY ms`, `SAY word`; a judge finds the first condition true. */
function answerPrompt(prompt: string): ModelReply {
  if (prompt.includes("CONDITIONS")) return { text: '{"choice": 1}', delayMs: 0 };
  return {
    delayMs: Number(/DELAY (\d+)/.exec(prompt)?.[1] ?? 0),
    text: /SAY ([\w-]+)/.exec(prompt)?.[1] ?? "R",
  };
}
