/**
 * The order of names.
 *
 * @module
 */

/**
 * Compares two texts by code points; JavaScript's own order goes by UTF-16 units.
 *
 * @param left One.
 * @param right The other.
 * @returns Below, equal to or above 0, for `sort`.
 */
export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    if (left.charCodeAt(at) === right.charCodeAt(at)) continue;
    // Behind the first difference a surrogate stands for more than any other unit.
    return rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
  }
  return left.length - right.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
