// deno-lint-ignore-file camelcase -- writes frames in the spelling that the language fixes
/**
 * Frames: the form in which a run waits.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import type { Gate } from "./document.ts";
import { byCodePoint, type Level } from "./level.ts";
import type { Frame } from "./trace.ts";
import { copyValue, setPath } from "./values.ts";

/**
 * Takes the frames of a level and of those that wait for it.
 *
 * @param level The level whose next state is to be run on resume.
 * @returns The frames, outermost first; frames of before that were not gone into yet are kept.
 */
export function takeFrames(level: Level): Frame[] {
  const frames = [levelFrame(level, { inCall: false }), ...(level.deeper ?? [])];
  for (let caller = level.caller; caller !== undefined; caller = caller.caller) {
    frames.unshift(levelFrame(caller, { inCall: true }));
  }
  return frames;
}

/**
 * Takes the frame of one level.
 *
 * @param level The level.
 * @param position `inCall`: a call is under way, whose charge and entry do not count until it is over.
 * @returns The frame. Its parts are shared with the level, which copies before it changes them.
 */
export function levelFrame(level: Level, position: { readonly inCall: boolean }): Frame {
  const visits = new Map(level.visits);
  if (position.inCall) {
    const count = level.visitsOf(level.at) - 1;
    if (count > 0) visits.set(level.at, count);
    else visits.delete(level.at);
  }
  return {
    machine: level.machine.name,
    state: level.at,
    ctx: level.keepContext(),
    steps: position.inCall ? level.steps - 1 : level.steps,
    total_in: level.tokensIn,
    total_out: level.tokensOut,
    feedback: level.feedback,
    repair_left: listRepairs(level.repairs),
    trace: level.trace.steps(),
    tainted: [...level.tainted].sort(byCodePoint),
    external: [...level.external].sort(byCodePoint),
    flow_tainted: level.flowTainted,
    visits: sortedRecord(visits),
    ...(level.pending === undefined ? {} : { pending: level.pending }),
  };
}

/**
 * Takes the frame of a level that waits for a person.
 *
 * @param level The level, at the state that handles the reply.
 * @param gate The gate that escalated.
 * @returns The frame with what to ask and where the reply goes.
 */
export function askingFrame(level: Level, gate: Gate): Frame {
  return {
    ...levelFrame(level, { inCall: false }),
    reply_to: gate.replyTo || "human.reply",
    ...(gate.ask === undefined ? {} : { ask: gate.ask }),
  };
}

/**
 * Writes values into the innermost frame, as a person's reply or as new facts. They count as from outside.
 *
 * @param frames The frames, outermost first.
 * @param inputs Values by dotted path; may be empty.
 * @param options `via`: the way on which they came, to be noted in the trace; `confirm`: whether they can clear
 * control-flow taint, default true.
 * @returns New frames; the old ones are not changed.
 */
export function injectInputs(
  frames: readonly Frame[],
  inputs: Readonly<Record<string, JsonValue>>,
  options: { readonly via?: string; readonly confirm?: boolean } = {},
): Frame[] {
  const last = frames.at(-1);
  if (last === undefined) return [];
  const paths = Object.keys(inputs);
  const roots = paths.map((path) => path.split(".")[0] ?? "");
  const tainted = new Set(last.tainted ?? Object.keys(last.ctx));
  const external = new Set(last.external ?? tainted);
  for (const root of roots) {
    tainted.add(root);
    external.add(root);
  }
  let ctx = last.ctx;
  for (const path of paths) ctx = setPath(ctx, path, copyValue(inputs[path] ?? null));
  const changed: Frame = {
    ...last,
    ctx,
    tainted: [...tainted].sort(byCodePoint),
    external: [...external].sort(byCodePoint),
    resume_injected: options.confirm === false ? [] : paths.sort(byCodePoint),
    ...(options.via === undefined || paths.length === 0 ? {} : { reply_via: options.via }),
  };
  return [...frames.slice(0, -1), changed];
}

/**
 * Marks everything in frames as not trusted, for frames whose origin cannot be proved.
 *
 * @param frames The frames.
 * @returns New frames in which all keys are tainted and external, and the way here is tainted.
 */
export function distrustFrames(frames: readonly Frame[]): Frame[] {
  return frames.map((frame) => {
    const { tainted: _tainted, external: _external, resume_injected: _injected, ...rest } = frame;
    return { ...rest, flow_tainted: true };
  });
}

function listRepairs(repairs: Level["repairs"]): [string, number, number][] {
  const list: [string, number, number][] = [];
  for (const [state, left] of repairs) {
    for (const [gate, count] of left) list.push([state, gate, count]);
  }
  return list;
}

function sortedRecord(counts: ReadonlyMap<string, number>): Record<string, number> {
  const record: Record<string, number> = Object.create(null);
  for (const key of [...counts.keys()].sort(byCodePoint)) record[key] = counts.get(key) ?? 0;
  return record;
}
