// deno-lint-ignore-file no-console no-external-import -- a script for Node; a chore prints
/**
 * A chat-completions endpoint on loopback in front of a small model in this process:
 * `node real_endpoint.mjs MODEL.gguf`. Prints its base URL. Runs from the folder that holds `node-llama-cpp`.
 *
 * A model this small calls no tool by itself: in the first turn that offers tools it is held to a grammar of calls, as
 * servers do for a required tool; which tool, and with what, is its own choice.
 */
import { Buffer } from "node:buffer";
import { createServer } from "node:http";
import process from "node:process";

const PACKAGE = "node-llama-cpp";
const { getLlama, LlamaChat } = await import(PACKAGE);
const CONTEXT_TOKENS = 2048;
const SEQUENCES = 4;
/** A small model under a grammar may go on for ever; this ends it as a length limit does. */
const MAX_TOKENS = 128;
/** More threads than free cores spin against each other, and a token then takes seconds. */
const THREADS = 1;
/** Longest text in the arguments of a call; a small model under a grammar does not end it by itself. */
const ARGUMENT_LENGTH = 16;
const FINISH_REASONS = { eogToken: "stop", maxTokens: "length" };

const llama = await getLlama({
  build: "never",
  gpu: false,
  progressLogs: false,
  logLevel: "error",
});
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({
  contextSize: CONTEXT_TOKENS,
  sequences: SEQUENCES,
  threads: THREADS,
});
const free = Array.from({ length: SEQUENCES }, () => context.getSequence());
const waiting = [];

const server = createServer(async (request, response) => {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  try {
    const body = await readJson(request);
    if (request.url !== "/v1/chat/completions") return send(response, 404, "No such path");
    send(response, 200, await complete(body, gone.signal));
  } catch (error) {
    if (!gone.signal.aborted) send(response, 500, { error: { message: String(error) } });
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));

async function readJson(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString("utf8"));
}

function send(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function complete(body, signal) {
  const calls = await callGrammar(body);
  const grammar = calls ?? await answerGrammar(body["response_format"]);
  const history = toHistory(body.messages);
  if (calls !== undefined) history.unshift({ type: "system", text: describe(body.tools) });
  const { answer, used } = await generate(history, {
    maxTokens: Math.min(
      body["max_tokens"] ?? body["max_completion_tokens"] ?? MAX_TOKENS,
      MAX_TOKENS,
    ),
    temperature: body.temperature ?? 0.7,
    seed: body.seed ?? Math.floor(Math.random() * 2 ** 31),
    ...(grammar === undefined ? {} : { grammar }),
    signal,
  });
  const reason = FINISH_REASONS[answer.metadata.stopReason] ?? "stop";
  return toCompletion({ text: answer.response, used, reason, called: readCall(calls, answer) });
}

async function generate(history, options) {
  const sequence = free.pop() ?? await new Promise((resolve) => waiting.push(resolve));
  const before = sequence.tokenMeter.getState();
  const chat = new LlamaChat({ contextSequence: sequence });
  try {
    const answer = await chat.generateResponse(history, options);
    return { answer, used: sequence.tokenMeter.diff(before) };
  } finally {
    chat.dispose({ disposeSequence: false });
    await sequence.clearHistory();
    const next = waiting.shift();
    if (next === undefined) free.push(sequence);
    else next(sequence);
  }
}

function toHistory(messages) {
  const history = messages.map(toItem);
  return [...history, { type: "model", response: [] }];
}

/** Calls and observations are told as text: the model was not trained on either. */
function toItem({ role, content, "tool_calls": calls = [] }) {
  if (role === "tool") return { type: "user", text: `The tool answered: ${content}` };
  if (role !== "assistant") return { type: role, text: content };
  return {
    type: "model",
    response: [content ?? JSON.stringify(calls.map((call) => call.function))],
  };
}

/** A grammar of calls, if tools are offered and none has answered yet. */
async function callGrammar(body) {
  const tools = body["tool_choice"] === "none" ? [] : body.tools ?? [];
  if (tools.length === 0 || body.messages.some(({ role }) => role === "tool")) return undefined;
  const oneOf = tools.map(({ function: { name, parameters } }) => ({
    type: "object",
    properties: { name: { const: name }, arguments: argumentsSchema(parameters) },
  }));
  return await llama.createGrammarForJsonSchema({ oneOf });
}

function argumentsSchema({ properties = {} }) {
  const typed = Object.entries(properties).map(([key, { type }]) => [
    key,
    type === "string" ? { type, maxLength: ARGUMENT_LENGTH } : { type },
  ]);
  return { type: "object", properties: Object.fromEntries(typed) };
}

/** Holds the answer to the JSON that was asked for. */
async function answerGrammar(format) {
  if (format?.type === "json_schema") {
    return await llama.createGrammarForJsonSchema(format["json_schema"].schema);
  }
  return format?.type === "json_object" ? await llama.getGrammarFor("json") : undefined;
}

function describe(tools) {
  const lines = tools.map(({ function: { name, description } }) => `${name}: ${description}`);
  return `Tools:\n${lines.join("\n")}\nAnswer with the name of one tool and its arguments as JSON.`;
}

function readCall(grammar, answer) {
  if (grammar === undefined || answer.metadata.stopReason === "maxTokens") return undefined;
  return grammar.parse(answer.response);
}

function toCompletion({ text, used, reason, called }) {
  const wire = { name: called?.name, arguments: JSON.stringify(called?.arguments) };
  const message = called === undefined ? { role: "assistant", content: text } : {
    role: "assistant",
    content: null,
    "tool_calls": [{ id: "call_0", type: "function", function: wire }],
  };
  return {
    id: `chatcmpl-${Date.now()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: process.argv[2].split("/").at(-1),
    choices: [{ index: 0, message, "finish_reason": called === undefined ? reason : "tool_calls" }],
    usage: {
      "prompt_tokens": used.usedInputTokens,
      "completion_tokens": used.usedOutputTokens,
      "total_tokens": used.usedInputTokens + used.usedOutputTokens,
    },
  };
}
