/**
 * Reads `.env` files: one `NAME=value` a line. They may set keys and nothing else.
 *
 * @module
 */

const LINE = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/;

/**
 * Reads the text of a `.env` file. Lines that are no assignment are skipped; of equal names the last one counts.
 *
 * @param text The text.
 * @returns Values by name. Quotes around a value and a comment after an unquoted one are taken off.
 */
export function parseDotenv(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const match = LINE.exec(line);
    if (match === null) continue;
    const [, name = "", written = ""] = match;
    values.set(name, unquote(written));
  }
  return values;
}

function unquote(written: string): string {
  const quote = written[0];
  if (quote === '"' || quote === "'") {
    const end = written.indexOf(quote, 1);
    if (end > 0) return written.slice(1, end);
  }
  const comment = written.search(/\s#/);
  return comment < 0 ? written : written.slice(0, comment).trimEnd();
}
