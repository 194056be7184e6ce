/**
 * What one client does with one server: runs, suspensions, waiting, cancelling, bad input.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { check, type Checking, until } from "./commission_checks.ts";
import { type Loose, objectOf, type Outcome, Peer, textOf, within } from "./commission_driver.ts";
import {
  BRANCHES,
  ENDLESS,
  JUDGED,
  NEVER_MS,
  PLAIN,
  SILENT,
  STEADY,
  WRONG,
} from "./commission_place.ts";

const TOOLS = [
  "check",
  "consensus",
  "describe_machine",
  "list_machines",
  "react_loop",
  "resume",
  "run",
];
const NOBODY = "0".repeat(32);
/** What a report of progress says. */
const PROGRESS = /^state \w+ \(\d+ of at most \d+ steps\).* · [\d,]+ tokens$/;

/**
 * Makes the checks of one session.
 *
 * @param checking Where.
 */
export async function checkSession(checking: Checking): Promise<void> {
  const { client, place } = checking;
  const flags = ["--workspace", `${place.folder}/project`];
  await using peer = await Peer.start(client, { flags, env: place.env });
  const silent = peer.begin("run", { source: SILENT, wait_seconds: 0 });
  await until(() => place.model.seen.length > 0, "the silent run asks the model");
  await checkTools(checking, peer);
  await checkRuns(checking, peer);
  await checkSuspension(checking, peer);
  await checkWaiting(checking, peer);
  await checkCancelling(checking, peer);
  await checkBadInput(checking, peer);
  await check(checking, "a heart beats within ten seconds of silence", async () => {
    assertEquals(objectOf(await within(silent.outcome, "the answer")).result, "late");
    assertRising(silent.progress);
    assert(silent.progress.length >= 3, `${silent.progress.length} reports`);
    return `${silent.progress.length} reports`;
  });
  await check(checking, "closing ends the server", () => peer.close());
}

async function checkTools(checking: Checking, peer: Peer): Promise<void> {
  await check(checking, "lists seven tools", async () => {
    const outcome = await peer.list();
    assert(outcome.kind === "result");
    assertEquals(outcome.result.tools.map(({ name }: Loose) => name).sort(), TOOLS);
  });
  await check(checking, "check names every problem of a machine and asks no model", async () => {
    const before = checking.place.model.seen.length;
    const found = objectOf(await peer.call("check", { source: WRONG }));
    assert(!found.ok);
    for (const word of ["nowhere", "gone", "lost", "unheard_of"]) {
      assert(found.errors.some((error: string) => error.includes(word)), `not named: ${word}`);
    }
    assertEquals(checking.place.model.seen.length, before);
    return `${found.errors.length} errors`;
  });
  await check(checking, "list_machines has bundled machines and the user's", async () => {
    const { machines } = objectOf(await peer.call("list_machines", {}));
    const names = machines.map(({ name }: Loose) => name);
    assert(names.includes("named") && names.includes("std_refine"), names.join(" "));
  });
  await check(checking, "describe_machine shows the states", async () => {
    const { states } = objectOf(await peer.call("describe_machine", { name: "named" }));
    assertEquals(states, [{ id: "a", kind: "generative", output: "o", gates: 1 }]);
  });
}

async function checkRuns(checking: Checking, peer: Peer): Promise<void> {
  const { folder } = checking.place;
  const targets: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    "inline": { source: PLAIN },
    "by path in the workspace": { path: "plain.mk" },
    "by absolute path": { path: `${folder}/project/plain.mk` },
    "by name": { path: "named" },
  };
  for (const [name, target] of Object.entries(targets)) {
    await check(checking, `run ${name}`, async () => {
      const outcome = await peer.call("run", { ...target, inputs: { req: "hi" } });
      const object = objectOf(outcome);
      assertEquals([object.status, object.error, object.result], ["done", null, "plain-"]);
      assertEquals(object.usage, { input_tokens: 10, output_tokens: 5 });
      assert(outcome.kind === "result");
      assertEquals(outcome.result.content.length, 2);
      assertEquals(JSON.parse(outcome.result.content[1].text), object);
    });
  }
  await check(checking, "run asks a judge", async () => {
    const [step] = objectOf(await peer.call("run", { source: JUDGED })).trace;
    assertEquals([step.gate_via, step.gate], ["llm", "the output is a word"]);
  });
  await check(checking, "progress is told in words and rises", async () => {
    const call = peer.begin("run", { source: STEADY });
    assertEquals(objectOf(await within(call.outcome, "the answer")).result, "c");
    assert(call.progress.length >= 4, `${call.progress.length} reports`);
    assertRising(call.progress);
    // The oldest revision has numbers only.
    if (checking.client.revision === "2024-11-05") return;
    for (const { message } of call.progress) assertMatch(message ?? "", PROGRESS);
    return call.progress.at(-1)?.message ?? "";
  });
}

async function checkSuspension(checking: Checking, peer: Peer): Promise<void> {
  let checkpoint = "";
  await check(checking, "run with hitl suspends for a person", async () => {
    const outcome = await peer.call("run", { path: "machines/asking.mk", hitl: true });
    const object = objectOf(outcome);
    assertEquals([object.status, object.error, object.at], ["suspended", "escalated", "send"]);
    assertEquals([object.ask, object.reply_to], ["Send this to the customer?", "human.reply"]);
    assertMatch(object.checkpoint, /^[0-9a-f]{32}$/);
    assertStringIncludes(textOf(outcome), `resume {"checkpoint": "${object.checkpoint}"`);
    checkpoint = object.checkpoint;
  });
  await check(checking, "resume without inputs only shows it again", async () => {
    const object = objectOf(await peer.call("resume", { checkpoint }));
    assertEquals([object.status, object.checkpoint], ["suspended", checkpoint]);
  });
  await check(checking, "resume with the reply ends the run", async () => {
    const object = objectOf(
      await peer.call("resume", { checkpoint, inputs: { "human.reply": "yes" } }),
    );
    assertEquals([object.status, object.result], ["done", "sent"]);
    assertEquals(object.reply_via, "argument");
    assertEquals(object.trace.map(({ state }: Loose) => state), ["draft", "send"]);
  });
  await check(checking, "a second resume says already-resumed and names the run", async () => {
    const before = checking.place.model.seen.length;
    const refused = refusal(
      await peer.call("resume", { checkpoint, inputs: { "human.reply": "yes" } }),
      "already-resumed",
    );
    const look = objectOf(await peer.call("resume", { run: refused.run }));
    assertEquals([look.status, look.result], ["done", "sent"]);
    assertEquals(checking.place.model.seen.length, before);
  });
  await check(checking, "a budget suspends, and a larger one goes on", async () => {
    const first = objectOf(await peer.call("run", { source: STEADY, cost_budget: 20 }));
    assertEquals([first.status, first.error, first.at], ["suspended", "cost-exhausted", "c"]);
    const { checkpoint } = first;
    const again = objectOf(await peer.call("resume", { checkpoint, cost_budget: 999 }));
    assertEquals([again.status, again.result], ["done", "c"]);
    assertEquals(again.usage, { input_tokens: 30, output_tokens: 15 });
  });
}

async function checkWaiting(checking: Checking, peer: Peer): Promise<void> {
  await check(
    checking,
    "a long run says running, is looked at, and gives its outcome",
    async () => {
      const first = objectOf(await peer.call("run", { source: STEADY, wait_seconds: 0.2 }));
      assertEquals([first.status, first.error, first.result], ["running", null, null]);
      const { run } = first;
      const look = objectOf(await peer.call("resume", { run, wait_seconds: 0.1 }));
      assertEquals([look.status, look.run], ["running", run]);
      const outcome = objectOf(await peer.call("resume", { run, wait_seconds: 20 }));
      assertEquals([outcome.status, outcome.result], ["done", "c"]);
      const again = objectOf(await peer.call("resume", { run }));
      assertEquals([again.status, again.result], ["done", "c"]);
      assertEquals(again.usage, { input_tokens: 30, output_tokens: 15 });
    },
  );
  await check(checking, "cancelling a look leaves the run alone", async () => {
    const { run } = objectOf(await peer.call("run", { source: STEADY, wait_seconds: 0.2 }));
    const look = peer.begin("resume", { run, wait_seconds: 20 });
    await until(() => look.progress.length > 0, "the look reports");
    peer.cancel(look);
    assertEquals((await within(look.outcome, "the answer")).kind, "error");
    const outcome = objectOf(await peer.call("resume", { run, wait_seconds: 20 }));
    assertEquals([outcome.status, outcome.result], ["done", "c"]);
  });
}

async function checkCancelling(checking: Checking, peer: Peer): Promise<void> {
  const endless = () =>
    checking.place.model.seen.filter(({ prompt }) => prompt.includes(`DELAY ${NEVER_MS}`));
  await check(checking, "cancelling a call in a fan-out cuts its requests", async () => {
    const call = peer.begin("run", { source: ENDLESS });
    await until(() => endless().length > 1, "the branches are under way");
    peer.cancel(call);
    assertEquals((await within(call.outcome, "the answer")).kind, "error");
    await until(() => endless().every(({ cut }) => cut), "every request is cut");
    const sent = endless().length;
    assertEquals(objectOf(await peer.call("run", { source: PLAIN })).status, "done");
    assertEquals(endless().length, sent, "branches were started after the cancellation");
    return `${endless().length} of ${BRANCHES} branches were under way, all cut`;
  });
  await check(checking, "cancel by handle stops a fan-out and keeps its outcome", async () => {
    const before = endless().length;
    const { run, status } = objectOf(
      await peer.call("run", { source: ENDLESS, wait_seconds: 0.2 }),
    );
    assertEquals(status, "running");
    await until(() => endless().length > before + 1, "the branches are under way");
    const stopped = objectOf(await peer.call("resume", { run, cancel: true }));
    assertEquals([stopped.status, stopped.error, stopped.at], ["halt", "cancelled", "fan"]);
    await until(() => endless().every(({ cut }) => cut), "every request is cut");
    assertEquals(objectOf(await peer.call("resume", { run })).error, "cancelled");
    return `${endless().length - before} requests cut`;
  });
}

interface Bad {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly slug: string;
  readonly names: readonly string[];
}

const BAD: readonly Bad[] = [
  { tool: "run", args: {}, slug: "invalid-request", names: ["source", "path"] },
  {
    tool: "run",
    args: { source: PLAIN, path: "x", cost_budget: 0, on_truncate: "maybe", nonsense: 1 },
    slug: "invalid-request",
    names: ["cost_budget", "on_truncate", "nonsense"],
  },
  {
    tool: "run",
    args: { source: PLAIN, path: "x", inputs: { "": 1 } },
    slug: "invalid-request",
    names: ["source"],
  },
  { tool: "run", args: { source: "a: [b" }, slug: "prepare-failed", names: ["YAML"] },
  {
    tool: "run",
    args: { source: WRONG },
    slug: "prepare-failed",
    names: ["nowhere", "gone", "lost"],
  },
  { tool: "run", args: { path: "nothing" }, slug: "prepare-failed", names: ["nothing"] },
  { tool: "run", args: { path: "/etc/passwd" }, slug: "prepare-failed", names: ["/etc/passwd"] },
  {
    tool: "run",
    args: { source: PLAIN, provider: "elsewhere" },
    slug: "prepare-failed",
    names: ["elsewhere"],
  },
  {
    tool: "run",
    args: { source: PLAIN, checkpoint_path: "x.json" },
    slug: "invalid-request",
    names: ["--checkpoint-dir"],
  },
  { tool: "resume", args: {}, slug: "invalid-request", names: ["checkpoint", "run"] },
  {
    tool: "resume",
    args: { checkpoint: NOBODY, run: NOBODY },
    slug: "invalid-request",
    names: ["checkpoint", "run"],
  },
  { tool: "resume", args: { checkpoint: NOBODY }, slug: "unknown-checkpoint", names: [] },
  { tool: "resume", args: { checkpoint: "x.json" }, slug: "unknown-checkpoint", names: ["x.json"] },
  { tool: "resume", args: { checkpoint: "/etc/passwd" }, slug: "unknown-checkpoint", names: [] },
  { tool: "resume", args: { run: NOBODY }, slug: "unknown-run", names: [] },
  {
    tool: "describe_machine",
    args: { name: "nothing" },
    slug: "unknown-machine",
    names: ["nothing"],
  },
];

async function checkBadInput(checking: Checking, peer: Peer): Promise<void> {
  for (const { tool, args, slug, names } of BAD) {
    const shown = JSON.stringify(args).slice(0, 60);
    await check(checking, `${tool} ${shown} is refused with ${slug}`, async () => {
      const { seen } = checking.place.model;
      const before = seen.length;
      const refused = refusal(await peer.call(tool, args), slug);
      const errors: readonly string[] = refused.errors;
      for (const name of names) {
        assert(errors.some((error) => error.includes(name)), `${name}: ${errors.join("; ")}`);
      }
      assertEquals(seen.length, before, "a model was asked");
    });
  }
}

/**
 * Reads a refusal.
 *
 * @param outcome What came of a call.
 * @param slug The word that it must have.
 * @returns Its object.
 */
export function refusal(outcome: Outcome, slug: string): Loose {
  const object = objectOf(outcome);
  assertEquals([object.status, object.error], ["error", slug], object.errors?.join("; "));
  assert(outcome.kind === "result");
  assert(outcome.result.isError);
  assertEquals(outcome.result.structuredContent ?? undefined, undefined);
  assert(object.errors.length > 0 && Array.isArray(object.warnings));
  return object;
}

function assertRising(reports: readonly { readonly progress: number }[]): void {
  const numbers = reports.map(({ progress }) => progress);
  assertEquals(numbers, [...new Set(numbers)].sort((left, right) => left - right));
}
