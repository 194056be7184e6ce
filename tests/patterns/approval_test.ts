import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ConfigError, KitError } from "../../src/llm/mod.ts";
import { ApprovalGate, type ApprovalRequest, type Approver } from "../../src/patterns/approval.ts";
import { manualPorts } from "../../src/testing/mod.ts";

function request(over: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    action: "tool_call",
    subject: "t",
    details: { a: 1 },
    signal: new AbortController().signal,
    ...over,
  };
}

const YES = true;

const answers: [what: string, approver: Approver, approved: boolean, reason: string | undefined][] =
  [
    ["an object whose approved is true", () => ({ approved: true }), true, undefined],
    ["a promise of one", () => Promise.resolve({ approved: true }), true, undefined],
    ["approved false with a reason", () => ({ approved: false, reason: "no" }), false, "no"],
    ["the text no", () => "no", false, "the approver gave no decision"],
    ["true by itself", () => true, false, "the approver gave no decision"],
    ["a promise of true", () => Promise.resolve(YES), false, "the approver gave no decision"],
    ["approved as the text true", () => ({ approved: "true" }), false, undefined],
    ["approved as 1", () => ({ approved: 1 }), false, undefined],
    [
      "approved from a prototype",
      () => Object.create({ approved: true }),
      false,
      "the approver gave no decision",
    ],
    ["nothing", () => undefined, false, "the approver gave no decision"],
    [
      "an error",
      () => Promise.reject(new TypeError("x")),
      false,
      "the approver failed (TypeError)",
    ],
  ];
for (const [what, approver, approved, reason] of answers) {
  Deno.test(`W19 ApprovalGate takes ${what} for ${approved ? "a yes" : "a no"}`, async () => {
    const gate = new ApprovalGate(approver);
    const decision = await gate.request(request(), { clock: manualPorts().clock });
    assertEquals(decision, reason === undefined ? { approved } : { approved, reason });
  });
}

Deno.test("W19 ApprovalGate denies after five minutes without an answer", async () => {
  const { clock } = manualPorts();
  const gate = new ApprovalGate(() => new Promise(() => {}));
  const decision = await clock.run(gate.request(request(), { clock }));
  assertEquals(decision, { approved: false, reason: "nobody answered in time" });
  assertEquals([clock.monotonic(), clock.pending], [300_000, 0]);
});

Deno.test("ApprovalGate throws approval_timeout where no answer means that", async () => {
  const { clock } = manualPorts();
  const gate = new ApprovalGate(() => new Promise(() => {}), { onTimeout: "throw", timeoutMs: 10 });
  const error = await assertRejects(() => clock.run(gate.request(request(), { clock })), KitError);
  assertEquals(error.code, "approval_timeout");
});

Deno.test("ApprovalGate approves by time-out only where that is said to be unsafe", async () => {
  assertThrows(() => new ApprovalGate(() => 1, { onTimeout: "approve" }), ConfigError);
  const { clock } = manualPorts();
  const gate = new ApprovalGate(() => new Promise(() => {}), {
    onTimeout: "approve",
    unsafeAllowFailOpen: true,
  });
  assertEquals(await clock.run(gate.request(request(), { clock })), { approved: true });
});

Deno.test("ApprovalGate.require() throws approval_denied with the reason", async () => {
  const gate = ApprovalGate.denyAll("closed");
  const error = await assertRejects(
    () => gate.require(request(), { clock: manualPorts().clock }),
    KitError,
  );
  assertEquals([error.code, error.message], [
    "approval_denied",
    'Not approved: tool_call "t": closed',
  ]);
  await ApprovalGate.allowAll().require(request(), { clock: manualPorts().clock });
});

Deno.test("ApprovalGate shows a frozen copy of what will be done", async () => {
  const details = { path: "a" };
  let shown: unknown;
  const gate = new ApprovalGate((asked) => {
    shown = asked.details;
    return { approved: true };
  });
  await gate.request(request({ details }), { clock: manualPorts().clock });
  assert(Object.isFrozen(shown) && shown !== details && !Object.isFrozen(details));
});

Deno.test("ApprovalGate masks secrets in what it shows", async () => {
  let shown = "";
  const gate = new ApprovalGate((asked) => {
    shown = JSON.stringify(asked.details);
    return { approved: true };
  });
  const details = { path: "/etc", keys: ["sk-0123456789abcdef"], login: { password: "hunter2" } };
  await gate.request(request({ details }), { clock: manualPorts().clock });
  assertEquals(
    shown,
    '{"path":"/etc","keys":["[REDACTED]"],"login":{"password":"[REDACTED]"}}',
  );
});

Deno.test("ApprovalGate stops waiting with the request's signal", async () => {
  const { clock } = manualPorts();
  const controller = new AbortController();
  const gate = new ApprovalGate(() => new Promise(() => {}));
  const waiting = gate.request(request({ signal: controller.signal }), { clock });
  controller.abort();
  const error = await assertRejects(() => waiting, KitError);
  assertEquals([error.code, clock.pending], ["aborted", 0]);
});

Deno.test("ApprovalGate shows all of what will be done, however long", async () => {
  let shown: unknown;
  const gate = new ApprovalGate(({ details }) => {
    shown = details;
    return { approved: false };
  });
  const details = { command: `${" ".repeat(100_000)}rm -rf /` };
  const { clock } = manualPorts();
  const signal = new AbortController().signal;
  await gate.request({ action: "tool_call", subject: "shell", details, signal }, { clock });
  assertEquals(shown, details);
});
