/**
 * Thinking at the beginning of a streamed text, told apart while it comes.
 *
 * @module
 */
import type { StreamEvent } from "../llm/mod.ts";

const TAGS: ReadonlyMap<string, string> = new Map([
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["[think]", "[/think]"],
]);

/** Takes pieces of a text and gives them as events of text or thinking. What may be a tag is held back. */
export class ThinkingFilter {
  #held = "";
  #state: "start" | "thinking" | "text" = "start";
  #closing = "";

  /**
   * Takes a piece.
   *
   * @param piece More text.
   * @returns What is certain by now.
   */
  *push(piece: string): Generator<StreamEvent> {
    this.#held += piece;
    do {
      if (this.#state === "start") this.#begin();
      if (this.#state === "thinking") yield* this.#think();
    } while (this.#state === "start" && this.#opened() !== undefined);
    if (this.#state === "text") yield* this.#flush("text");
  }

  /** Ends the text: what was held back is given. */
  *end(): Generator<StreamEvent> {
    yield* this.#flush(this.#state === "thinking" ? "reasoning" : "text");
  }

  /** The tag that what is held begins with, complete. */
  #opened(): string | undefined {
    const start = this.#held.trimStart().toLowerCase();
    return [...TAGS.keys()].find((opening) => start.startsWith(opening));
  }

  #begin(): void {
    const opening = this.#opened();
    if (opening !== undefined) {
      this.#state = "thinking";
      this.#closing = TAGS.get(opening) ?? "";
      this.#held = this.#held.trimStart().slice(opening.length).trimStart();
      return;
    }
    const start = this.#held.trimStart().toLowerCase();
    const mayBecome = [...TAGS.keys()].some((tag) => tag.startsWith(start));
    if (!mayBecome) this.#state = "text";
  }

  *#think(): Generator<StreamEvent> {
    const end = this.#held.toLowerCase().indexOf(this.#closing);
    if (end < 0) {
      const safe = this.#held.length - this.#closing.length;
      if (safe <= 0) return;
      yield { type: "reasoning", text: this.#held.slice(0, safe) };
      this.#held = this.#held.slice(safe);
      return;
    }
    if (end > 0) yield { type: "reasoning", text: this.#held.slice(0, end) };
    this.#held = this.#held.slice(end + this.#closing.length).trimStart();
    this.#state = "start";
    if (this.#opened() === undefined) this.#begin();
  }

  *#flush(type: "text" | "reasoning"): Generator<StreamEvent> {
    const text = this.#held;
    this.#held = "";
    if (text !== "") yield { type, text };
  }
}
