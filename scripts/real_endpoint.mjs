// deno-lint-ignore-file no-console no-external-import -- a script for Node; a chore prints
/**
 * A chat-completions endpoint on loopback in front of a small model in this process:
 * `node real_endpoint.mjs MODEL.gguf`. Prints its base URL. Runs from the folder that holds `node-llama-cpp`.
 *
 * Offered tools are put to the model as functions with a grammar, so that what it calls can be parsed.
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

async function withSequence(body) {
  const sequence = free.pop() ?? await new Promise((resolve) => waiting.push(resolve));
  try {
    return await body(sequence);
  } finally {
    await sequence.clearHistory();
    const next = waiting.shift();
    if (next === undefined) free.push(sequence);
    else next(sequence);
  }
}

function toHistory(messages) {
  const history = [];
  for (const message of messages) {
    if (message.role === "assistant") history.push(toModelItem(message));
    else if (message.role === "tool") addResult(history, message);
    else history.push({ type: message.role, text: message.content });
  }
  if (history.at(-1)?.type !== "model") history.push({ type: "model", response: [] });
  return history;
}

function toModelItem(message) {
  const calls = (message.tool_calls ?? []).map((call) => ({
    type: "functionCall",
    name: call.function.name,
    params: JSON.parse(call.function.arguments),
    id: call.id,
    result: undefined,
  }));
  return { type: "model", response: [...(message.content ? [message.content] : []), ...calls] };
}

function addResult(history, message) {
  const calls = history.flatMap((item) => item.type === "model" ? item.response : []);
  const call = calls.find((part) => part.id === message.tool_call_id);
  if (call !== undefined) call.result = message.content;
}

function toFunctions(tools) {
  return Object.fromEntries(tools.map(({ function: { name, description, parameters } }) => {
    const properties = Object.entries(parameters.properties ?? {}).map(([key, schema]) => [
      key,
      { type: schema.type, description: schema.description },
    ]);
    return [name, {
      description,
      params: { type: "object", properties: Object.fromEntries(properties) },
    }];
  }));
}

async function complete(body, signal) {
  const history = toHistory(body.messages);
  const tools = body.tool_choice === "none" ? [] : body.tools ?? [];
  return await withSequence(async (sequence) => {
    const before = sequence.tokenMeter.getState();
    const chat = new LlamaChat({ contextSequence: sequence });
    try {
      const answer = await chat.generateResponse(history, {
        maxTokens: Math.min(
          body.max_tokens ?? body.max_completion_tokens ?? MAX_TOKENS,
          MAX_TOKENS,
        ),
        temperature: body.temperature ?? 0.7,
        seed: body.seed ?? Math.floor(Math.random() * 2 ** 31),
        ...(tools.length === 0
          ? {}
          : { functions: toFunctions(tools), documentFunctionParams: true }),
        ...(tools.length === 0 ? await grammarOf(body.response_format) : {}),
        signal,
        stopOnAbortSignal: false,
      });
      const used = sequence.tokenMeter.diff(before);
      return toCompletion(answer, used);
    } finally {
      chat.dispose({ disposeSequence: false });
    }
  });
}

/** Holds the answer to the JSON that was asked for. */
async function grammarOf(format) {
  if (format?.type === "json_schema") {
    return { grammar: await llama.createGrammarForJsonSchema(format.json_schema.schema) };
  }
  return format?.type === "json_object" ? { grammar: await llama.getGrammarFor("json") } : {};
}

function toCompletion(answer, used) {
  const calls = answer.functionCalls ?? [];
  const reasons = { eogToken: "stop", maxTokens: "length", functionCalls: "tool_calls" };
  const message = { role: "assistant", content: answer.response === "" ? null : answer.response };
  if (calls.length > 0) {
    message.tool_calls = calls.map((call, index) => ({
      id: `call_${index}`,
      type: "function",
      function: { name: call.functionName, arguments: JSON.stringify(call.params ?? {}) },
    }));
  }
  return {
    id: `chatcmpl-${Date.now()}`,
    object: "chat.completion",
    created: Math.floor(Date.now() / 1000),
    model: process.argv[2].split("/").at(-1),
    choices: [{
      index: 0,
      message,
      finish_reason: calls.length > 0
        ? "tool_calls"
        : reasons[answer.metadata.stopReason] ?? "stop",
    }],
    usage: {
      prompt_tokens: used.usedInputTokens,
      completion_tokens: used.usedOutputTokens,
      total_tokens: used.usedInputTokens + used.usedOutputTokens,
    },
  };
}

function send(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const server = createServer(async (request, response) => {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  if (request.url !== "/v1/chat/completions") {
    return send(response, 404, { error: { message: "No such path" } });
  }
  const parts = [];
  for await (const part of request) parts.push(part);
  try {
    const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
    const completion = await complete(body, gone.signal);
    console.error(`${body.messages.at(-1).role}: ${JSON.stringify(completion.choices[0].message)}`);
    send(response, 200, completion);
  } catch (error) {
    if (!gone.signal.aborted) send(response, 500, { error: { message: String(error) } });
  }
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
