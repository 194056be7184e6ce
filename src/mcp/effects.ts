/**
 * What a message makes the server do. {@linkcode dispatch} decides, the server does.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { ErrorObject, RequestId, Response } from "../jsonrpc/mod.ts";
import type { LegacyRevision, Revision } from "./revisions.ts";

/** What `initialize` made. Modern requests neither make, read nor change it. */
export interface Session {
  /** The revision that was agreed on. */
  readonly revision: LegacyRevision;
  /** What the client can do. */
  readonly capabilities: JsonObject;
  /** Whether the client confirmed with `notifications/initialized`; before, it is sent no request. */
  readonly isConfirmed: boolean;
}

/** The part of a connection that decisions depend on. */
export interface ConnectionView {
  /** What `initialize` made, if anything. */
  readonly session: Session | undefined;
  /** How many streams of notifications are open. */
  readonly openStreams: number;
  /** Whether a request with this id has not been answered yet, or a stream with it is open. */
  isInFlight(id: RequestId): boolean;
}

/** A call of a tool whose outer form was checked. Name and arguments were not looked up yet. */
export interface CallRequest {
  /** Of the request. */
  readonly id: RequestId;
  /** Whose shapes the answer has. */
  readonly revision: Revision;
  /** Name of the tool. */
  readonly name: string;
  /** Arguments; empty if there were none. */
  readonly args: JsonObject;
  /** How progress is to be named, if it is wanted. */
  readonly progressToken: RequestId | undefined;
  /** W3C trace context, if it was valid. */
  readonly traceContext: Readonly<Record<string, string>> | undefined;
  /** What the client can do: of this request if it is modern, else of the session. */
  readonly capabilities: JsonObject;
  /** Whether the client may be sent requests or asked for input at all. */
  readonly mayAsk: boolean;
  /** Answers that a repeated modern call brings. */
  readonly inputResponses: JsonObject | undefined;
  /** What the first modern call was given to bring back, not verified. */
  readonly requestState: string | undefined;
}

/** One thing to do. */
export type Effect =
  | {
    /** Answer. */
    readonly kind: "reply";
    /** Of the request. */
    readonly id: RequestId;
    /** What came of it. */
    readonly result: JsonObject;
  }
  | {
    /** Refuse. */
    readonly kind: "refuse";
    /** Of the request, or `undefined` to leave it out. */
    readonly id: RequestId | undefined;
    /** Why. */
    readonly error: ErrorObject;
  }
  | {
    /** Begin a session, in place of any other. */
    readonly kind: "open-session";
    /** The session. */
    readonly session: Session;
  }
  | {
    /** Note that the client confirmed the session. */
    readonly kind: "confirm-session";
  }
  | {
    /** List the tools. */
    readonly kind: "list-tools";
    /** Of the request. */
    readonly id: RequestId;
    /** Whose shapes the answer has. */
    readonly revision: Revision;
  }
  | {
    /** Call a tool. */
    readonly kind: "call-tool";
    /** The call. */
    readonly call: CallRequest;
  }
  | {
    /** Acknowledge a stream of notifications and keep it open. */
    readonly kind: "open-stream";
    /** Of the request, and so of the stream. */
    readonly id: RequestId;
  }
  | {
    /** Give up a request of the client, if it is in flight. */
    readonly kind: "cancel";
    /** Of the request. */
    readonly id: RequestId;
  }
  | {
    /** Hand an answer to a request of ours to whoever waits for it. */
    readonly kind: "settle";
    /** The answer. */
    readonly response: Response;
  }
  | {
    /** Do the effects of several messages and answer them in one array. */
    readonly kind: "batch";
    /** The effects of all elements. */
    readonly effects: readonly Effect[];
  };
