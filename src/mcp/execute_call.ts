/**
 * One call of a tool from its arguments to its result, with the rounds of questions between. Loaded with the first call.
 *
 * A tool is a function from arguments and answers to a result or a question (README.md, "A question is an outcome").
 * Before 2026-07-28 the question goes out as a request and the tool is entered again here; from then on the call is
 * answered with the question and entered again when the client repeats it.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import { ErrorCode, type ErrorObject } from "../jsonrpc/mod.ts";
import type { Log } from "../ports/mod.ts";
import { argumentProblems, readyArguments, type Validate } from "./arguments.ts";
import type { CallRequest } from "./effects.ts";
import { serverMeta } from "./meta.ts";
import {
  askableQuestions,
  canShowForm,
  type ClientRequest,
  clientRequest,
  type Questions,
  readAnswer,
  requiredCapabilities,
} from "./questions.ts";
import type { StateSealer } from "./request_state.ts";
import { vocabularyOf } from "./revisions.ts";
import type { ServerInfo } from "./server_info.ts";
import type { Answer, Progress, Tool, ToolContext, ToolOutcome } from "./tool.ts";
import { callResult, failedResult, type ToolResult } from "./tool_shapes.ts";

/** How often one call may ask, counting what has to be asked again. */
export const MAX_ROUNDS = 8;

/** What a call needs beside itself. */
export interface CallEnvironment {
  /** The tool that was named. */
  readonly tool: Tool;
  /** Who the server is. */
  readonly info: ServerInfo;
  /** Checks values against schemas. */
  readonly validate: Validate;
  /** Signs what travels through the client. */
  readonly sealer: StateSealer;
  /** For causes that a client is not told. */
  readonly log: Log;
  /** Fires when the call is given up. */
  readonly signal: AbortSignal;
  /** Takes progress. */
  readonly progress: (report: Progress) => void;
  /**
   * Sends a request to a legacy client and waits for its result.
   *
   * @returns The result, or `undefined` if the client could not be asked.
   */
  readonly ask: (request: ClientRequest) => Promise<JsonValue | undefined>;
}

/** What a call is answered with. */
export type CallAnswer =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: ErrorObject };

/**
 * Runs a call.
 *
 * @param call The request.
 * @param environment What it needs.
 * @returns The answer. Rejects if the tool does: a fault of ours.
 */
export async function executeCall(
  call: CallRequest,
  environment: CallEnvironment,
): Promise<CallAnswer> {
  const { tool, info, validate, log } = environment;
  const restored = await restore(call, environment);
  if (restored === undefined) return { ok: false, error: INVALID_STATE };
  const args = readyArguments(tool.inputSchema, call.args);
  const problems = await argumentProblems(tool.inputSchema, args, validate);
  if (problems.length > 0) {
    const refused = await tool.refuse?.(problems, args) ??
      failedResult("invalid-request", problems.map(({ message }) => message));
    return { ok: true, result: callResult(refused, call.revision, info) };
  }
  const end = await converse({ ...environment, call, args }, restored);
  if (end.kind === "answer") return end.answer;
  const result = await checkOutput(end, { tool, validate, log });
  return { ok: true, result: callResult(result, call.revision, info) };
}

const INVALID_STATE: ErrorObject = {
  code: ErrorCode.invalidParams,
  message: "Invalid or expired requestState",
  data: { reason: "invalid_request_state" },
};

/** How far the questions of a call have come. */
interface Conversation {
  readonly answers: ReadonlyMap<string, Answer>;
  /** What the tool gave to get back. */
  readonly state: JsonValue | undefined;
  /** Questions that wait for an answer. */
  readonly pending: Questions | undefined;
  readonly round: number;
}

const BEGINNING: Conversation = {
  answers: new Map(),
  state: undefined,
  pending: undefined,
  round: 0,
};

async function restore(
  call: CallRequest,
  environment: CallEnvironment,
): Promise<Conversation | undefined> {
  if (call.requestState === undefined) return BEGINNING;
  const binding = { tool: call.name, args: call.args };
  const opened = await environment.sealer.open(call.requestState, binding);
  if ("value" in opened) return readConversation(opened.value);
  environment.log.write("warning", `requestState refused: ${opened.refusal}`);
  return undefined;
}

/** Whatever is read here was signed by this program, so its parts are as {@linkcode suspend} wrote them. */
function readConversation(value: JsonObject): Conversation {
  const answers = new Map<string, Answer>();
  for (const [key, answer] of Object.entries(objectAt(value, "answers"))) {
    if (isAnswer(answer)) answers.set(key, answer);
  }
  const pending: Record<string, Questions[string]> = {};
  for (const [key, question] of Object.entries(objectAt(value, "pending"))) {
    if (isQuestion(question)) pending[key] = question;
  }
  const round = member(value, "round");
  return {
    answers,
    pending,
    state: member(value, "state"),
    round: typeof round === "number" ? round : MAX_ROUNDS,
  };
}

function isAnswer(value: unknown): value is Answer {
  return isJsonObject(value) && typeof value["action"] === "string";
}

function isQuestion(value: unknown): value is Questions[string] {
  return isJsonObject(value) &&
    (typeof value["message"] === "string" || typeof value["method"] === "string");
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = member(object, key);
  return isJsonObject(value) ? value : {};
}

interface Conversing extends CallEnvironment {
  readonly call: CallRequest;
  readonly args: JsonObject;
}

type End =
  | { readonly kind: "answer"; readonly answer: CallAnswer }
  | ToolResult;

async function converse(context: Conversing, restored: Conversation): Promise<End> {
  const { call } = context;
  const isModern = vocabularyOf(call.revision).isModern;
  let conversation = restored;
  // Answers count once: the next question may have the same key.
  let responses = call.inputResponses ?? {};
  for (;;) {
    if (conversation.pending !== undefined) {
      conversation = isModern
        ? await settleWith(responses, conversation, context)
        : await settleByAsking(conversation, context);
      responses = {};
      if (conversation.pending !== undefined) {
        // What the first call declared says nothing about what this one can show.
        const pending = isModern ? askableQuestions(conversation.pending, call.capabilities) : {};
        if (Object.keys(pending).length === 0 || conversation.round >= MAX_ROUNDS) {
          return await finish(context, conversation);
        }
        return { kind: "answer", answer: await suspend(context, { ...conversation, pending }) };
      }
    }
    const canAsk = call.mayAsk && canShowForm(call.capabilities);
    const outcome = await enter(context, conversation, { canAsk });
    if (outcome.kind === "result") return outcome;
    const askable = call.mayAsk ? askableQuestions(outcome.questions, call.capabilities) : {};
    if (Object.keys(askable).length === 0) return cannotAsk(outcome.questions, { isModern });
    // A question of this very call, with its own state: what came before it was asked can be no answer to it.
    if (outcome.state !== undefined) responses = {};
    conversation = {
      ...conversation,
      answers: without(conversation.answers, Object.keys(askable)),
      state: outcome.state,
      pending: askable,
    };
  }
}

function enter(
  context: Conversing,
  conversation: Conversation,
  options: { readonly canAsk: boolean },
): Promise<ToolOutcome> {
  const { tool, call, args, signal, progress } = context;
  const toolContext: ToolContext = {
    signal,
    progress,
    wantsProgress: call.progressToken !== undefined,
    canAsk: options.canAsk,
    answers: conversation.answers,
    state: conversation.state,
    traceContext: call.traceContext,
    requestId: call.id,
    revision: call.revision,
  };
  return tool.call(args, toolContext);
}

/** An answer to an earlier question must not pass for one to a later question of the same key. */
function without(
  answers: ReadonlyMap<string, Answer>,
  keys: readonly string[],
): ReadonlyMap<string, Answer> {
  return new Map([...answers].filter(([key]) => !keys.includes(key)));
}

/** Enters a tool for the last time, when nobody could be asked: it ends without an answer, as it sees fit. */
async function finish(context: Conversing, conversation: Conversation): Promise<End> {
  const answers = new Map(conversation.answers);
  for (const key of Object.keys(conversation.pending ?? {})) answers.set(key, { action: "cancel" });
  const outcome = await enter(context, { ...conversation, answers }, { canAsk: false });
  return outcome.kind === "result" ? outcome : cannotAsk(outcome.questions, { isModern: false });
}

function cannotAsk(questions: Questions, options: { readonly isModern: boolean }): End {
  if (!options.isModern) {
    return failedResult("cannot-ask", [CANNOT_ASK]);
  }
  const error = {
    code: ErrorCode.missingCapability,
    message: "The tool has to ask and the client declared no capability for it",
    data: { requiredCapabilities: requiredCapabilities(questions) },
  };
  return { kind: "answer", answer: { ok: false, error } };
}

const CANNOT_ASK = "The tool has a question, and this client cannot be asked (form elicitation); " +
  "give what it needs as an argument";

/** Matches the answers that a repeated call brought with the questions that wait. */
async function settleWith(
  responses: JsonObject,
  conversation: Conversation,
  context: Conversing,
): Promise<Conversation> {
  const answers = new Map(conversation.answers);
  const open: Record<string, Questions[string]> = {};
  for (const [key, question] of Object.entries(conversation.pending ?? {})) {
    const answer = await readAnswer(question, member(responses, key), context.validate);
    if (answer === undefined) open[key] = question;
    else answers.set(key, answer);
  }
  const isSettled = Object.keys(open).length === 0;
  return { ...conversation, answers, pending: isSettled ? undefined : open };
}

/** Asks a legacy client until every question has an answer, or it cannot be asked, or the rounds are used up. */
async function settleByAsking(
  conversation: Conversation,
  context: Conversing,
): Promise<Conversation> {
  const answers = new Map(conversation.answers);
  let round = conversation.round;
  for (const [key, question] of Object.entries(conversation.pending ?? {})) {
    let answer: Answer | undefined;
    while (answer === undefined) {
      if (round >= MAX_ROUNDS) return conversation;
      round += 1;
      const response = await context.ask(clientRequest(question, context.call.revision));
      if (response === undefined) return conversation;
      answer = await readAnswer(question, response, context.validate);
    }
    answers.set(key, answer);
  }
  return { ...conversation, answers, round, pending: undefined };
}

/** Answers a modern call with its questions; everything that is known so far travels in the state. */
async function suspend(context: Conversing, conversation: Conversation): Promise<CallAnswer> {
  const { call, sealer, info } = context;
  const pending = conversation.pending ?? {};
  const value: JsonObject = {
    answers: Object.fromEntries(
      [...conversation.answers].map(([key, answer]) => [key, { ...answer }]),
    ),
    pending: Object.fromEntries(
      Object.entries(pending).map(([key, question]) => [key, { ...question }]),
    ),
    ...(conversation.state === undefined ? {} : { state: conversation.state }),
    round: conversation.round + 1,
  };
  const inputRequests = Object.entries(pending).map(([key, question]): [string, JsonObject] => {
    return [key, { ...clientRequest(question, call.revision) }];
  });
  return {
    ok: true,
    result: {
      resultType: "input_required",
      inputRequests: Object.fromEntries(inputRequests),
      requestState: await sealer.seal(value, { tool: call.name, args: call.args }),
      _meta: serverMeta(info),
    },
  };
}

/** A result that does not fit the tool's own schema is a fault of ours; a client would throw it away unread. */
async function checkOutput(
  result: ToolResult,
  context: Pick<CallEnvironment, "tool" | "validate" | "log">,
): Promise<ToolResult> {
  const { outputSchema, name } = context.tool;
  if (outputSchema === undefined || result.isError === true) return result;
  const problems = result.structuredContent === undefined
    ? [{ pointer: "", message: "structuredContent is missing" }]
    : await context.validate(outputSchema, result.structuredContent);
  if (problems.length === 0) return result;
  const causes = problems.map(({ pointer, message }) => `${pointer} ${message}`).join("; ");
  context.log.write("error", `Result of ${name} does not fit its output schema: ${causes}`);
  return { ...result, isError: true };
}
