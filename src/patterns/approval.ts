/**
 * Somebody's yes before something is done. Everything but a clear yes is a no.
 *
 * @module
 */
import { deepFreeze, type JsonValue } from "../json/mod.ts";
import {
  AbortedError,
  ConfigError,
  KitError,
  linkSignals,
  raceSignal,
  redactData,
} from "../llm/mod.ts";
import { ambientPorts, type Clock } from "../ports/mod.ts";
import { checkFunction, checkNumber, requireFunction } from "./options.ts";

/** What somebody is asked to approve. */
export interface ApprovalRequest {
  /** What is about to be done. */
  readonly action: "tool_call" | "workflow_step" | "plan_step";
  /** With what: the name of the tool or step. */
  readonly subject: string;
  /** Exactly what will be done, as a frozen copy with secrets masked: the arguments of a tool call. */
  readonly details: JsonValue;
  /** Fires when the answer is not wanted any more. */
  readonly signal: AbortSignal;
}

/** What somebody said. */
export interface ApprovalDecision {
  /** Whether it may be done. */
  readonly approved: boolean;
  /** Why not. */
  readonly reason?: string;
}

/**
 * Decides. Only an object whose `approved` is the boolean `true` is a yes; anything else, and anything thrown, is a
 * no. A string `reason` beside it is passed on.
 */
export type Approver = (request: ApprovalRequest) => unknown;

/** How long a gate waits, and what then. */
export interface ApprovalGateOptions {
  /** Most milliseconds to wait for an answer, default 300000. */
  readonly timeoutMs?: number;
  /** What no answer means: `deny` (default), `throw`, or `approve`, which also needs `unsafeAllowFailOpen`. */
  readonly onTimeout?: "deny" | "throw" | "approve";
  /** Allows `onTimeout: "approve"`: what nobody looked at is done. Default false. */
  readonly unsafeAllowFailOpen?: boolean;
  /** Masks secrets in the texts that are shown; default Kit's own rules. Members named as secrets are masked anyway. */
  readonly redact?: (text: string) => string;
}

const DEFAULT_TIMEOUT_MS = 300_000;
const MAX_REASON_CHARACTERS = 500;

/**
 * Asks before something is done, and fails closed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { manualPorts } from "@kit/mcp/testing";
 *
 * const gate = new ApprovalGate(({ subject }) => ({ approved: subject === "read_file" }));
 * const { clock } = manualPorts();
 * const signal = new AbortController().signal;
 * const ask = { action: "tool_call", details: {}, signal } as const;
 * assertEquals((await gate.request({ ...ask, subject: "read_file" }, { clock })).approved, true);
 * assertEquals((await gate.request({ ...ask, subject: "delete_file" }, { clock })).approved, false);
 * ```
 */
export class ApprovalGate {
  readonly #approver: Approver;
  readonly #options: ApprovalGateOptions;

  /**
   * Makes a gate.
   *
   * @param approver Decides.
   * @param options How long to wait.
   * @throws {ConfigError} Code `argument`, if it is to approve by time-out without `unsafeAllowFailOpen`, or the time-out
   * is below a millisecond.
   */
  constructor(approver: Approver, options: ApprovalGateOptions = {}) {
    if (options.onTimeout === "approve" && options.unsafeAllowFailOpen !== true) {
      throw new ConfigError(
        'Cannot make an approval gate: onTimeout "approve" does what nobody approved; ' +
          "set unsafeAllowFailOpen to true if that is meant",
        { code: "argument" },
      );
    }
    if (options.timeoutMs !== undefined) {
      checkNumber("timeoutMs", options.timeoutMs, { min: 1, integer: false });
    }
    requireFunction("approver", approver);
    checkFunction("option redact", options.redact);
    this.#approver = approver;
    this.#options = options;
  }

  /** A gate that lets everything pass. */
  static allowAll(): ApprovalGate {
    return new ApprovalGate(() => ({ approved: true }));
  }

  /** A gate that lets nothing pass. */
  static denyAll(reason = "everything is denied"): ApprovalGate {
    return new ApprovalGate(() => ({ approved: false, reason }));
  }

  /**
   * Asks.
   *
   * @param request What for.
   * @param options `clock` measures the time-out, default the ambient one.
   * @returns The decision.
   * @throws {KitError} Code `approval_timeout` where no answer means that; `aborted` if the request's signal fires.
   */
  async request(
    request: ApprovalRequest,
    options: { readonly clock?: Clock } = {},
  ): Promise<ApprovalDecision> {
    const clock = options.clock ?? ambientPorts().clock;
    using timer = clock.deadline(this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    using linked = linkSignals([request.signal, timer.signal]);
    const details = deepFreeze(redactData(request.details, this.#options.redact));
    const question: ApprovalRequest = Object.freeze({
      ...request,
      details,
      signal: linked.signal,
    });
    try {
      return readDecision(await raceSignal(ask(this.#approver, question), linked.signal));
    } catch (error) {
      if (request.signal.aborted) {
        throw new AbortedError(undefined, { cause: request.signal.reason });
      }
      return timer.signal.aborted ? this.#timedOut(request) : denied(error);
    }
  }

  /**
   * Asks, and throws unless the answer is yes.
   *
   * @param request What for.
   * @param options As of `request`.
   * @throws {KitError} Code `approval_denied`, with the reason; and as `request` does.
   */
  async require(
    request: ApprovalRequest,
    options: { readonly clock?: Clock } = {},
  ): Promise<void> {
    const decision = await this.request(request, options);
    if (decision.approved) return;
    throw new KitError(
      "approval_denied",
      `Not approved: ${request.action} "${request.subject}": ${
        decision.reason ?? "no reason given"
      }`,
    );
  }

  #timedOut(request: ApprovalRequest): ApprovalDecision {
    switch (this.#options.onTimeout) {
      case "approve":
        return { approved: true };
      case "throw":
        throw new KitError(
          "approval_timeout",
          `Nobody answered in time: ${request.action} "${request.subject}"`,
        );
      default:
        return { approved: false, reason: "nobody answered in time" };
    }
  }
}

async function ask(approver: Approver, request: ApprovalRequest): Promise<unknown> {
  return await approver(request);
}

function readDecision(answer: unknown): ApprovalDecision {
  if (typeof answer !== "object" || answer === null || !Object.hasOwn(answer, "approved")) {
    return { approved: false, reason: "the approver gave no decision" };
  }
  const { approved, reason } = answer as { readonly approved: unknown; readonly reason?: unknown };
  if (approved === true) return { approved: true };
  return typeof reason === "string"
    ? { approved: false, reason: reason.slice(0, MAX_REASON_CHARACTERS) }
    : { approved: false };
}

function denied(error: unknown): ApprovalDecision {
  const name = error instanceof Error ? error.name : typeof error;
  return { approved: false, reason: `the approver failed (${name})` };
}
