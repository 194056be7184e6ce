/**
 * Server-sent events ({@link https://html.spec.whatwg.org/multipage/server-sent-events.html | HTML, 9.2}) as far as
 * models use them: the data and the type of each event.
 *
 * @module
 */

/** One event. */
export interface ServerSentEvent {
  /** Its type, `message` unless it names one. */
  readonly event: string;
  /** Its data, lines joined by line feeds. */
  readonly data: string;
}

/** Turns pieces of text into events. Lines may be split anywhere, and end with CR, LF or both. */
export class EventDecoder {
  #pieces: string[] = [];
  #event = "";
  #data: string[] = [];

  /**
   * Takes more text.
   *
   * @param text The next piece.
   * @returns The events that are complete.
   */
  push(text: string): readonly ServerSentEvent[] {
    const afterReturn = this.#pieces.at(-1)?.endsWith("\r") === true;
    this.#pieces.push(text);
    if (!afterReturn && !/[\r\n]/.test(text)) return [];
    const events: ServerSentEvent[] = [];
    const lines = this.#pieces.join("").split(/\r\n|\n|\r(?!$)/);
    this.#pieces = [lines.pop() ?? ""];
    for (const line of lines) {
      const event = this.#line(line);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  /**
   * Ends the text.
   *
   * @returns The last event, if its blank line is missing: endpoints forget it.
   */
  end(): readonly ServerSentEvent[] {
    return [...this.push("\n"), ...this.push("\n")];
  }

  #line(line: string): ServerSentEvent | undefined {
    if (line === "") return this.#dispatch();
    if (line.startsWith(":")) return undefined;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#event = value;
    return undefined;
  }

  #dispatch(): ServerSentEvent | undefined {
    const data = this.#data;
    const event = this.#event === "" ? "message" : this.#event;
    this.#data = [];
    this.#event = "";
    return data.length === 0 ? undefined : { event, data: data.join("\n") };
  }
}
