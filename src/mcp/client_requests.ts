/**
 * Requests of ours to a legacy client, and the answers to them.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import { encodeLine, type LineWriter, notification, type Response } from "../jsonrpc/mod.ts";
import type { Ports } from "../ports/mod.ts";
import type { ClientRequest } from "./questions.ts";

/** How long a person has to answer. */
export const QUESTION_LIFETIME_MS = 600_000;

/** What goes out to the client, and what waits for its answer. */
export class ClientRequests {
  readonly #writer: LineWriter;
  readonly #ports: Pick<Ports, "clock" | "log">;
  readonly #open = new Map<string, (result: JsonValue | undefined) => void>();
  #count = 0;
  #isClosed = false;

  /**
   * Starts with nothing asked.
   *
   * @param writer The way out.
   * @param ports Clock for time limits, log for what answers nothing.
   */
  constructor(writer: LineWriter, ports: Pick<Ports, "clock" | "log">) {
    this.#writer = writer;
    this.#ports = ports;
  }

  /**
   * Sends a request and waits for its result.
   *
   * @param request What is asked.
   * @param signal Takes the request back: the client is told, since the person may still look at it.
   * @returns The result; `undefined` if the client refused, the time is over, or nobody can answer any more.
   */
  async ask(request: ClientRequest, signal: AbortSignal): Promise<JsonValue | undefined> {
    if (this.#isClosed || signal.aborted) return undefined;
    this.#count += 1;
    const id = `kit-${this.#count}`;
    const answered = Promise.withResolvers<JsonValue | undefined>();
    const withdraw = (): void => {
      this.#writer.push(encodeLine(notification("notifications/cancelled", { requestId: id })));
      answered.resolve(undefined);
    };
    using deadline = this.#ports.clock.deadline(QUESTION_LIFETIME_MS);
    signal.addEventListener("abort", withdraw, { once: true });
    deadline.signal.addEventListener("abort", withdraw, { once: true });
    this.#open.set(id, answered.resolve);
    const { method, params } = request;
    this.#writer.push(encodeLine({ jsonrpc: "2.0", id, method, params }));
    try {
      return await answered.promise;
    } finally {
      this.#open.delete(id);
      signal.removeEventListener("abort", withdraw);
      deadline.signal.removeEventListener("abort", withdraw);
    }
  }

  /**
   * Takes an answer.
   *
   * @param response The answer.
   * @returns Whether a request of ours waited for it.
   */
  settle(response: Response): boolean {
    const { id, outcome } = response;
    const settle = typeof id === "string" ? this.#open.get(id) : undefined;
    if (settle === undefined || outcome === undefined) return false;
    if (!outcome.ok) this.#ports.log.write("warning", "The client refused to ask for a tool");
    settle(outcome.ok ? outcome.result : undefined);
    return true;
  }

  /** Gives up all that is asked, since no answer can come any more. */
  close(): void {
    this.#isClosed = true;
    for (const settle of this.#open.values()) settle(undefined);
  }
}
