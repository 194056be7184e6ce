/**
 * The server: it does what {@linkcode dispatch} decides, and keeps what is under way.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import {
  byteLength,
  decodeLine,
  encodeLine,
  failure,
  MAX_OUTPUT_BYTES,
  notification,
  type Outgoing,
  success,
  unreadable,
} from "../jsonrpc/codec.ts";
import {
  ErrorCode,
  type ErrorObject,
  type Incoming,
  type RequestId,
  type Response,
} from "../jsonrpc/message.ts";
import type { InputLine } from "../jsonrpc/read_lines.ts";
import type { LogLevel } from "../ports/mod.ts";
import { dispatch } from "./dispatch.ts";
import type { CallRequest, ConnectionView, Effect, Session } from "./effects.ts";
import { serverMeta, SUBSCRIPTION_KEY } from "./meta.ts";
import type { Caller } from "./calling.ts";
import type { ProgressReporter } from "./progress.ts";
import type { Revision } from "./revisions.ts";
import type { ServerOptions } from "./server_options.ts";
import type { Progress } from "./tool.ts";

/** A request that has not been answered yet, or a stream that is open. */
interface InFlight {
  readonly id: RequestId;
  readonly isStream: boolean;
  readonly controller: AbortController;
  readonly batch: BatchAnswer | undefined;
  reporter?: ProgressReporter;
}

/** Answers to the elements of one batch. */
interface BatchAnswer {
  /** How many are still to come. */
  open: number;
  /** Those that are there and have not left, encoded. */
  lines: string[];
  /** How long the array of them would be. */
  bytes: number;
}

/** Not literals within `import()`: what those lead to is read at the start of the program, reached or not. */
const CALLING: string = "./calling.ts";
const TOOL_SHAPES: string = "./tool_shapes.ts";

/** A server on one connection. */
export class Server {
  readonly #options: ServerOptions;
  readonly #inFlight = new Map<RequestId, InFlight>();
  readonly #view: ConnectionView;
  #session: Session | undefined;
  #openStreams = 0;
  #inputEnded = false;
  #calling: Promise<Caller> | undefined;
  #caller: Caller | undefined;
  /** What `tools/list` answers, once the tools are there: from then on without waiting. */
  #listResult: ((revision: Revision) => JsonObject) | undefined;
  #whenIdle: (() => void)[] = [];

  /**
   * Starts without a session and with nothing under way.
   *
   * @param options What it is made of.
   */
  constructor(options: ServerOptions) {
    this.#options = options;
    const session = (): Session | undefined => this.#session;
    const openStreams = (): number => this.#openStreams;
    this.#view = {
      get session(): Session | undefined {
        return session();
      },
      get openStreams(): number {
        return openStreams();
      },
      isInFlight: (id) => this.#inFlight.has(id),
    };
  }

  /** How many requests have not been answered yet; open streams do not count. */
  get pendingCalls(): number {
    return this.#inFlight.size - this.#openStreams;
  }

  /**
   * Takes a line of the client. Whatever needs no waiting is answered before this returns.
   *
   * @param line The line.
   */
  receive(line: InputLine): void {
    const incoming = this.#read(line);
    if (incoming === undefined) return;
    try {
      for (const effect of dispatch(incoming, this.#view, this.#options.info)) {
        this.#perform(effect);
      }
    } catch (error) {
      // One message must not end what the others asked for.
      const fault = this.#internal(error);
      if (incoming.kind === "request") this.#answer(failure(incoming.id, fault));
    }
  }

  /**
   * Takes the end of input: calls may end for a while, then they are given up; streams are closed.
   *
   * @param options `drainMs`: how long calls may take to end.
   */
  async end(options: { readonly drainMs: number }): Promise<void> {
    this.#inputEnded = true;
    this.#caller?.endInput();
    if (this.pendingCalls > 0) {
      const { clock } = await this.#options.ports();
      using deadline = clock.deadline(options.drainMs);
      await Promise.race([this.#idleness(), aborted(deadline.signal)]);
    }
    for (const request of [...this.#inFlight.values()]) {
      if (request.isStream) this.#closeStream(request);
    }
    this.abort();
  }

  /** Gives everything up at once and answers nothing more. */
  abort(): void {
    for (const request of [...this.#inFlight.values()]) this.#giveUp(request);
  }

  #read(line: InputLine): Incoming | undefined {
    if (typeof line === "string") return isBlank(line) ? undefined : decodeLine(line);
    if (line.kind === "fault") {
      const message = FAULTS[line.fault];
      if (!line.isUnterminated) return unreadable(message);
      this.#log("warning", `Dropped the last line of input: ${message}`);
      return undefined;
    }
    if (isBlank(line.text)) return undefined;
    const incoming = decodeLine(line.text);
    if (incoming.kind !== "invalid" || incoming.error.code !== ErrorCode.parse) return incoming;
    this.#log("warning", "Dropped the last line of input: it has no end and is not JSON");
    return undefined;
  }

  #perform(effect: Effect, batch?: BatchAnswer): void {
    switch (effect.kind) {
      case "reply":
        return this.#answer(success(effect.id, effect.result), batch);
      case "refuse":
        return this.#answer(failure(effect.id, effect.error), batch);
      case "open-session":
        this.#session = effect.session;
        return;
      case "confirm-session":
        if (this.#session !== undefined) this.#session = { ...this.#session, isConfirmed: true };
        return;
      case "list-tools":
        return this.#list(effect.id, effect.revision, batch);
      case "call-tool":
        return this.#call(effect.call, batch);
      case "open-stream":
        return this.#openStream(effect.id);
      case "cancel":
        return this.#cancel(effect.id);
      case "settle":
        return this.#settle(effect.response);
      case "batch":
        return this.#performBatch(effect.effects);
    }
  }

  #performBatch(effects: readonly Effect[]): void {
    // Held open by one until all elements have begun.
    const batch: BatchAnswer = { open: 1, lines: [], bytes: ARRAY_BYTES };
    for (const effect of effects) this.#perform(effect, batch);
    this.#closeElement(batch);
  }

  #closeElement(batch: BatchAnswer): void {
    batch.open -= 1;
    if (batch.open === 0) this.#sendBatch(batch);
  }

  #sendBatch(batch: BatchAnswer): void {
    if (batch.lines.length === 0) return;
    this.#options.writer.push(`[${batch.lines.join(",")}]`);
    batch.lines = [];
    batch.bytes = ARRAY_BYTES;
  }

  #answer(message: Outgoing, batch?: BatchAnswer): void {
    const line = encodeLine(message);
    if (batch === undefined) return this.#options.writer.push(line);
    const bytes = byteLength(line) + COMMA_BYTES;
    // Rather several arrays than one that no client reads, or answers that are lost.
    if (batch.bytes + bytes > MAX_OUTPUT_BYTES) this.#sendBatch(batch);
    batch.lines.push(line);
    batch.bytes += bytes;
  }

  #begin(id: RequestId, batch: BatchAnswer | undefined): InFlight {
    const request: InFlight = { id, isStream: false, controller: new AbortController(), batch };
    this.#inFlight.set(id, request);
    if (batch !== undefined) batch.open += 1;
    return request;
  }

  /** Answers a request, unless it was given up meanwhile. */
  #finish(request: InFlight, message: Outgoing): void {
    if (this.#inFlight.get(request.id) !== request) return;
    request.reporter?.finish();
    this.#answer(message, request.batch);
    this.#forget(request);
  }

  #giveUp(request: InFlight): void {
    if (request.isStream) this.#openStreams -= 1;
    request.reporter?.drop();
    this.#options.writer.discard(request);
    request.controller.abort(new DOMException("The call was given up", "AbortError"));
    this.#forget(request);
  }

  #forget(request: InFlight): void {
    this.#inFlight.delete(request.id);
    if (request.batch !== undefined) this.#closeElement(request.batch);
    if (this.pendingCalls > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #idleness(): Promise<void> {
    const idle = Promise.withResolvers<void>();
    this.#whenIdle.push(idle.resolve);
    return idle.promise;
  }

  #cancel(id: RequestId): void {
    const request = this.#inFlight.get(id);
    if (request !== undefined) this.#giveUp(request);
  }

  #list(id: RequestId, revision: Revision, batch: BatchAnswer | undefined): void {
    if (this.#listResult !== undefined) {
      return this.#answer(success(id, this.#listResult(revision)), batch);
    }
    const request = this.#begin(id, batch);
    this.#loadList().then(
      (listResult) => this.#finish(request, success(id, listResult(revision))),
      (error) => this.#finish(request, failure(id, this.#internal(error))),
    );
  }

  async #loadList(): Promise<(revision: Revision) => JsonObject> {
    const { info, tools } = this.#options;
    const { listResult }: typeof import("./tool_shapes.ts") = await import(TOOL_SHAPES);
    const list = await tools();
    return this.#listResult = (revision) => listResult(list, revision, info);
  }

  #call(call: CallRequest, batch: BatchAnswer | undefined): void {
    const request = this.#begin(call.id, batch);
    if (this.#caller === undefined) {
      this.#loadCaller().then(
        (caller) => this.#enqueue(caller, call, request),
        (error) => this.#finish(request, failure(request.id, this.#internal(error))),
      );
    } else {
      this.#enqueue(this.#caller, call, request);
    }
  }

  #enqueue(caller: Caller, call: CallRequest, request: InFlight): void {
    const { signal } = request.controller;
    const hasRoom = caller.queue.add(async () => {
      // The place of a call that was given up is free at once, whenever its tool takes notice.
      if (!signal.aborted) {
        await Promise.race([this.#execute(caller, call, request), aborted(signal)]);
      }
    }, signal);
    if (!hasRoom) this.#finish(request, caller.busy(call));
  }

  async #execute(caller: Caller, call: CallRequest, request: InFlight): Promise<void> {
    const { signal } = request.controller;
    try {
      const reporter = caller.reporter(call, request);
      if (reporter !== undefined) request.reporter = reporter;
      const progress = (report: Progress): void => reporter?.report(report);
      this.#finish(request, await caller.call(call, { signal, progress }));
    } catch (error) {
      if (!signal.aborted) this.#finish(request, failure(request.id, this.#internal(error)));
    }
  }

  #loadCaller(): Promise<Caller> {
    return this.#calling ??= this.#importCaller();
  }

  async #importCaller(): Promise<Caller> {
    const { Caller }: typeof import("./calling.ts") = await import(CALLING);
    const caller = new Caller(this.#options, await this.#options.ports());
    if (this.#inputEnded) caller.endInput();
    this.#caller = caller;
    return caller;
  }

  #settle(response: Response): void {
    if (this.#caller?.settle(response) === true) return;
    this.#log("warning", "Ignored a response that answers no request of ours");
  }

  #openStream(id: RequestId): void {
    const controller = new AbortController();
    this.#inFlight.set(id, { id, isStream: true, controller, batch: undefined });
    this.#openStreams += 1;
    const params = { _meta: { [SUBSCRIPTION_KEY]: id }, notifications: {} };
    this.#answer(notification("notifications/subscriptions/acknowledged", params));
  }

  /** Ends a stream from our side: one page of the protocol asks for the response, another for the notification. */
  #closeStream(request: InFlight): void {
    const { id } = request;
    this.#openStreams -= 1;
    this.#inFlight.delete(id);
    const _meta = { ...serverMeta(this.#options.info), [SUBSCRIPTION_KEY]: id };
    this.#answer(success(id, { resultType: "complete", _meta }));
    this.#answer(notification("notifications/cancelled", { requestId: id }));
  }

  #log(level: LogLevel, message: string): void {
    this.#options.ports().then(({ log }) => log.write(level, message));
  }

  #internal(error: unknown): ErrorObject {
    const cause = error instanceof Error ? error.stack ?? error.message : String(error);
    this.#log("error", `A fault of ours: ${cause}`);
    return { code: ErrorCode.internal, message: "Internal error" };
  }
}

/** What an array is longer than its elements: brackets, without a comma behind the last one. */
const ARRAY_BYTES = 1;
/** A comma behind each element. */
const COMMA_BYTES = 1;

const FAULTS = {
  "not-utf8": "Line is not UTF-8",
  "too-long": "Line is longer than this server reads",
} as const;

const OPEN_BRACE = 0x7b;

function isBlank(line: string): boolean {
  return line.charCodeAt(0) !== OPEN_BRACE && /^[ \t\r]*$/.test(line);
}

function aborted(signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => over.resolve(), { once: true });
  if (signal.aborted) over.resolve();
  return over.promise;
}
