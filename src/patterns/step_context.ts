/**
 * What the parts of a composition work with.
 *
 * @module
 */
import type { Ledger, LlmProvider, SpanContext } from "../llm/mod.ts";
import type { PatternOptions } from "./options.ts";
import type { PatternRun } from "./run_pattern.ts";

/** What a step of a pipe, or of a workflow, works with. */
export interface StepContext {
  /** Whom to ask. Charged to the whole, even when it is asked directly. */
  readonly provider: LlmProvider;
  /** Options for patterns within the step: account, signal, trace, retries. Spread them into the pattern's own. */
  readonly options: PatternOptions;
  /** Fires when the step is to end. */
  readonly signal: AbortSignal;
}

/**
 * Makes what a part works with, on the account of a run.
 *
 * @param parts Whom it asks, the run, the options of the whole; for a part with an account or an end of its own, `ledger`
 * (below that of the run) and `signal`; for one with a span of its own, `span`.
 * @returns The context, frozen.
 */
export function stepContext(parts: {
  readonly provider: LlmProvider;
  readonly run: PatternRun;
  readonly options: PatternOptions;
  readonly ledger?: Ledger;
  readonly signal?: AbortSignal;
  readonly span?: SpanContext;
}): StepContext {
  const { run } = parts;
  const { retry, timeoutMs, trace, extra, temperature, maxTokens, seed, reasoning, system } =
    parts.options;
  const signal = parts.signal ?? run.signal;
  const ledger = parts.ledger ?? run.ledger;
  const span = parts.span ?? run.span;
  const sampling = { temperature, maxTokens, seed, reasoning, system };
  const given = { ...sampling, retry, timeoutMs, trace, extra };
  return Object.freeze({
    provider: run.metered(parts.provider, { ledger, signal, span }),
    signal,
    options: Object.freeze({
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      ledger,
      signal,
      ports: run.ports,
      span,
    }),
  });
}

/**
 * A value as the next step reads it.
 *
 * @param value Any value.
 * @returns A text as it is; anything else as JSON text, `""` for what JSON does not have.
 */
export function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}
