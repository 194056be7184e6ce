/**
 * Near-miss names: what an author may have meant.
 *
 * @module
 */

/** Longest name that is compared; longer ones are not slips of the pen. */
const MAX_NAME_LENGTH = 64;
/** Shortest name that is taken for the beginning of a longer one. */
const MIN_PREFIX_LENGTH = 3;
/** Most candidates that are compared. */
const MAX_CANDIDATES = 2_000;

/**
 * Finds the candidate nearest to a name that was not found.
 *
 * Equal but for case, hyphens and underscores comes first; then the fewest edits, at most a third of the name's length;
 * then the only candidate that begins with the name.
 *
 * @param name The name as written.
 * @param candidates What would have been right.
 * @returns The nearest candidate, of equally near ones the first, or `undefined` if none is near.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length === 0 || name.length > MAX_NAME_LENGTH) return undefined;
  const bare = bareName(name);
  let best: string | undefined;
  let fewest = Math.max(1, Math.floor(name.length / 3)) + 1;
  let compared = 0;
  const begun: string[] = [];
  for (const candidate of candidates) {
    if (++compared > MAX_CANDIDATES) break;
    if (candidate === name) continue;
    if (name.length >= MIN_PREFIX_LENGTH && candidate.startsWith(name)) begun.push(candidate);
    if (bareName(candidate) === bare) return candidate;
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const edits = editDistance(name, candidate);
    if (edits < fewest && edits < candidate.length) {
      best = candidate;
      fewest = edits;
    }
  }
  return best ?? (begun.length === 1 ? begun[0] : undefined);
}

/** Most names for which one text's near-misses are looked for. */
const MAX_LOOKUPS = 100;

/** Near-miss names for all the slips of one text: looked up once each, and for so many only that time is bounded. */
export class Suggestions {
  readonly #found = new Map<string, string | undefined>();

  /**
   * Finds the candidate nearest to a name, as {@linkcode nearest} does.
   *
   * @param name The name as written.
   * @param candidates `scope`: what kind of name it is; `names`: gives what would have been right.
   * @returns The nearest candidate; `undefined` also beyond 100 names.
   */
  nearest(
    name: string,
    { scope, names }: { readonly scope: string; readonly names: () => Iterable<string> },
  ): string | undefined {
    const key = `${scope}:${name}`;
    if (this.#found.has(key)) return this.#found.get(key);
    if (this.#found.size >= MAX_LOOKUPS) return undefined;
    const found = nearest(name, names());
    this.#found.set(key, found);
    return found;
  }
}

function bareName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, "");
}

/** Optimal string alignment distance: insertions, deletions, substitutions, swaps of neighbours. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      let edits = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped = row > 1 && column > 1 && left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1];
      if (swapped) edits = Math.min(edits, at(beforeLast, column - 2) + 1);
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
