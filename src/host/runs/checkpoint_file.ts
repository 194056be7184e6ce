/**
 * Checkpoint files: the form of the language with what Kit adds to it: the run, a fingerprint of the parsed machine, a
 * digest that notices damage, and with a key a MAC that proves who wrote it.
 *
 * @module
 */
// deno-lint-ignore-file camelcase -- the names of the file's members
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json/mod.ts";
import { KitError } from "../../llm/mod.ts";
import {
  type Checkpoint,
  decodeCheckpoint,
  distrustFrames,
  encodeCheckpoint,
  type Frame,
} from "../../machine/mod.ts";
import { hex } from "./handles.ts";

/** The word under which a spent file says what became of it. */
const SPENT = "resumed";
/** Whether the key may be read back out of the crypto module. */
const EXTRACTABLE = false;
/** Members that prove the others and are not proved themselves. */
const PROOFS = ["digest", "mac"];

/** What a checkpoint file turned out to be. */
export type CheckpointRead =
  | {
    /** It can be resumed. */
    readonly kind: "checkpoint";
    /** Its content. */
    readonly checkpoint: Checkpoint;
    /** The frames: as written if the MAC proves them, else with everything tainted. */
    readonly frames: readonly Frame[];
  }
  | {
    /** It was resumed before. */
    readonly kind: "spent";
    /** How that ended. */
    readonly status: string;
    /** The run. */
    readonly runId: string | undefined;
  }
  | {
    /** It cannot be used. */
    readonly kind: "bad";
    /** Why. */
    readonly message: string;
  };

/**
 * Writes a checkpoint with its proofs.
 *
 * @param checkpoint The content.
 * @param key The secret of `KIT_STATE_KEY`, if it is set.
 * @returns The text of the file.
 */
export async function sealCheckpoint(
  checkpoint: Checkpoint,
  key: string | undefined,
): Promise<string> {
  const plain: JsonValue = JSON.parse(encodeCheckpoint(checkpoint));
  const proofs = await proofsOf(plain, key);
  return encodeCheckpoint({ ...checkpoint, ...proofs });
}

/**
 * Reads a checkpoint file.
 *
 * @param text Its text.
 * @param key The secret of `KIT_STATE_KEY`, if it is set.
 * @returns What it is.
 */
export async function openCheckpoint(
  text: string,
  key: string | undefined,
): Promise<CheckpointRead> {
  const spent = readSpent(text);
  if (spent !== undefined) return spent;
  try {
    const checkpoint = decodeCheckpoint(text);
    const value: JsonValue = JSON.parse(text);
    const proof = await checkProofs(value, key);
    if (proof === "broken") {
      return { kind: "bad", message: "the file was changed after it was written" };
    }
    const frames = proof === "proved" ? checkpoint.frames : distrustFrames(checkpoint.frames);
    return { kind: "checkpoint", checkpoint, frames };
  } catch (error) {
    if (error instanceof KitError && error.code === "checkpoint") {
      return { kind: "bad", message: error.message };
    }
    throw error;
  }
}

/**
 * Gives the text that takes the place of a checkpoint that was resumed: without frames and context.
 *
 * @param run What of the run may stay.
 * @returns The text of the file.
 */
export function spentText(
  run: {
    /** The run. */
    readonly runId: string;
    /** The machine. */
    readonly machine: string;
    /** How it ended. */
    readonly status: string;
    /** When, ISO time. */
    readonly at: string;
  },
): string {
  const { runId, machine, status, at } = run;
  const value = { format: 1, machine, run_id: runId, [SPENT]: at, status };
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/**
 * Tells whether a text is a checkpoint file, spent ones included, so that it may be written over.
 *
 * @param text The text.
 * @returns Whether it has the format's mark.
 */
export function isCheckpointText(text: string): boolean {
  const value = parsed(text);
  return isJsonObject(value) && member(value, "format") === 1 &&
    typeof member(value, "machine") === "string";
}

function readSpent(text: string): CheckpointRead | undefined {
  const value = parsed(text);
  if (!isJsonObject(value) || member(value, "format") !== 1) return undefined;
  if (typeof member(value, SPENT) !== "string" || member(value, "frames") !== undefined) {
    return undefined;
  }
  const status = member(value, "status");
  const runId = member(value, "run_id");
  return {
    kind: "spent",
    status: typeof status === "string" ? status : "resumed",
    runId: typeof runId === "string" ? runId : undefined,
  };
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function checkProofs(
  value: JsonValue,
  key: string | undefined,
): Promise<"proved" | "unproved" | "broken"> {
  if (!isJsonObject(value)) return "broken";
  const digest = member(value, "digest");
  const mac = member(value, "mac");
  if (digest === undefined && mac === undefined) return "unproved";
  const expected = await proofsOf(value, key);
  if (digest !== undefined && digest !== expected.digest) return "broken";
  if (key === undefined || mac === undefined) return "unproved";
  return typeof mac === "string" && same(mac, expected.mac ?? "") ? "proved" : "broken";
}

async function proofsOf(
  value: JsonValue,
  key: string | undefined,
): Promise<{ digest: string; mac?: string }> {
  const bytes = new TextEncoder().encode(canonical(withoutProofs(value)));
  const digest = hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
  if (key === undefined) return { digest };
  const secret = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(key),
    { name: "HMAC", hash: "SHA-256" },
    EXTRACTABLE,
    ["sign"],
  );
  return { digest, mac: hex(new Uint8Array(await crypto.subtle.sign("HMAC", secret, bytes))) };
}

function withoutProofs(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  const rest: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) if (!PROOFS.includes(key)) rest[key] = item;
  return rest;
}

/** One spelling for one value: members sorted, no white space. */
function canonical(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isJsonObject(value)) return canonicalObject(value);
  return `[${value.map(canonical).join(",")}]`;
}

function canonicalObject(value: JsonObject): string {
  const members = Object.keys(value).sort().map((key) =>
    `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`
  );
  return `{${members.join(",")}}`;
}

/** Takes the same time wherever two texts differ. */
function same(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let i = 0; i < left.length; i++) {
    difference |= left.charCodeAt(i) ^ right.charCodeAt(i % (right.length || 1));
  }
  return difference === 0;
}
