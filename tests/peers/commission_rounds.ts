/**
 * Rounds of `input_required` by hand: the answer comes to another process of the same operator, or it is forged.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { check, type Checking } from "./commission_checks.ts";
import { type Loose, objectOf, type Outcome, Peer } from "./commission_driver.ts";
import { ASKING } from "./commission_place.ts";
import { refusal } from "./commission_session.ts";

const KEY = "an operator's secret of some length";
const ARGS = { source: ASKING, hitl: true };
const YES = { reply: { action: "accept", content: { reply: "yes" } } };
const INVALID_PARAMS = -32602;
/** Sets the key of states apart, as `src/mcp/state_key.ts` does. */
const PURPOSE = "kit requestState v1";

/**
 * Makes the checks of one modern client.
 *
 * @param checking Where.
 */
export async function checkRounds(checking: Checking): Promise<void> {
  if (!checking.client.modern) return;
  await checkElsewhere(checking);
  await checkForged(checking);
}

/** A client with a server that shares key and store with all others of this place. */
function start({ client, place }: Checking, env: Readonly<Record<string, string>> = {}) {
  return Peer.start(client, {
    env: { ...place.env, KIT_STATE_KEY: KEY, ...env },
    flags: ["--store", `sqlite:${place.folder}/runs.db`],
    elicits: true,
    manual: true,
  });
}

async function ask(checking: Checking): Promise<string> {
  await using peer = await start(checking);
  const state = stateOf(await peer.call("run", ARGS));
  await peer.close();
  return state;
}

async function checkElsewhere(checking: Checking): Promise<void> {
  await check(checking, "an answer to another process ends the run there, once", async () => {
    const requestState = await ask(checking);
    await using peer = await start(checking);
    const seed = { requestState, inputResponses: YES };
    const object = objectOf(await peer.call("run", ARGS, seed));
    assertEquals([object.status, object.result], ["done", "sent"]);
    assertEquals(object.reply_via, "elicitation");
    refusal(await peer.call("run", ARGS, seed), "already-resumed");
  });
  await check(checking, "a refusal to another process leaves the run suspended", async () => {
    const requestState = await ask(checking);
    await using peer = await start(checking);
    const decline = { reply: { action: "decline" } };
    const object = objectOf(
      await peer.call("run", ARGS, { requestState, inputResponses: decline }),
    );
    assertEquals([object.status, object.error], ["suspended", "escalated"]);
    const { checkpoint } = object;
    const inputs = { "human.reply": "yes" };
    assertEquals(objectOf(await peer.call("resume", { checkpoint, inputs })).result, "sent");
  });
  await check(checking, "a call repeated without its answer is asked again", async () => {
    const requestState = await ask(checking);
    await using peer = await start(checking);
    const again = stateOf(await peer.call("run", ARGS, { requestState, inputResponses: {} }));
    const seed = { requestState: again, inputResponses: YES };
    assertEquals(objectOf(await peer.call("run", ARGS, seed)).result, "sent");
  });
}

async function checkForged(checking: Checking): Promise<void> {
  const state = await ask(checking);
  const [version = "", body = "", signature = ""] = state.split(".");
  const payload = JSON.parse(new TextDecoder().decode(fromBase64(body)));
  const forged: Readonly<Record<string, string>> = {
    "another payload under the same signature": [
      version,
      toBase64({ ...payload, expires: payload.expires + 1 }),
      signature,
    ].join("."),
    "a cut signature": state.slice(0, -4),
    "no signature": `${version}.${body}`,
    "nothing of ours": "x",
    "an expiry in the past, well signed": await signed(version, {
      ...payload,
      expires: Date.now() - 1,
    }),
    "another call, well signed": await signed(version, { ...payload, bound: "x" }),
  };
  await using peer = await start(checking);
  for (const [name, requestState] of Object.entries(forged)) {
    await check(checking, `a state with ${name} is refused`, async () => {
      refusedState(await peer.call("run", ARGS, { requestState, inputResponses: YES }));
    });
  }
  await check(checking, "a state under other arguments is refused", async () => {
    const other = { ...ARGS, "cost_budget": 999 };
    refusedState(await peer.call("run", other, { requestState: state, inputResponses: YES }));
  });
  await check(checking, "a state under another key is refused", async () => {
    await using stranger = await start(checking, { KIT_STATE_KEY: "another operator's" });
    refusedState(await stranger.call("run", ARGS, { requestState: state, inputResponses: YES }));
  });
  await check(checking, "after all of that the true answer is still good", async () => {
    const sent = () =>
      checking.place.model.seen.filter(({ prompt }) => prompt.includes("SAY sent")).length;
    const before = sent();
    const seed = { requestState: state, inputResponses: YES };
    assertEquals(objectOf(await peer.call("run", ARGS, seed)).result, "sent");
    assertEquals(sent(), before + 1);
  });
}

function refusedState(outcome: Outcome): void {
  assert(outcome.kind === "error", JSON.stringify(outcome).slice(0, 200));
  assertEquals(outcome.code, INVALID_PARAMS, outcome.message);
  assertEquals(outcome.data?.reason, "invalid_request_state");
}

function stateOf(outcome: Outcome): string {
  assert(outcome.kind === "result", JSON.stringify(outcome).slice(0, 300));
  const result: Loose = outcome.result;
  assertEquals(result.resultType, "input_required");
  assertEquals(Object.keys(result.inputRequests), ["reply"]);
  return result.requestState;
}

/** Signs as the server does, with the key that the operator gave. */
async function signed(version: string, payload: Loose): Promise<string> {
  const secret = new TextEncoder().encode(`${PURPOSE}\n${KEY}`);
  const bytes = await crypto.subtle.digest("SHA-256", secret);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const extractable = false;
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, extractable, ["sign"]);
  const body = toBase64(payload);
  const text = new TextEncoder().encode(`${version}.${body}`);
  const mac = new Uint8Array(await crypto.subtle.sign(algorithm, key, text));
  return `${version}.${body}.${mac.toBase64({ alphabet: "base64url", omitPadding: true })}`;
}

function toBase64(value: Loose): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.fromBase64(text, { alphabet: "base64url" });
}
