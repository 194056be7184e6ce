/**
 * Stand-in for `@std/streams/text-line-stream`: splits a stream of text into lines.
 *
 * Written against the documented behaviour of the real class. The npm package `textlinestream` was looked at and
 * left: its `allowCR` branch reads a variable before it is set, and it emits an empty line at the end of every stream.
 *
 * @module
 */

/** Options of {@linkcode TextLineStream}. */
export interface TextLineStreamOptions {
  /** Whether a lone `\r` ends a line too; default false. */
  allowCR?: boolean;
}

/** Splits text at `\n` and `\r\n`; what follows the last line break is a line unless it is empty. */
export class TextLineStream extends TransformStream<string, string> {
  #rest = "";

  constructor(options: TextLineStreamOptions = {}) {
    const { allowCR = false } = options;
    super({
      transform: (chunk, controller) => {
        this.#rest = splitLines(this.#rest + chunk, controller, { allowCR });
      },
      flush: (controller) => {
        if (this.#rest === "") return;
        controller.enqueue(
          allowCR && this.#rest.endsWith("\r") ? this.#rest.slice(0, -1) : this.#rest,
        );
      },
    });
  }
}

function splitLines(
  text: string,
  controller: TransformStreamDefaultController<string>,
  options: { allowCR: boolean },
): string {
  let rest = text;
  for (;;) {
    const lf = rest.indexOf("\n");
    const cr = options.allowCR ? rest.indexOf("\r") : -1;
    // A `\r` that ends the text so far may be the first half of `\r\n`, so it waits for more.
    if (cr !== -1 && cr !== rest.length - 1 && (lf === -1 || lf - 1 > cr)) {
      controller.enqueue(rest.slice(0, cr));
      rest = rest.slice(cr + 1);
      continue;
    }
    if (lf === -1) return rest;
    controller.enqueue(rest.slice(0, rest[lf - 1] === "\r" ? lf - 1 : lf));
    rest = rest.slice(lf + 1);
  }
}
