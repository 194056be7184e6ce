import { assert, assertEquals, assertRejects } from "@std/assert";
import { createBreath } from "../../src/machine/breathing.ts";
import { runMachine } from "../../src/machine/mod.ts";
import type { Clock } from "../../src/ports/mod.ts";
import { manualPorts } from "../../src/testing/mod.ts";
import { machineOf, scripted } from "./support/running.ts";

const MANY = machineOf(`
machine: many
entry: a
budget: 9
states: { a: { sample: 10000, tool: t, output: o, gates: [{ when: otherwise, then: ok, to: END }] } }
`);

/** A clock on which every look costs a second, so that every look is followed by a turn. */
function slowClock(sleep: Clock["sleep"]): Clock {
  const { clock } = manualPorts();
  let now = 0;
  return {
    now: () => clock.now(),
    monotonic: () => now += 1000,
    sleep,
    deadline: (ms) => clock.deadline(ms),
    local: (instant) => clock.local(instant),
  };
}

Deno.test("createBreath() gives all chains the same turn, until it is over", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const breathe = createBreath(slowClock(() => promise));
  let turn: Promise<void> | undefined;
  let steps = 0;
  while (turn === undefined && steps < 1000) {
    steps++;
    turn = breathe();
  }
  assertEquals(steps, 16);
  assertEquals(breathe(), turn);
  resolve();
  await turn;
  assertEquals(breathe(), undefined);
});

for (const how of ["throws", "rejects"]) {
  Deno.test(`createBreath() begins another turn after one whose clock ${how}`, async () => {
    let turns = 0;
    const breathe = createBreath(slowClock(() => {
      turns++;
      if (turns > 1) return Promise.resolve();
      if (how === "throws") throw new Error("no timers");
      return Promise.reject(new Error("no timers"));
    }));
    const nextTurn = (): Promise<void> | undefined => {
      for (let steps = 0; steps < 100; steps++) {
        const turn = breathe();
        if (turn !== undefined) return turn;
      }
    };
    await assertRejects(async () => await nextTurn(), Error, "no timers");
    assertEquals(breathe(), undefined);
    await nextTurn();
    assertEquals(turns, 2);
  });
}

Deno.test("runMachine() gives way within a fan-out, and no branch goes on meanwhile", async () => {
  let ran = 0;
  let turns = 0;
  const clock = slowClock(async () => {
    turns++;
    for (let i = 0; i < 50; i++) await Promise.resolve();
    const before = ran;
    for (let i = 0; i < 200; i++) await Promise.resolve();
    assertEquals(ran, before);
  });
  const tools = new Map([["t", { run: () => String(ran++) }]]);
  const run = await runMachine(MANY, scripted({}, { tools, ports: { ...manualPorts(), clock } }));
  assertEquals([run.status, ran], ["done", 10_000]);
  assert(turns > 500, `${turns} turns`);
});

Deno.test("runMachine() ends a fan-out at once when it is cancelled during a turn", async () => {
  const controller = new AbortController();
  let ran = 0;
  const clock = slowClock(() => {
    controller.abort();
    return Promise.resolve();
  });
  const tools = new Map([["t", { run: () => String(ran++) }]]);
  const run = await runMachine(
    MANY,
    scripted({}, { tools, ports: { ...manualPorts(), clock }, signal: controller.signal }),
  );
  assertEquals([run.status, run.error], ["halt", "cancelled"]);
  assert(ran < 30, `${ran} branches ran`);
});
