// deno-lint-ignore-file camelcase -- the names of the file's members
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import {
  isCheckpointText,
  openCheckpoint,
  sealCheckpoint,
  spentText,
} from "../../src/host/runs/checkpoint_file.ts";
import type { Checkpoint } from "../../src/machine/mod.ts";

const CHECKPOINT: Checkpoint = {
  format: 1,
  mklang_version: "kit 0",
  created: "2026-01-01T00:00:00+00:00",
  machine: "m",
  machine_path: "m.mk",
  machine_sha256: null,
  reason: "escalated",
  cost_budget: null,
  hitl: true,
  frames: [{
    machine: "m",
    state: "a",
    ctx: { z: 1, a: ["é", null, { n: 1.5 }] },
    steps: 1,
    total_in: 2,
    total_out: 3,
    feedback: "",
    repair_left: [],
    trace: [],
    tainted: [],
    external: [],
    flow_tainted: false,
    visits: {},
  }],
  run_id: "0".repeat(32),
  fingerprint: "f",
};

Deno.test("openCheckpoint() gives back what was sealed, trusted with the key", async () => {
  const text = await sealCheckpoint(CHECKPOINT, "key");
  const read = await openCheckpoint(text, "key");
  assert(read.kind === "checkpoint");
  assertEquals(read.frames[0]?.tainted, []);
  assertEquals(JSON.stringify(read.frames[0]?.ctx), '{"z":1,"a":["é",null,{"n":1.5}]}');
});

const distrusted: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ["no key on either side", undefined, undefined],
  ["a key only when it was written", "key", undefined],
  ["a key only when it is read", undefined, "key"],
];
for (const [what, written, read] of distrusted) {
  Deno.test(`openCheckpoint() taints everything with ${what}`, async () => {
    const opened = await openCheckpoint(await sealCheckpoint(CHECKPOINT, written), read);
    assert(opened.kind === "checkpoint");
    assertEquals([opened.frames[0]?.tainted, opened.frames[0]?.flow_tainted], [undefined, true]);
  });
}

Deno.test("openCheckpoint() does not mind white space and the order of members", async () => {
  const value = JSON.parse(await sealCheckpoint(CHECKPOINT, "key"));
  const turned = Object.fromEntries(Object.entries(value).reverse());
  assertEquals((await openCheckpoint(JSON.stringify(turned), "key")).kind, "checkpoint");
});

Deno.test("openCheckpoint() takes no MAC away for none", async () => {
  const { mac: _mac, ...rest } = JSON.parse(await sealCheckpoint(CHECKPOINT, "key"));
  const opened = await openCheckpoint(JSON.stringify(rest), "key");
  assert(opened.kind === "checkpoint");
  assert(opened.frames[0]?.flow_tainted);
});

Deno.test("openCheckpoint() reads spent files as spent, and they keep no context", async () => {
  const text = spentText({ runId: "r", machine: "m", status: "done", at: "2026-01-01" });
  assertEquals(await openCheckpoint(text, undefined), {
    kind: "spent",
    status: "done",
    runId: "r",
  });
  assert(isCheckpointText(text) && isCheckpointText(await sealCheckpoint(CHECKPOINT, undefined)));
  assertEquals(['{"format":2}', "x", "[]", '{"format":1}'].map(isCheckpointText), [
    false,
    false,
    false,
    false,
  ]);
});

Deno.test("openCheckpoint() answers any text and any change, and never takes a changed one", async () => {
  const whole = await sealCheckpoint(CHECKPOINT, undefined);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string(), fc.json(), fc.constant(whole)),
      fc.nat(whole.length),
      fc.string({ maxLength: 4 }),
      async (text, at, put) => {
        const changed = text === whole
          ? text.slice(0, at) + put + text.slice(at + put.length)
          : text;
        const read = await openCheckpoint(changed, "key");
        assert(["checkpoint", "spent", "bad"].includes(read.kind));
        if (read.kind !== "checkpoint" || text !== whole) return;
        const same = JSON.stringify(JSON.parse(changed)) === JSON.stringify(JSON.parse(whole));
        // Only a file without any proof is taken as it is; here that means that the digest's name was hit.
        assert(same || !changed.includes('"digest"'), changed);
        assert(read.frames[0]?.flow_tainted);
      },
    ),
    { numRuns: 600, seed: 5 },
  );
});

Deno.test("openCheckpoint() ends on deep nesting", async () => {
  const deep = `{"format":1,"machine":"m","machine_path":"p","machine_sha256":null,"frames":${
    "[".repeat(50_000)
  }${"]".repeat(50_000)}}`;
  assertEquals((await openCheckpoint(deep, undefined)).kind, "bad");
});
