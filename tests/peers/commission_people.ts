/**
 * A person at the client is asked: requests of the server in the legacy era, `input_required` rounds in the modern one.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { check, type Checking, pause, until } from "./commission_checks.ts";
import { type Loose, objectOf, Peer, type PeerCall, textOf, within } from "./commission_driver.ts";
import { ASKING, ASKING_TWICE, PLAIN } from "./commission_place.ts";

type Reply = Readonly<Record<string, unknown>>;

const YES: Reply = { action: "accept", content: { reply: "yes" } };
const MALFORMED: Reply = { action: "accept", content: { reply: 5 } };
/** Most rounds of one call. */
const MAX_ROUNDS = 8;
/** How long a late answer could still do harm. */
const LATE_MS = 300;
/** The refusal of the harness' own client to pass something on. */
const NO_APPROVAL: Readonly<Record<string, Reply>> = {
  "a person who declines": { action: "decline" },
  "a person who closes the form": { action: "cancel" },
  "a blank reply": { action: "accept", content: { reply: "  " } },
};
const MENDED: Readonly<Record<string, Reply>> = {
  "a reply of the wrong type": MALFORMED,
  "a form without the reply": { action: "accept", content: { other: "x" } },
  "an acceptance without content": { action: "accept" },
};

/**
 * Makes the checks of one client that can be asked.
 *
 * @param checking Where.
 */
export async function checkPeople(checking: Checking): Promise<void> {
  const { client, place } = checking;
  if (!client.elicits) return;
  await using peer = await Peer.start(client, { env: place.env, elicits: true });
  await check(
    checking,
    "a person is asked the authored question in a form, and accepts",
    async () => {
      const call = peer.begin("run", { source: ASKING, hitl: true });
      const { params } = await answerNext(peer, YES);
      assertEquals(params.message, "Send this to the customer?");
      assertEquals(params.requestedSchema.required, ["reply"]);
      assertEquals(params.requestedSchema.properties.reply.type, "string");
      assertEquals(params.mode, client.revision === "2025-06-18" ? undefined : "form");
      const object = objectOf(await within(call.outcome, "the answer"));
      assertEquals([object.status, object.result], ["done", "sent"]);
      assertEquals(object.reply_via, "elicitation");
    },
  );
  await checkNoApproval(checking, peer);
  await checkMending(checking, peer);
  await check(checking, "two questions of one run are asked one after the other", async () => {
    const call = peer.begin("run", { source: ASKING_TWICE, hitl: true });
    const first = await answerNext(peer, YES);
    const second = await answerNext(peer, YES);
    assertEquals([first.params.message, second.params.message], ["First?", "Second?"]);
    assertEquals(objectOf(await within(call.outcome, "the answer")).result, "c");
  });
  await check(checking, "a run of a machine without hitl asks nobody", async () => {
    const object = objectOf(await peer.call("run", { source: ASKING }));
    assertEquals([object.status, object.result], ["done", "sent"]);
  });
  await checkLate(checking, peer);
}

async function checkNoApproval(checking: Checking, peer: Peer): Promise<void> {
  for (const [name, reply] of Object.entries(NO_APPROVAL)) {
    await check(checking, `${name} leaves the run suspended, and its handle good`, async () => {
      const sent = approvals(checking);
      const call = peer.begin("run", { source: ASKING, hitl: true });
      await answerNext(peer, reply);
      const outcome = await within(call.outcome, "the answer");
      const object = objectOf(outcome);
      assertEquals([object.status, object.error], ["suspended", "escalated"]);
      assert(outcome.kind === "result" && outcome.result.isError !== IS_ERROR, textOf(outcome));
      assertEquals(approvals(checking), sent, "the state behind the question ran");
      const done = objectOf(
        await peer.call("resume", {
          checkpoint: object.checkpoint,
          inputs: { "human.reply": "yes" },
        }),
      );
      assertEquals([done.status, done.reply_via], ["done", "argument"]);
    });
  }
}

const IS_ERROR = true;

async function checkMending(checking: Checking, peer: Peer): Promise<void> {
  for (const [name, reply] of Object.entries(MENDED)) {
    await check(checking, `${name} is asked for again`, async () => {
      const call = peer.begin("run", { source: ASKING, hitl: true });
      await answerNext(peer, reply);
      await answerNext(peer, YES);
      assertEquals(objectOf(await within(call.outcome, "the answer")).result, "sent");
    });
  }
  await check(checking, "malformed replies to the end leave the run suspended", async () => {
    const sent = approvals(checking);
    const call = peer.begin("run", { source: ASKING, hitl: true });
    const asked = await answerAll(peer, call, MALFORMED);
    const object = objectOf(await within(call.outcome, "the answer"));
    assertEquals([object.status, object.error], ["suspended", "escalated"]);
    assertEquals(approvals(checking), sent, "the state behind the question ran");
    assertEquals(asked, MAX_ROUNDS);
    return `asked ${asked} times`;
  });
}

async function checkLate(checking: Checking, peer: Peer): Promise<void> {
  await check(
    checking,
    "a reply that comes after its call was cancelled approves nothing",
    async () => {
      const sent = approvals(checking);
      const call = peer.begin("run", { source: ASKING, hitl: true });
      const asked = await peer.asked();
      const withdrawn = peer.withdrawn;
      peer.cancel(call);
      // In the modern era the client asks by itself, so there is no question of the server's to take back.
      if (!checking.client.modern) {
        await until(() => peer.withdrawn > withdrawn, "the question is taken back");
      }
      peer.answer(asked, YES);
      assertEquals((await within(call.outcome, "the end of the call")).kind, "error");
      await pause(LATE_MS);
      assertEquals(objectOf(await peer.call("run", { source: PLAIN })).status, "done");
      assertEquals(approvals(checking), sent, "the state behind the question ran");
    },
  );
}

/** How often the state behind the question asked the model. */
function approvals({ place }: Checking): number {
  return place.model.seen.filter(({ prompt }) => prompt.includes("SAY sent")).length;
}

async function answerNext(peer: Peer, reply: Reply): Promise<Loose> {
  const asked = await peer.asked();
  peer.answer(asked, reply);
  return asked;
}

async function answerAll(peer: Peer, call: PeerCall, reply: Reply): Promise<number> {
  for (let count = 0;; count++) {
    const asked = await peer.askedDuring(call.outcome);
    if (asked === undefined) return count;
    peer.answer(asked, reply);
  }
}
