import { assert, assertEquals } from "@std/assert";
import type { Progress } from "../../src/mcp/mod.ts";
import { ProgressReporter } from "../../src/mcp/progress.ts";
import { ManualClock } from "../../src/testing/mod.ts";

function reporter(): { clock: ManualClock; sent: Progress[]; reporter: ProgressReporter } {
  const clock = new ManualClock();
  const sent: Progress[] = [];
  return {
    clock,
    sent,
    reporter: new ProgressReporter({ clock, send: (progress) => sent.push(progress) }),
  };
}

function numbers(sent: readonly Progress[]): number[] {
  return sent.map(({ progress }) => progress);
}

Deno.test("ProgressReporter sends the first report at once", () => {
  const { reporter: progress, sent } = reporter();
  progress.report({ progress: 0, total: 3, message: "begins" });
  assertEquals(sent, [{ progress: 0, total: 3, message: "begins" }]);
  progress.drop();
});

Deno.test("ProgressReporter sends of a burst the first at once and the latest after 100 ms", async () => {
  const { reporter: progress, sent, clock } = reporter();
  for (const at of [1, 2, 3, 4]) progress.report({ progress: at });
  assertEquals(numbers(sent), [1]);
  await clock.advance(99);
  assertEquals(numbers(sent), [1]);
  await clock.advance(1);
  assertEquals(numbers(sent), [1, 4]);
  progress.drop();
});

Deno.test("ProgressReporter sends what it holds back before the end, and nothing after it", async () => {
  const { reporter: progress, sent, clock } = reporter();
  progress.report({ progress: 1 });
  progress.report({ progress: 2 });
  progress.finish();
  progress.report({ progress: 3 });
  await clock.advance(60_000);
  assertEquals(numbers(sent), [1, 2]);
  assertEquals(clock.pending, 0);
});

Deno.test("ProgressReporter that is dropped keeps what it holds back to itself", async () => {
  const { reporter: progress, sent, clock } = reporter();
  progress.report({ progress: 1 });
  progress.report({ progress: 2 });
  progress.drop();
  await clock.advance(60_000);
  assertEquals(numbers(sent), [1]);
  assertEquals(clock.pending, 0);
});

Deno.test("ProgressReporter nudges a number that does not rise", async () => {
  const { reporter: progress, sent, clock } = reporter();
  for (const at of [5, 5, 3, 6]) {
    progress.report({ progress: at });
    await clock.advance(100);
  }
  const values = numbers(sent);
  assertEquals(values.length, 4);
  assert(values.every((value, at) => at === 0 || value > (values[at - 1] ?? Infinity)));
  progress.drop();
});

Deno.test("ProgressReporter leaves out a total that the number has passed", async () => {
  const { reporter: progress, sent, clock } = reporter();
  progress.report({ progress: 3, total: 3 });
  await clock.advance(100);
  progress.report({ progress: 3, total: 3 });
  assertEquals(sent.map(({ total }) => total), [3, undefined]);
  progress.drop();
});

for (const value of [NaN, Infinity, -Infinity]) {
  Deno.test(`ProgressReporter drops ${value}`, () => {
    const { reporter: progress, sent } = reporter();
    progress.report({ progress: value });
    assertEquals(sent, []);
    progress.drop();
  });
}

Deno.test("ProgressReporter is never silent for ten seconds, and always rises", async () => {
  const { reporter: progress, sent, clock } = reporter();
  progress.report({ progress: 1, total: 9, message: "sample 1 of 9" });
  const times: number[] = [];
  for (let second = 0; second < 60; second += 1) {
    const before = sent.length;
    await clock.advance(1_000);
    if (sent.length > before) times.push(clock.monotonic());
  }
  const gaps = times.map((time, at) => time - (times[at - 1] ?? 0));
  assert(Math.max(...gaps) < 10_000, `gaps ${gaps.join()}`);
  assertEquals(sent[1]?.message, "sample 1 of 9 (5 s)");
  assertEquals(sent[2]?.message, "sample 1 of 9 (10 s)");
  const values = numbers(sent);
  assert(values.every((value, at) => at === 0 || value > (values[at - 1] ?? Infinity)));
  progress.drop();
});

Deno.test("ProgressReporter breaks the silence of a call that never reported", async () => {
  const { reporter: progress, sent, clock } = reporter();
  await clock.advance(5_000);
  assertEquals(sent, [{ progress: 0, message: "working (5 s)" }]);
  progress.drop();
});

Deno.test("ProgressReporter cuts a message of a tool", () => {
  const { reporter: progress, sent } = reporter();
  progress.report({ progress: 1, message: "x".repeat(5_000) });
  assertEquals(sent[0]?.message?.length, 1_000);
  progress.drop();
});
