import { assert, assertEquals, assertRejects } from "@std/assert";
import { LlmError } from "../../src/llm/mod.ts";
import {
  type Machine,
  type MachineEvent,
  type Produced,
  runMachine,
} from "../../src/machine/mod.ts";
import { machineOf, oneState, oracleOf, scripted, textOf } from "./support/running.ts";

function overItems(count: number): Machine {
  return machineOf(`
machine: many
entry: m
budget: 20000
context: { items: [${Array.from({ length: count }, (_, i) => i).join(", ")}] }
states:
  m: { over: "{{items}}", structure: s, prompt: "do {{item}}", output: out, gates: [{ when: otherwise, then: ok, to: END }] }
`);
}

Deno.test("runBranches() starts in order, runs at most maxWorkers at once, and keeps the order of the list", async () => {
  const started: number[] = [];
  const waiting: { readonly branch: number; resolve(): void }[] = [];
  let atOnce = 0;
  let most = 0;
  const oracle = oracleOf({
    produce: ({ branch = -1, user }) => {
      started.push(branch);
      most = Math.max(most, ++atOnce);
      const { promise, resolve } = Promise.withResolvers<Produced>();
      waiting.push({
        branch,
        resolve: () => {
          atOnce--;
          resolve(textOf(user));
        },
      });
      return promise;
    },
  });
  const run = runMachine(overItems(12), scripted({}, { oracle, maxWorkers: 3 }));
  let finished = false;
  run.finally(() => finished = true);
  while (!finished) {
    waiting.pop()?.resolve();
    for (let i = 0; i < 20; i++) await Promise.resolve();
  }
  const { result } = await run;
  assertEquals(result, Array.from({ length: 12 }, (_, i) => `do ${i}`));
  assertEquals(started, Array.from({ length: 12 }, (_, i) => i));
  assertEquals(most, 3);
});

Deno.test("runBranches() runs five branches at once unless told otherwise", async () => {
  let most = 0;
  let atOnce = 0;
  const oracle = oracleOf({
    produce: async () => {
      most = Math.max(most, ++atOnce);
      await Promise.resolve();
      atOnce--;
      return textOf("x");
    },
  });
  await runMachine(overItems(50), scripted({}, { oracle }));
  assertEquals(most, 5);
});

Deno.test("runBranches() turns a provider's failure of one branch into a marker and keeps the others", async () => {
  const oracle = oracleOf({
    produce: ({ branch }) => {
      if (branch === 1) throw new LlmError("bad_request", "status 400");
      return textOf(`b${branch}`);
    },
  });
  const { status, result } = await runMachine(overItems(3), scripted({}, { oracle }));
  assertEquals([status, result], ["done", ["b0", "[branch-error: status 400]", "b2"]]);
});

Deno.test("runBranches() starts no branch after the signal fired", async () => {
  const controller = new AbortController();
  let started = 0;
  const oracle = oracleOf({
    produce: () => {
      if (++started === 4) controller.abort();
      return textOf("x");
    },
  });
  const run = await runMachine(
    overItems(100),
    scripted({}, { oracle, maxWorkers: 2, signal: controller.signal }),
  );
  assertEquals([run.status, run.error, run.at], ["halt", "cancelled", "m"]);
  assert(started <= 5, `${started} started`);
});

Deno.test("runBranches() starts no branch once the token budget is reached, and the trace says so", async () => {
  let started = 0;
  const oracle = oracleOf({
    produce: () => {
      started++;
      return { text: "x", tokens: { input: 1, output: 1 } };
    },
  });
  const run = await runMachine(
    overItems(10),
    scripted({}, { oracle, costBudget: 6, maxWorkers: 1 }),
  );
  assertEquals([run.status, run.error, run.at, started], ["halt", "cost-exhausted", undefined, 3]);
  assertEquals(run.trace[0]?.policy, "cost-exhausted");
  assertEquals(run.trace[0]?.branches?.slice(0, 4), [
    "x",
    "x",
    "x",
    "[branch-error: cost-exhausted]",
  ]);
});

Deno.test("runBranches() tells of each branch as it ends", async () => {
  const events: MachineEvent[] = [];
  await runMachine(
    overItems(3),
    scripted({ produce: { do: "x" }, tokens: [2, 1] }, { onEvent: (event) => events.push(event) }),
  );
  const done = events.flatMap((event) =>
    event.type === "branch-done" ? [[event.index, event.tokens.input_tokens]] : []
  );
  assertEquals(done, [[0, 2], [1, 2], [2, 2]]);
});

Deno.test("runBranches() waits for running branches before it passes on what a host threw", async () => {
  let running = 0;
  const machine = machineOf(`
machine: many
entry: m
budget: 99
context: { items: [1, 2, 3, 4] }
states:
  m: { over: "{{items}}", tool: send, input: { n: "{{item}}" }, output: out, gates: [{ when: otherwise, then: ok, to: END }] }
`);
  const options = scripted({}, {
    tools: new Map([["send", {
      run: async () => {
        running++;
        await Promise.resolve();
        await Promise.resolve();
        running--;
        return "x";
      },
    }]]),
    beforeEffect: ({ branch }) => {
      if (branch === 2) throw new Error("no room");
    },
  });
  await assertRejects(() => runMachine(machine, options), Error, "no room");
  assertEquals(running, 0);
});

Deno.test("runBranches() starts no branch after a host threw", async () => {
  const machine = machineOf(`
machine: many
entry: m
budget: 99
states: { m: { sample: 20, tool: send, output: out, gates: [{ when: otherwise, then: ok, to: END }] } }
`);
  const begun: (number | undefined)[] = [];
  const options = scripted({}, {
    tools: new Map([["send", { run: () => "x" }]]),
    maxWorkers: 2,
    beforeEffect: ({ branch }) => {
      begun.push(branch);
      if (branch === 2) throw new Error("no room");
    },
  });
  await assertRejects(() => runMachine(machine, options), Error, "no room");
  // The other worker was at branch 3 by then.
  assertEquals(begun, [0, 1, 2, 3]);
});

Deno.test("runBranches() keeps the thinking of all branches for the judge", async () => {
  const seen: (string | undefined)[] = [];
  const machine = machineOf(`
machine: many
entry: m
budget: 99
states:
  m: { sample: 3, reason: true, structure: s, prompt: p, output: out, gates: [{ when: good, then: ok, to: END }] }
`);
  const oracle = oracleOf({
    produce: ({ branch }) =>
      branch === 1 ? textOf("x") : { ...textOf("x"), reasoning: `r${branch}` },
    judge: ({ reasoning }) => {
      seen.push(reasoning);
      return { kind: "choice", index: 0, tokens: { input: 0, output: 0 } };
    },
  });
  const { trace } = await runMachine(machine, scripted({}, { oracle }));
  assertEquals(trace[0]?.reasonings, ["r0", null, "r2"]);
  assertEquals(seen, ["r0\n---\nr2"]);
});

Deno.test("runBranches() marks a fan-out as truncated with the first finish reason", async () => {
  const oracle = oracleOf({
    produce: ({ branch }) => ({
      ...textOf("x"),
      truncated: branch !== 0,
      finishReason: branch === 1 ? "length" : "max_tokens",
    }),
  });
  const { trace } = await runMachine(overItems(3), scripted({}, { oracle }));
  assertEquals([trace[0]?.truncated, trace[0]?.finish_reason], [true, "length"]);
});

Deno.test("planBranches() refuses a million samples, whose list could not be deposited, before the first", async () => {
  const machine = oneState("[{ when: otherwise, then: ok, to: END }]", "sample: 1000000,");
  let asked = 0;
  const oracle = oracleOf({
    produce: () => {
      asked++;
      return textOf("x");
    },
  });
  const { error } = await runMachine(machine, scripted({}, { oracle }));
  assertEquals(error, "state-error: sample: 1000000 is no number from 0 to 999999");
  assertEquals(asked, 0);
});
