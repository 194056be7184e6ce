/**
 * Reading the reply of a judge: strictly, since a misread number takes a wrong turn that looks like a decision.
 *
 * @module
 */
import { isJsonObject } from "../json/mod.ts";

/** What a reply says. */
export type JudgeReply =
  | {
    /** The option, from 0. */
    readonly index: number;
    /** `bare` for digits alone, absent for JSON. */
    readonly method?: "bare";
  }
  | {
    /** The reply, which names no option. */
    readonly raw: string;
  };

const LEADING_THOUGHT = /^<(think|thinking|thought|reasoning)>[\s\S]*?<\/\1>/i;
const CLOSED_THOUGHT = /^[\s\S]*<\/(?:think|thinking|thought|reasoning)>/i;
const FENCE_MARK = /^(`{3,})(?:[A-Za-z][\w-]*)?/;
const MAX_REPLY_CHARS = 262_144;
const DIGITS = /^[0-9]{1,9}$/;

/**
 * Reads a reply: thinking and a fence around the rest are taken off, then it must be one JSON object with an integer
 * `choice`, or digits alone. A number out of range, several objects, prose: all of that is no choice.
 *
 * @param reply The reply.
 * @param options How many options were offered; they are numbered from 1.
 * @returns The option, or the reply itself.
 */
export function readJudgeReply(reply: string, options: number): JudgeReply {
  const raw = reply.trim();
  if (raw.length > MAX_REPLY_CHARS) return { raw };
  const answer = stripFence(stripThought(raw));
  if (DIGITS.test(answer)) {
    const index = Number(answer) - 1;
    return inRange(index, options) ? { index, method: "bare" } : { raw };
  }
  const index = readChoice(answer) - 1;
  return inRange(index, options) ? { index } : { raw };
}

function stripThought(text: string): string {
  let rest = text;
  while (LEADING_THOUGHT.test(rest)) rest = rest.replace(LEADING_THOUGHT, "").trim();
  // What stands before a bare closing tag is thinking whose opening tag the endpoint swallowed.
  return rest.replace(CLOSED_THOUGHT, "").trim();
}

function stripFence(text: string): string {
  const mark = FENCE_MARK.exec(text);
  const ticks = mark?.[1] ?? "";
  if (mark === null || !text.endsWith(ticks) || text.length < mark[0].length + ticks.length) {
    return text;
  }
  return text.slice(mark[0].length, -ticks.length).trim();
}

function readChoice(text: string): number {
  if (!text.startsWith("{")) return NaN;
  let choices = 0;
  try {
    const value: unknown = JSON.parse(text, (key, member) => {
      if (key === "choice") choices++;
      return member;
    });
    if (!isJsonObject(value) || !Object.hasOwn(value, "choice")) return NaN;
    // A nested member of the same name makes it a guess which one is the answer; so does a repeated one.
    if (choices !== 1 || countKey(text) !== 1) return NaN;
    return typeof value.choice === "number" ? value.choice : NaN;
  } catch {
    return NaN;
  }
}

function countKey(text: string): number {
  return text.match(/"choice"\s*:/g)?.length ?? 0;
}

function inRange(index: number, options: number): boolean {
  return Number.isInteger(index) && index >= 0 && index < options;
}
