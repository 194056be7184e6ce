/**
 * What `consensus` and `react_loop` share: a provider, an account with the caps of one call, and honest failures.
 *
 * @module
 */
import type { Ledger, LlmProvider, Usage } from "../llm/mod.ts";
import type { ToolOutcome } from "../mcp/mod.ts";
import { callFailure, configFailure } from "./failure.ts";
import type { ToolSetting } from "./setting.ts";

/** No literals where they are imported: what a literal names is read when the list of tools is, reached or not. */
const LLM: string = "../llm/mod.ts";
const CREATE_TELEMETRY: string = "../patterns/create_telemetry.ts";

/** Loads what opens telemetry, with the first call that has it. */
export async function loadTelemetry(): Promise<typeof import("../patterns/create_telemetry.ts")> {
  return await import(CREATE_TELEMETRY);
}

/** What the work of a call is given. */
export interface ModelCall {
  /** Who is asked. */
  readonly provider: LlmProvider;
  /** The account of this call, below that of the process. */
  readonly ledger: Ledger;
  /** Most milliseconds of the whole call. */
  readonly deadlineMs: number;
  /** Whether the answers are made without a model. */
  readonly scripted: boolean;
  /** Milliseconds since the call began, whole. */
  elapsedMs(): number;
}

/** How a call is bounded and named. */
export interface ModelCallOptions {
  /** What failed, for the text: `Vote failed`. */
  readonly what: string;
  /** Most requests, retries included. */
  readonly maxCalls: number;
}

/**
 * Runs the work of a call; whatever it throws on purpose becomes a result that says what was spent.
 *
 * @param setting What the tool is made from.
 * @param options Bounds and a name.
 * @param work The work.
 * @returns The outcome.
 */
export async function withModel(
  setting: ToolSetting,
  options: ModelCallOptions,
  work: (call: ModelCall) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const { host } = setting;
  const found = await host.models();
  if (found.kind === "problem") return configFailure(found.problem);
  const provider = found.models.tiers.balanced;
  if (provider === undefined) {
    return configFailure({
      code: "invalid",
      message: 'No model is configured for tier "balanced"',
    });
  }
  const { KitError }: typeof import("../llm/mod.ts") = await import(LLM);
  const { clock } = host.ports;
  const startedMs = clock.monotonic();
  const deadlineMs = host.limits.callTimeoutMs;
  const parent = await host.ledger();
  const { maxCallTokens } = host.limits;
  const ledger = parent.child({
    maxCalls: options.maxCalls,
    deadline: startedMs + deadlineMs,
    ...(maxCallTokens === undefined ? {} : { maxTokens: maxCallTokens }),
  });
  try {
    return await work({
      provider,
      ledger,
      deadlineMs,
      scripted: found.models.scripted,
      elapsedMs: () => Math.round(clock.monotonic() - startedMs),
    });
  } catch (error) {
    if (!(error instanceof KitError)) throw error;
    const spent = larger(ledger.spent, error.usage);
    if (error.code === "aborted") {
      // Nobody is answered any more, so the log is where the spend is known.
      const tokens = spent.inputTokens + spent.outputTokens;
      host.ports.log.write(
        "info",
        `Call cancelled after ${spent.llmCalls} requests, ${tokens} tokens`,
      );
    }
    return callFailure(options.what, error, spent);
  }
}

/** The ledger knows all of it; an error from elsewhere may know of more. */
function larger(left: Usage, right: Usage): Usage {
  return left.llmCalls >= right.llmCalls ? left : right;
}

/** The line of a text that says that no model was asked. */
export const SCRIPTED_LINE = "model: scripted (no model was asked)";
