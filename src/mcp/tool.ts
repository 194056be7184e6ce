/**
 * What a tool is, to the protocol layer: arguments in, a result or a question out. The layer does the rest: it checks
 * arguments, reports progress, cancels, asks people, and writes the result in the shape of each revision.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";

/** Hints of {@link https://modelcontextprotocol.io/specification/2025-11-25/server/tools | MCP}; all four are given. */
export interface ToolAnnotations {
  /** Whether the tool changes nothing. */
  readonly readOnlyHint: boolean;
  /** Whether a change may destroy. */
  readonly destructiveHint: boolean;
  /** Whether a second call with the same arguments changes nothing more. */
  readonly idempotentHint: boolean;
  /** Whether the tool reaches beyond this process. */
  readonly openWorldHint: boolean;
}

/** How a text of a result is given. */
export type ContentBlock =
  | {
    /** Text. */
    readonly type: "text";
    /** The text. */
    readonly text: string;
  }
  | {
    /** Any other block of the protocol, for tests and peers; Kit's own tools give text. */
    readonly type: "image" | "audio" | "resource" | "resource_link";
    /** The members that the protocol names. */
    readonly [key: string]: JsonValue;
  };

/** A question to a person: a form of primitives. */
export interface Question {
  /** What is asked. */
  readonly message: string;
  /** Flat JSON Schema, `type: "object"`, as form elicitation allows. */
  readonly requestedSchema: JsonObject;
}

/** Anything else that a client can be asked for. Deprecated in MCP; for tests and peers, Kit's own tools ask people. */
export interface PeerRequest {
  /** What the client is asked for. */
  readonly method: "sampling/createMessage" | "roots/list";
  /** The parameters that the protocol names. The answer is an `accept` whose `content` is the client's result. */
  readonly params: JsonObject;
}

/** What a person said. */
export type Answer =
  | {
    /** Answered. */
    readonly action: "accept";
    /** The form, valid against its schema. */
    readonly content: JsonObject;
  }
  | {
    /** Refused or closed. */
    readonly action: "decline" | "cancel";
  };

/** What came of a call. */
export type ToolOutcome =
  | {
    /** The end. */
    readonly kind: "result";
    /** Texts for models and people; the JSON of `structuredContent` is one of them. */
    readonly content: readonly ContentBlock[];
    /** The same for programs; must fit `outputSchema`. Left out of an `isError` result by the protocol layer. */
    readonly structuredContent?: JsonObject;
    /** Whether the tool failed. */
    readonly isError?: boolean;
    /** `_meta` of the result, keys with Kit's own prefix. */
    readonly meta?: JsonObject;
  }
  | {
    /** Somebody must answer first; the call is entered again with the answers. Only where `canAsk`. */
    readonly kind: "ask";
    /** By key; the answers come back under the same keys. */
    readonly questions: Readonly<Record<string, Question | PeerRequest>>;
    /** What the tool wants back in `state`. It may pass through the client, signed but readable: no secrets. */
    readonly state?: JsonValue;
  };

/** How far a call has come. */
export interface Progress {
  /** Rises with every report. */
  readonly progress: number;
  /** What it will reach, if known. */
  readonly total?: number;
  /** For people. */
  readonly message?: string;
}

/** What a call knows beside its arguments. */
export interface ToolContext {
  /** Fires when the client cancels or goes away. */
  readonly signal: AbortSignal;
  /** Reports progress; does nothing where the client asked for none. Rate and order are kept by the layer. */
  progress(report: Progress): void;
  /** Whether the client asked for progress; where it did not, no report need be made. */
  readonly wantsProgress: boolean;
  /** Whether the client of this call can be asked with a form. */
  readonly canAsk: boolean;
  /** Answers so far, by key; empty at first. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** What the tool gave as `state` when it asked. */
  readonly state: JsonValue | undefined;
  /** W3C trace context of the request, if it had a valid one. */
  readonly traceContext: Readonly<Record<string, string>> | undefined;
  /** The id of the request, for traces. */
  readonly requestId: string | number;
  /** The protocol revision that serves this call. */
  readonly revision: string;
}

/** Something wrong with the arguments of a call. */
export interface ArgumentProblem {
  /** The argument, by its name at the top; `undefined` where the problem is one of all of them. */
  readonly argument: string | undefined;
  /** One sentence. */
  readonly message: string;
}

/** A tool. */
export interface Tool {
  /** `^[A-Za-z0-9_.-]{1,64}$`. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** For models: what it does, what it costs, what to do next. */
  readonly description: string;
  /** JSON Schema 2020-12, root `type: "object"`, flat, without `$ref`. */
  readonly inputSchema: JsonObject;
  /** The same for `structuredContent`: required top-level keys with bare types. */
  readonly outputSchema?: JsonObject;
  /** Hints. */
  readonly annotations: ToolAnnotations;
  /**
   * Does the work. Failures are results with `isError`; a rejection is a fault of ours and answers -32603.
   *
   * @param args Fits `inputSchema`; null optional members were dropped.
   * @param context What else is known.
   */
  call(args: JsonObject, context: ToolContext): Promise<ToolOutcome>;
  /**
   * Answers a call whose arguments do not fit, so that what only the tool can find is told with the rest, in the tool's
   * own shape. Absent: the problems are named as they are.
   *
   * @param problems What does not fit `inputSchema`, at least one.
   * @param args The arguments; a member may be of any type.
   * @returns A result with `isError`.
   */
  refuse?(
    problems: readonly ArgumentProblem[],
    args: JsonObject,
  ): Promise<Extract<ToolOutcome, { kind: "result" }>>;
}
