/**
 * Asks a person through the client, where the client can: a form of one required text under the authored question.
 * Whatever comes of it other than a reply leaves the run suspended behind its handle; nothing is approved by default.
 *
 * @module
 */
import type { Emitted, ResumeRequest } from "../host/mod.ts";
import { isJsonObject, type JsonValue } from "../json/mod.ts";
import type { Question, ToolContext, ToolOutcome } from "../mcp/mod.ts";
import { textArgument } from "./arguments.ts";
import { callOptions } from "./call_options.ts";
import { emittedOutcome } from "./outcome.ts";
import type { ToolSetting } from "./setting.ts";

/** The key of the one question. */
export const QUESTION_KEY = "reply";

/** Version of what {@linkcode ToolContext.state} holds. */
const STATE_VERSION = 1;
/** Most characters of a question to a person; the rest is cut, and the result still has the whole. */
const MAX_ASK_CHARS = 4000;
/** What is asked where the machine wrote no question. */
const DEFAULT_ASK = "The machine waits for your decision. What is your reply?";

/**
 * Gives a result, or the question that stands between the call and its result.
 *
 * @param emitted What the host gave.
 * @param context What the call knows.
 * @param options `shown`: the suspension was only shown again, on a call that asked for just that.
 * @returns The result, or a question.
 */
export async function answerOrAsk(
  emitted: Emitted,
  context: ToolContext,
  options: { readonly shown?: boolean } = {},
): Promise<ToolOutcome> {
  const handle = textArgument(emitted.object, "checkpoint");
  const asks = emitted.object["status"] === "suspended" && emitted.object["error"] === "escalated";
  if (!asks || handle === undefined || !context.canAsk || options.shown === true) {
    return emittedOutcome(emitted);
  }
  const ask = textArgument(emitted.object, "ask") ?? DEFAULT_ASK;
  return {
    kind: "ask",
    questions: { [QUESTION_KEY]: replyQuestion(ask) },
    state: { v: STATE_VERSION, checkpoint: handle, asked: await digest(emitted.subject ?? null) },
  };
}

/**
 * Goes on with a call that had asked.
 *
 * @param setting What the tool is made from.
 * @param context What the call knows: its state and the answers.
 * @param options `detail`: how much the result says; `waitSeconds`: how long to wait for it.
 * @returns The result, or the next question.
 */
export async function continueAsked(
  setting: ToolSetting,
  context: ToolContext,
  options: Pick<ResumeRequest, "detail" | "waitSeconds">,
): Promise<ToolOutcome> {
  const call = callOptions(setting, context);
  const state = readState(context.state);
  const shown = await setting.host.resume({ checkpoint: state.checkpoint, ...options }, call);
  const reply = replyOf(context);
  const same = state.asked === await digest(shown.subject ?? null);
  if (shown.isError || reply === undefined || !same) return emittedOutcome(shown);
  const path = textArgument(shown.object, "reply_to") ?? "human.reply";
  const emitted = await setting.host.resume({
    checkpoint: state.checkpoint,
    inputs: { [path]: reply },
    replyVia: "elicitation",
    ...options,
  }, call);
  return await answerOrAsk(emitted, context);
}

function replyQuestion(ask: string): Question {
  const points = Array.from(ask);
  const message = points.length > MAX_ASK_CHARS
    ? points.slice(0, MAX_ASK_CHARS - 1).join("") + "…"
    : ask;
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: { [QUESTION_KEY]: { type: "string", title: "Reply" } },
      required: [QUESTION_KEY],
    },
  };
}

function readState(state: JsonValue | undefined): { checkpoint: string; asked: string } {
  if (!isJsonObject(state)) return { checkpoint: "", asked: "" };
  return {
    checkpoint: textArgument(state, "checkpoint") ?? "",
    asked: textArgument(state, "asked") ?? "",
  };
}

/** The accepted reply; a blank one is none, since a person who pressed enter has not decided. */
function replyOf(context: ToolContext): string | undefined {
  const answer = context.answers.get(QUESTION_KEY);
  if (answer?.action !== "accept") return undefined;
  const reply = textArgument(answer.content, QUESTION_KEY);
  return reply === undefined || reply.trim() === "" ? undefined : reply;
}

async function digest(value: JsonValue): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
