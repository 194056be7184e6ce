import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import { KitError, LlmError } from "../../src/llm/mod.ts";
import { runConversation } from "../../src/patterns/eval_conversation.ts";
import type { EvalCase, EvalSuiteOptions } from "../../src/patterns/eval_options.ts";
import { reportJUnit } from "../../src/patterns/eval_report.ts";
import { passRate, runEvalSuite } from "../../src/patterns/evals.ts";
import { Kit } from "../../src/patterns/kit.ts";
import { consensus } from "../../src/patterns/consensus.ts";
import { manualPorts, MockProvider } from "../../src/testing/mod.ts";

function suite(cases: readonly EvalCase[], options: EvalSuiteOptions = {}) {
  const { clock } = manualPorts();
  return clock.run(runEvalSuite(cases, { clock, ...options }));
}

function verdict(check: unknown): EvalCase {
  return { name: "one", run: () => 1, check: () => check };
}

const verdicts: [what: string, check: unknown, reason: string | undefined][] = [
  ["null", null, undefined],
  ["nothing", undefined, undefined],
  ["true", true, undefined],
  ["an empty text", "", undefined],
  ["W50 a promise of true", Promise.resolve(Boolean(1)), undefined],
  ["false", false, "the check said false"],
  ["a text", "too short", "too short"],
  ["W50 a promise of a text", Promise.resolve("late no"), "late no"],
  ["a number", 1, "the check gave number"],
];
for (const [what, check, reason] of verdicts) {
  Deno.test(`runEvalSuite() takes ${what} for ${reason === undefined ? "a pass" : "a failure"}`, async () => {
    const report = await suite([verdict(check)]);
    assertEquals([report.passed, report.results[0]?.reason], [reason === undefined, reason]);
  });
}

Deno.test("W50 runEvalSuite() does not pass an empty suite", async () => {
  const report = await suite([], { minAccuracy: 0 });
  assertEquals([report.passed, report.accuracyPassed, report.accuracy.rate], [false, false, 0]);
  assertEquals(report.summary, "0/0 passed (0.0% accuracy)");
});

Deno.test("runEvalSuite() counts, and holds the accuracy against what was asked for", async () => {
  const cases = Array.from({ length: 9 }, (_, index): EvalCase => ({
    name: `c${index}`,
    run: () => index,
    check: () => index < 7,
  }));
  const report = await suite(cases, { minAccuracy: 0.75 });
  assertEquals([report.summary, report.passedCount, report.failedCount], [
    "7/9 passed (77.8% accuracy)",
    7,
    2,
  ]);
  assertEquals([report.passed, report.accuracyPassed], [false, true]);
});

Deno.test("W50 runEvalSuite() ends a case whose time is over and goes on", async () => {
  const report = await suite([
    { name: "stuck", timeoutMs: 50, run: () => new Promise(() => {}), check: () => null },
    { name: "fine", run: () => 1, check: () => null },
  ]);
  assertEquals(report.results.map(({ passed, reason }) => [passed, reason]), [
    [false, "took more than 50 ms"],
    [true, undefined],
  ]);
});

Deno.test("runEvalSuite() counts what cases spent, also those that failed", async () => {
  const ports = manualPorts();
  const model = new MockProvider([
    "A",
    "A",
    new LlmError("auth", "HTTP 401 for key sk-abcdefgh12345678"),
  ]);
  const report = await suite([
    { name: "ok", run: () => consensus(model, "Q?", { numSamples: 2, ports }), check: () => null },
    { name: "no", run: () => consensus(model, "Q?", { numSamples: 1, ports }), check: () => null },
  ]);
  assertEquals(report.usage.llmCalls, 3);
  assert(!report.results[1]?.reason?.includes("sk-abcdefgh12345678"));
});

Deno.test("runEvalSuite() tries a case as often as told and tells the share", async () => {
  let run = 0;
  const report = await suite([{ name: "flaky", run: () => run += 1, check: () => run % 4 !== 0 }], {
    repeat: 10,
    minAccuracy: 0.7,
  });
  assertEquals([report.results[0]?.runs, report.results[0]?.passedRuns, report.passed], [
    10,
    8,
    false,
  ]);
  assert(report.accuracyPassed);
  assertEquals(report.accuracy.rate, 0.8);
});

Deno.test("runEvalSuite() tells which limits were passed", async () => {
  const ports = manualPorts();
  const model = new MockProvider(["A", "A", "A"]);
  const slow: EvalCase = { name: "slow", run: () => ports.clock.sleep(500), check: () => null };
  const report = await ports.clock.run(runEvalSuite([
    {
      name: "votes",
      run: () => consensus(model, "Q?", { numSamples: 3, ports }),
      check: () => null,
    },
    slow,
    { ...slow, name: "quick", run: () => ports.clock.sleep(10) },
  ], { clock: ports.clock, limits: { maxCalls: 2, maxTokens: 1000, p50Ms: 100, p99Ms: 400 } }));
  assertEquals(report.exceeded, ["maxCalls", "p99Ms"]);
  assertEquals([report.p50Ms, report.p99Ms], [10, 500]);
  assertEquals([report.passed, report.passedCount, report.accuracyPassed], [false, 3, true]);
  assertEquals(report.summary, "3/3 passed (100.0% accuracy), limits passed: maxCalls, p99Ms");
  const document = reportJUnit(report, "s");
  assertStringIncludes(document, 'tests="4" failures="1"');
  assertStringIncludes(document, '<failure message="limits passed: maxCalls, p99Ms"/>');
});

Deno.test("runEvalSuite() fails what was not tried when it is aborted", async () => {
  const controller = new AbortController();
  const report = await suite([
    { name: "stops", run: () => controller.abort(), check: () => null },
    { name: "late", run: () => 1, check: () => null },
  ], { signal: controller.signal });
  assertEquals(report.passedCount, 0);
});

Deno.test("runEvalSuite() refuses two cases of one name", async () => {
  const error = await assertRejects(() => suite([verdict(null), verdict(null)]), KitError);
  assertEquals(error.code, "argument");
});

Deno.test("passRate() gives an interval that holds the share, and narrows with more tries", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: 0, max: 1000 }),
      (runs, part) => {
        const passed = Math.min(part, runs);
        const { rate, low, high } = passRate(passed, runs);
        assert(low >= 0 && low <= rate + 1e-12 && rate <= high + 1e-12 && high <= 1);
        const more = passRate(passed * 4, runs * 4);
        assert(more.high - more.low <= high - low + 1e-12);
      },
    ),
  );
  assertEquals(passRate(0, 0), { rate: 0, low: 0, high: 1 });
});

Deno.test("runConversation() plays the turns in one session and names each", async () => {
  const ports = manualPorts();
  await using kit = new Kit(new MockProvider(["one", "two"]), { ports });
  const report = await runConversation(
    {
      name: "talk",
      turns: [
        { user: "1", check: (answer) => answer === "one" },
        { user: "2", check: (answer) => answer === "three" || "not three" },
      ],
    },
    kit,
    { clock: ports.clock },
  );
  assertEquals(report.results.map(({ name, reason }) => [name, reason]), [
    ["talk[0]", undefined],
    ["talk[1]", "not three"],
  ]);
  assertEquals(report.usage.llmCalls, 2);
});

Deno.test("reportJUnit() writes what XML can hold", async () => {
  const report = await suite([verdict('<a> & "b"\u0000\n'), {
    ...verdict(null),
    name: "fine & good",
  }]);
  assertEquals(
    reportJUnit(report, "s<1>"),
    '<?xml version="1.0" encoding="UTF-8"?>\n' +
      '<testsuite name="s&lt;1&gt;" tests="2" failures="1" time="0.000">\n' +
      '  <testcase name="one" classname="s&lt;1&gt;" time="0.000">\n' +
      '    <failure message="&lt;a&gt; &amp; &quot;b&quot;\ufffd&#10;"/>\n' +
      "  </testcase>\n" +
      '  <testcase name="fine &amp; good" classname="s&lt;1&gt;" time="0.000"/>\n' +
      "</testsuite>\n",
  );
});
