// deno-lint-ignore-file camelcase -- frames and checkpoints in the spelling of their format
import { assert, assertEquals, assertFalse, assertThrows } from "@std/assert";
import { KitError } from "../../src/llm/mod.ts";
import {
  type Checkpoint,
  decodeCheckpoint,
  decodeFrames,
  encodeCheckpoint,
  type Frame,
} from "../../src/machine/mod.ts";
import { plain } from "./support/running.ts";

const FRAME: Frame = {
  machine: "m",
  state: "b",
  ctx: { k: "ü" },
  steps: 1,
  total_in: 2,
  total_out: 3,
  feedback: "",
  repair_left: [["a", 0, 1]],
  trace: [{ state: "a", tier: "fast", step: 1, gate: null, policy: "ok", to: "b" }],
  tainted: ["k"],
  external: [],
  flow_tainted: false,
  visits: { a: 1 },
};
const CHECKPOINT: Checkpoint = {
  format: 1,
  mklang_version: "0.1.0",
  created: "2026-03-04T09:05:06+00:00",
  machine: "m",
  machine_path: "m.mk",
  machine_sha256: "ab",
  reason: "escalated",
  cost_budget: 100,
  hitl: true,
  frames: [FRAME],
  run_id: "r1",
  fingerprint: "ff",
};

Deno.test("encodeCheckpoint() writes the members in the order of the format, indented by 2, non-ASCII kept", () => {
  const text = encodeCheckpoint(CHECKPOINT);
  assert(text.startsWith('{\n  "format": 1,\n  "mklang_version": "0.1.0",\n'));
  assert(text.includes('"k": "ü"'));
  assert(text.endsWith("}\n"));
  assertEquals(Object.keys(JSON.parse(text)), [
    "format",
    "mklang_version",
    "created",
    "machine",
    "machine_path",
    "machine_sha256",
    "reason",
    "cost_budget",
    "hitl",
    "frames",
    "run_id",
    "fingerprint",
  ]);
});

Deno.test("decodeCheckpoint() gives back what was encoded, unknown members too", () => {
  const more = { ...CHECKPOINT, later: { x: [1] } };
  assertEquals(plain(decodeCheckpoint(encodeCheckpoint(more))), plain(more));
});

Deno.test("decodeCheckpoint() reads a file of the reference program, without Kit's members", () => {
  const { flow_tainted: _flow, visits: _visits, tainted: _tainted, external: _external, ...frame } =
    FRAME;
  const text = JSON.stringify({
    format: 1,
    mklang_version: "1.2.0",
    created: "2026-03-04T09:05:06+00:00",
    machine: "m",
    machine_path: "std_cot",
    machine_sha256: null,
    reason: "budget-exhausted",
    cost_budget: null,
    hitl: false,
    frames: [frame],
  });
  const { frames, machine_sha256 } = decodeCheckpoint(text);
  assertEquals(machine_sha256, null);
  assertEquals(plain(frames), [plain(frame)]);
});

Deno.test("decodeCheckpoint() takes back the entry of a call under way, which the reference program counts", () => {
  const outer: Frame = { ...FRAME, state: "call", visits: { a: 1, call: 2 } };
  const inner: Frame = { ...FRAME, state: "call", visits: { call: 1 } };
  const visitsOf = (checkpoint: Checkpoint) =>
    decodeCheckpoint(encodeCheckpoint(checkpoint)).frames.map(({ visits }) => plain(visits ?? {}));
  const { run_id: _run, fingerprint: _fingerprint, ...rest } = CHECKPOINT;
  const foreign = { ...rest, mklang_version: "1.2.0" };
  assertEquals(visitsOf({ ...foreign, frames: [outer, inner] }), [
    { a: 1, call: 1 },
    { call: 1 },
  ]);
  assertEquals(visitsOf({ ...foreign, frames: [{ ...outer, visits: { call: 1 } }, inner] }), [
    {},
    { call: 1 },
  ]);
  const own = { ...CHECKPOINT, mklang_version: "kit 0.1.0" };
  assertEquals(visitsOf({ ...own, frames: [outer, inner] }), [
    { a: 1, call: 2 },
    { call: 1 },
  ]);
});

Deno.test("decodeCheckpoint() drops a record of injected values, which only a resume can make", () => {
  const text = encodeCheckpoint({
    ...CHECKPOINT,
    frames: [{ ...FRAME, resume_injected: ["human.reply"] }],
  });
  const [frame] = decodeCheckpoint(text).frames;
  assert(frame !== undefined);
  assertFalse("resume_injected" in frame);
});

Deno.test("decodeCheckpoint() keeps keys of prototypes as data", () => {
  const text = encodeCheckpoint(CHECKPOINT).replace('"k": "ü"', '"__proto__": {"x": 1}');
  const [frame] = decodeCheckpoint(text).frames;
  assertEquals(Object.keys(frame?.ctx ?? {}), ["__proto__"]);
  assertFalse("x" in {});
});

const whole = encodeCheckpoint(CHECKPOINT);
const broken: [what: string, text: string, reason: string, message: string][] = [
  ["an empty file", "", "corrupt", "it is not JSON"],
  ["half a file", whole.slice(0, 40), "corrupt", "it is not JSON"],
  ["an empty object", "{}", "corrupt", "not an mklang checkpoint (expected format 1)"],
  ["a list", "[]", "corrupt", "not an mklang checkpoint (expected format 1)"],
  [
    "another format",
    whole.replace('"format": 1', '"format": 999'),
    "version",
    "not an mklang checkpoint (expected format 1)",
  ],
  [
    "no machine",
    whole.replace('"machine": "m",\n  "machine_path"', '"machine_path"'),
    "corrupt",
    "checkpoint missing key 'machine'",
  ],
  [
    "no frames",
    JSON.stringify({ ...CHECKPOINT, frames: [] }),
    "corrupt",
    "checkpoint has no frames",
  ],
  [
    "frames that are no list",
    JSON.stringify({ ...CHECKPOINT, frames: {} }),
    "corrupt",
    "checkpoint has no frames",
  ],
  [
    "a frame without steps",
    whole.replace('"steps": 1,', ""),
    "corrupt",
    "checkpoint missing key 'frames[0].steps'",
  ],
  [
    "a negative count",
    whole.replace('"steps": 1', '"steps": -1'),
    "corrupt",
    '"frames[0].steps" is not a whole number',
  ],
  [
    "a context that is a list",
    whole.replace('{\n        "k": "ü"\n      }', "[]"),
    "corrupt",
    '"frames[0].ctx" is not an object',
  ],
  [
    "taint that is a text",
    whole.replace('"flow_tainted": false', '"flow_tainted": "no"'),
    "corrupt",
    '"frames[0].flow_tainted" is not true or false',
  ],
  [
    "depth beyond all reason",
    whole.replace('"ü"', "[".repeat(1000) + "]".repeat(1000)),
    "corrupt",
    "nested too deeply",
  ],
];
for (const [what, text, reason, message] of broken) {
  Deno.test(`decodeCheckpoint() refuses ${what} as ${reason}`, () => {
    const error = assertThrows(() => decodeCheckpoint(text), KitError);
    assertEquals([error.code, error.details.reason], ["checkpoint", reason]);
    assert(error.message.includes(message), error.message);
  });
}

Deno.test("decodeFrames() refuses no frames", () => {
  assertThrows(() => decodeFrames([]), KitError, "checkpoint has no frames");
});
