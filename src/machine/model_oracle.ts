/**
 * The oracle that asks models.
 *
 * @module
 */
import {
  callModel,
  type CallOptions,
  createLedger,
  KitError,
  type Ledger,
  type LlmProvider,
  type LlmResponse,
  type Message,
  type RetryPolicy,
  type SpanContext,
  type TraceSink,
} from "../llm/mod.ts";
import type { JsonObject, JsonValue } from "../json/mod.ts";
import { ambientPorts, type Ports } from "../ports/mod.ts";
import type { Tier } from "./document.ts";
import { judgeMessages } from "./judge_messages.ts";
import { readJudgeReply } from "./judge_reply.ts";
import {
  type JudgeRequest,
  type Oracle,
  type Produced,
  type ProduceRequest,
  RefusalError,
  type Tokens,
  type Verdict,
} from "./oracle.ts";
import type { StateMessages } from "./prompts.ts";

/** Which models answer, and how they are called. */
export interface ModelOracleOptions {
  /** A model for each tier that machines may use. */
  readonly tiers: Readonly<Partial<Record<Tier, LlmProvider>>>;
  /** The model that judges every gate; default the one of the state's tier. */
  readonly judge?: LlmProvider;
  /**
   * Fields of requests for texts by tier, such as `max_tokens`, `temperature`, `seed`, `stop`; others go to the
   * endpoint as they are. Judges are asked without them.
   */
  readonly params?: Readonly<Partial<Record<Tier, JsonObject>>>;
  /** Where every attempt is reserved and charged; default an account without caps. */
  readonly ledger?: Ledger;
  /** How often to try again; default three attempts. */
  readonly retry?: RetryPolicy;
  /** Most tokens of a text; default 4096. */
  readonly maxTokens?: number;
  /** Most milliseconds of an attempt; default the provider's. */
  readonly timeoutMs?: number;
  /** Where trace events go; default nowhere. */
  readonly trace?: TraceSink;
  /** The span above the calls, for the trace. */
  readonly span?: SpanContext;
  /** Time and chance; default the ambient ports. */
  readonly ports?: Pick<Ports, "clock" | "random">;
}

/** Completion tokens of a text where nothing else is said. */
export const MAX_PRODUCE_TOKENS = 4096;

const MAX_JUDGE_TOKENS = 4096;
/** What a judge needs that answers at once, without thinking. */
const MAX_SHORT_JUDGE_TOKENS = 64;
const TRUNCATED: ReadonlySet<string> = new Set([
  "length",
  "max_tokens",
  "model_context_window_exceeded",
]);
const SCRATCHPAD = /^\s*<scratchpad>([\s\S]*?)(?:<\/scratchpad>|$)/;
const SCRATCHPAD_SECTION =
  "\n\n## Thinking first\nThink in a scratchpad before you answer: open your reply with <scratchpad>, think, close it " +
  "with </scratchpad>, and only then give the answer. Nothing in the scratchpad is part of the answer.";

/**
 * Makes an oracle that asks models, with retries, limits and accounts as everywhere in Kit.
 *
 * @param options Which models, and how.
 * @returns The oracle.
 */
export function createModelOracle(options: ModelOracleOptions): Oracle {
  const ledger = options.ledger ?? createLedger();
  const tiers = (["balanced", "fast", "reasoning"] as const)
    .filter((tier) => options.tiers[tier] !== undefined);
  return {
    tiers,
    judgeModel: (tier) => {
      const provider = options.judge ?? options.tiers[tier];
      return provider === undefined ? undefined : provider.model ?? provider.name ?? "unnamed";
    },
    produce: (request) => produce(request, { ...options, ledger }),
    judge: (request) => judge(request, { ...options, ledger }),
  };
}

type Settings = ModelOracleOptions & { readonly ledger: Ledger };

async function produce(request: ProduceRequest, settings: Settings): Promise<Produced> {
  const provider = settings.tiers[request.tier];
  if (provider === undefined) throw new Error(`tier '${request.tier}' has no model`);
  const native = request.reason && provider.supportsReasoning === true;
  const scratchpad = request.reason && !native;
  const messages = scratchpad
    ? { ...request, system: request.system + SCRATCHPAD_SECTION }
    : request;
  const { response, tokens } = await ask(provider, messages, {
    ...callSettings(settings),
    temperature: request.temperature,
    maxTokens: settings.maxTokens ?? MAX_PRODUCE_TOKENS,
    ...(native ? { reasoning: true } : {}),
    ...readParams(settings.params?.[request.tier] ?? {}),
    signal: request.signal,
  });
  const answer = scratchpad ? splitScratchpad(response) : response;
  const reasoning = answer.reasoning?.trim() ?? "";
  const reason = response.rawFinishReason ?? response.finishReason;
  return {
    text: answer.content.trim(),
    tokens,
    ...(reasoning === "" ? {} : { reasoning }),
    truncated: response.finishReason === "length" || TRUNCATED.has(reason.toLowerCase()),
    finishReason: reason,
  };
}

async function judge(request: JudgeRequest, settings: Settings): Promise<Verdict> {
  const provider = settings.judge ?? settings.tiers[request.tier];
  if (provider === undefined) throw new Error(`tier '${request.tier}' has no model`);
  const messages = judgeMessages(request, (settings.ports ?? ambientPorts()).random);
  const short = provider.name === "anthropic";
  const { response, tokens } = await ask(provider, messages, {
    ...callSettings(settings),
    temperature: 0,
    maxTokens: short ? MAX_SHORT_JUDGE_TOKENS : MAX_JUDGE_TOKENS,
    ...(provider.supportsResponseFormat ? { responseFormat: { type: "json_object" } } : {}),
    signal: request.signal,
  });
  const reply = readJudgeReply(response.content, request.conditions.length + 1);
  return "raw" in reply
    ? { kind: "unparseable", raw: reply.raw, tokens }
    : { kind: "choice", ...reply, tokens };
}

function callSettings(settings: Settings): CallOptions {
  const { ledger, retry, ports, timeoutMs, trace, span } = settings;
  return {
    // An account of its own tells what this call spent, attempts that failed and estimated counts included.
    ledger: ledger.child(),
    ...(retry === undefined ? {} : { retry }),
    ...(ports === undefined ? {} : { ports }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(trace === undefined ? {} : { trace }),
    ...(span === undefined ? {} : { span }),
  };
}

async function ask(
  provider: LlmProvider,
  text: StateMessages,
  how: CallOptions,
): Promise<{ readonly response: LlmResponse; readonly tokens: Tokens }> {
  const messages: readonly Message[] = [
    { role: "system", content: text.system },
    { role: "user", content: text.user },
  ];
  let response: LlmResponse;
  try {
    response = await callModel(provider, messages, how);
  } catch (error) {
    if (!(error instanceof KitError) || error.code !== "content_filter") throw error;
    throw new RefusalError(error.message, spent(how.ledger));
  }
  const tokens = spent(how.ledger);
  if (isRefusal(response)) {
    throw new RefusalError(response.refusal ?? "the model declined to answer", tokens);
  }
  return { response, tokens };
}

function spent(account: Ledger): Tokens {
  return { input: account.spent.inputTokens, output: account.spent.outputTokens };
}

function isRefusal(response: LlmResponse): boolean {
  return response.finishReason === "refusal" || response.finishReason === "content_filter" ||
    (response.refusal !== undefined && response.content.trim() === "");
}

function splitScratchpad(response: LlmResponse): { content: string; reasoning?: string } {
  const found = SCRATCHPAD.exec(response.content);
  if (found === null) return response;
  const thinking = [response.reasoning, found[1]?.trim()].filter((text) => text).join("\n");
  return { content: response.content.slice(found[0].length), reasoning: thinking };
}

/** Reads the fields that Kit sends by name; the endpoint gets all others as they are written. */
function readParams(params: JsonObject): Partial<CallOptions> {
  const extra: Record<string, JsonValue> = { ...params };
  const known: { -readonly [K in keyof CallOptions]?: CallOptions[K] } = {};
  if (typeof params.max_tokens === "number") known.maxTokens = params.max_tokens;
  if (typeof params.temperature === "number") known.temperature = params.temperature;
  if (typeof params.seed === "number") known.seed = params.seed;
  if (Array.isArray(params.stop)) {
    known.stop = params.stop.filter((text) => typeof text === "string");
  }
  for (const name of ["max_tokens", "temperature", "seed", "stop"]) delete extra[name];
  return Object.keys(extra).length === 0 ? known : { ...known, extra };
}
