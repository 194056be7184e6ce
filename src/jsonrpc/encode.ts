/**
 * From a message to the text of a line.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { ErrorObject, RequestId } from "./message.ts";

/** Line ends of Unicode, which some readers take for the end of a message. */
const UNICODE_LINE_END = /[\u0085\u2028\u2029]/u;
const UNICODE_LINE_ENDS = new RegExp(UNICODE_LINE_END, "gu");

/** A message of ours. */
export type Outgoing =
  | {
    /** Always 2.0. */
    readonly jsonrpc: "2.0";
    /** Of the request that is answered. */
    readonly id: RequestId;
    /** What came of it. */
    readonly result: JsonObject;
  }
  | {
    /** Always 2.0. */
    readonly jsonrpc: "2.0";
    /** Of the request that is refused; left out where it could not be read. */
    readonly id?: RequestId;
    /** Why it is refused. */
    readonly error: ErrorObject;
  }
  | {
    /** Always 2.0. */
    readonly jsonrpc: "2.0";
    /** Of our own request; a notification has none. */
    readonly id?: RequestId;
    /** What is asked for or has happened. */
    readonly method: string;
    /** Its parameters. */
    readonly params: JsonObject;
  };

/**
 * Writes a message as one line.
 *
 * `JSON.stringify` escapes line feeds and lone surrogates; the line ends of Unicode are escaped here.
 *
 * @param message The message, or several as the answer to a batch.
 * @returns JSON without any line end in it.
 */
export function encodeLine(message: Outgoing | readonly Outgoing[]): string {
  const text = JSON.stringify(message);
  return UNICODE_LINE_END.test(text) ? text.replace(UNICODE_LINE_ENDS, escapeCodeUnit) : text;
}

function escapeCodeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * Makes a success.
 *
 * @param id Of the request.
 * @param result What came of it.
 * @returns The response.
 */
export function success(id: RequestId, result: JsonObject): Outgoing {
  return { jsonrpc: "2.0", id, result };
}

/**
 * Makes a refusal.
 *
 * @param id Of the request, or `undefined` where it could not be read: the member is left out then.
 * @param error Why.
 * @returns The response.
 */
export function failure(id: RequestId | undefined, error: ErrorObject): Outgoing {
  return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error };
}

/**
 * Makes a notification.
 *
 * @param method What has happened.
 * @param params Its parameters.
 * @returns The notification.
 */
export function notification(method: string, params: JsonObject): Outgoing {
  return { jsonrpc: "2.0", method, params };
}
