// deno-lint-ignore-file camelcase -- reads and writes checkpoint files in the spelling that their format fixes
/**
 * Checkpoint files: a run that waits, as a text. Pure; who stores the text is the caller's matter.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json/mod.ts";
import { KitError } from "../llm/mod.ts";
import type { Frame, TraceStep } from "./trace.ts";
import { copyObject, isTooDeep } from "./values.ts";

/** A run that waits, with what is needed to go on in another process. */
export interface Checkpoint {
  /** The format; always 1. */
  readonly format: 1;
  /** The version of the program that wrote it; for people. */
  readonly mklang_version?: string;
  /** When, as ISO time in UTC to the second, with `+00:00`. */
  readonly created?: string;
  /** The name of the root machine. */
  readonly machine: string;
  /** Where it was found: a path, a bundled name, or `<inline>`. */
  readonly machine_path: string;
  /** SHA-256 of the file's bytes in hex, or `null` if it is no file. */
  readonly machine_sha256: string | null;
  /** Why the run waits. */
  readonly reason?: string;
  /** The token budget of the run, or `null`. */
  readonly cost_budget?: number | null;
  /** Whether escalations ask a person. */
  readonly hitl?: boolean;
  /** The frames, outermost first, at least one. */
  readonly frames: readonly Frame[];
  /** The text of an inline machine. */
  readonly machine_source?: string;
  /** What the host keeps with it; no secrets. */
  readonly metadata?: JsonObject;
  /** The run. */
  readonly run_id?: string;
  /** The fingerprint of the parsed machine. */
  readonly fingerprint?: string;
  /** What a cut-off answer does. */
  readonly on_truncate?: "report" | "halt";
  /** What a swayed decision before an effectful tool does. */
  readonly on_untrusted_flow?: "report" | "halt";
  /** Authenticates all members but itself, if the host has a key. */
  readonly mac?: string;
}

/** Why a checkpoint cannot be used: `details.reason` of the error that {@linkcode decodeCheckpoint} throws. */
export type CheckpointProblem = "corrupt" | "version";

const FORMAT = 1;
const REQUIRED = ["machine", "machine_path", "machine_sha256", "frames"] as const;

/**
 * Writes a checkpoint.
 *
 * @param checkpoint The checkpoint; members it does not know are kept.
 * @returns JSON, indented by 2, members in the order of the format.
 */
export function encodeCheckpoint(checkpoint: Checkpoint): string {
  const { format, mklang_version, created, machine, machine_path, machine_sha256, ...rest } =
    checkpoint;
  const { reason, cost_budget, hitl, frames, machine_source, metadata, ...more } = rest;
  return `${
    JSON.stringify(
      {
        format,
        mklang_version,
        created,
        machine,
        machine_path,
        machine_sha256,
        reason,
        cost_budget: cost_budget ?? null,
        hitl: hitl ?? false,
        frames,
        machine_source,
        metadata,
        ...more,
      },
      undefined,
      2,
    )
  }\n`;
}

/**
 * Reads a checkpoint, also one of the language's reference program.
 *
 * A record of injected values in it is dropped: it would let a file confirm a decision that nobody confirmed.
 *
 * @param text The text of the file.
 * @returns The checkpoint.
 * @throws {KitError} Code `checkpoint`, `details.reason` a {@linkcode CheckpointProblem}.
 */
export function decodeCheckpoint(text: string): Checkpoint {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw problem("corrupt", "Cannot read the checkpoint: it is not JSON", { cause });
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, "format")) {
    throw problem("corrupt", `not an mklang checkpoint (expected format ${FORMAT})`);
  }
  if (value.format !== FORMAT) {
    throw problem("version", `not an mklang checkpoint (expected format ${FORMAT})`);
  }
  if (isTooDeep(value)) throw problem("corrupt", "Cannot read the checkpoint: nested too deeply");
  for (const key of REQUIRED) {
    if (!Object.hasOwn(value, key)) throw problem("corrupt", `checkpoint missing key '${key}'`);
  }
  const envelope = readEnvelope(copyObject(value));
  const decoded = decodeFrames(value.frames ?? null);
  const frames = (isForeign(envelope) ? withoutCallsUnderWay(decoded) : decoded).map((frame) => {
    const { resume_injected: _injected, ...rest } = frame;
    return rest;
  });
  return { ...envelope, frames };
}

/** Tells files of the reference program: it writes its bare version, and no run. */
function isForeign({ mklang_version, run_id }: Omit<Checkpoint, "frames">): boolean {
  return run_id === undefined && /^\d/.test(mklang_version ?? "");
}

/**
 * Takes back the entry of each call that is under way. The reference program leaves it in the frame and counts it again
 * on resume, which ends a call state of `max_visits: 1` in `loop-ceiling`.
 */
function withoutCallsUnderWay(frames: readonly Frame[]): Frame[] {
  return frames.map((frame, index) => {
    const { state, visits } = frame;
    const count = visits?.[state];
    if (index === frames.length - 1 || visits === undefined || count === undefined) return frame;
    const { [state]: _entered, ...others } = visits;
    return { ...frame, visits: count > 1 ? { ...visits, [state]: count - 1 } : others };
  });
}

/**
 * Reads frames.
 *
 * @param value JSON.
 * @returns The frames, at least one, deeply copied.
 * @throws {KitError} Code `checkpoint`, `details.reason` `corrupt`, naming the member that does not fit.
 */
export function decodeFrames(value: JsonValue): Frame[] {
  if (!Array.isArray(value)) throw problem("corrupt", "checkpoint has no frames");
  if (value.length === 0) throw problem("corrupt", "checkpoint has no frames");
  if (isTooDeep(value)) throw problem("corrupt", "Cannot read the checkpoint: nested too deeply");
  return value.map(readFrame);
}

function readEnvelope(value: JsonObject): Omit<Checkpoint, "frames"> {
  const { machine, machine_path, machine_sha256, cost_budget, hitl } = value;
  const { mklang_version, created, reason, machine_source, run_id, fingerprint, mac } = value;
  const texts = {
    mklang_version,
    created,
    reason,
    machine_source,
    run_id,
    fingerprint,
    mac,
  };
  const { metadata, on_truncate, on_untrusted_flow } = value;
  return {
    ...value,
    format: FORMAT,
    machine: text("machine", machine),
    machine_path: text("machine_path", machine_path),
    machine_sha256: machine_sha256 === null ? null : text("machine_sha256", machine_sha256),
    ...present(texts, text),
    ...present({ on_truncate, on_untrusted_flow }, policy),
    ...(metadata === undefined ? {} : { metadata: object("metadata", metadata) }),
    cost_budget: cost_budget === undefined || cost_budget === null
      ? null
      : number("cost_budget", cost_budget),
    hitl: hitl === undefined ? false : boolean("hitl", hitl),
  };
}

function readFrame(value: JsonValue, index: number): Frame {
  const at = `frames[${index}]`;
  const frame = copyObject(object(at, value));
  const name = (key: string): string => `${at}.${key}`;
  const need = (key: string): JsonValue => {
    if (Object.hasOwn(frame, key)) return frame[key] ?? null;
    throw problem("corrupt", `checkpoint missing key '${name(key)}'`);
  };
  const { tainted, external, flow_tainted, visits, reply_to, ask } = frame;
  const { resume_injected, reply_via, pending } = frame;
  return {
    machine: text(name("machine"), need("machine")),
    state: text(name("state"), need("state")),
    ctx: object(name("ctx"), need("ctx")),
    steps: count(name("steps"), need("steps")),
    total_in: count(name("total_in"), need("total_in")),
    total_out: count(name("total_out"), need("total_out")),
    feedback: text(name("feedback"), need("feedback")),
    repair_left: list(name("repair_left"), need("repair_left")).map((item) =>
      repair(name("repair_left"), item)
    ),
    trace: list(name("trace"), need("trace")).map((item) => step(name("trace"), item)),
    ...present({ tainted, external, resume_injected }, (key, item) => texts(name(key), item)),
    ...present({ flow_tainted }, (key, item) => boolean(name(key), item)),
    ...present({ visits }, (key, item) => counts(name(key), item)),
    ...present({ reply_to, ask, reply_via }, (key, item) => text(name(key), item)),
    ...present({ pending }, (key, item) => object(name(key), item)),
  };
}

function step(name: string, value: JsonValue): TraceStep {
  const record = object(name, value);
  text(`${name}[].state`, record.state ?? null);
  // Steps of before are handed on and weighed, and the weighing takes any kind of their other members.
  return record as unknown as TraceStep;
}

function repair(name: string, value: JsonValue): [string, number, number] {
  const [state, gate, left] = list(name, value);
  return [text(name, state ?? null), count(name, gate ?? null), count(name, left ?? null)];
}

function counts(name: string, value: JsonValue): Record<string, number> {
  const record: Record<string, number> = Object.create(null);
  for (const [key, item] of Object.entries(object(name, value))) record[key] = count(name, item);
  return record;
}

/** Reads the members that are there. */
function present<K extends string, T>(
  members: Readonly<Record<K, JsonValue | undefined>>,
  read: (key: K, value: JsonValue) => T,
): Partial<Record<K, T>> {
  const found: Partial<Record<K, T>> = {};
  for (const key in members) {
    if (!Object.hasOwn(members, key)) continue;
    const value = members[key];
    if (value !== undefined) found[key] = read(key, value);
  }
  return found;
}

function text(name: string, value: JsonValue | undefined): string {
  return typeof value === "string" ? value : wrong(name, "a text");
}

function boolean(name: string, value: JsonValue): boolean {
  return typeof value === "boolean" ? value : wrong(name, "true or false");
}

function number(name: string, value: JsonValue): number {
  return typeof value === "number" ? value : wrong(name, "a number");
}

function count(name: string, value: JsonValue): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? value
    : wrong(name, "a whole number of at least 0");
}

function object(name: string, value: JsonValue): JsonObject {
  return isJsonObject(value) ? value : wrong(name, "an object");
}

function list(name: string, value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : wrong(name, "a list");
}

function texts(name: string, value: JsonValue): string[] {
  return list(name, value).map((item) => text(name, item));
}

function policy(name: string, value: JsonValue): "report" | "halt" {
  return value === "report" || value === "halt" ? value : wrong(name, '"report" or "halt"');
}

function wrong(name: string, wanted: string): never {
  throw problem("corrupt", `Cannot read the checkpoint: "${name}" is not ${wanted}`);
}

function problem(
  reason: CheckpointProblem,
  message: string,
  options: { readonly cause?: unknown } = {},
): KitError {
  return new KitError("checkpoint", message, { ...options, details: { reason } });
}
