/**
 * Shortening of texts.
 *
 * @module
 */

/**
 * Cuts a text to a number of Unicode code points, never through one.
 *
 * @param text The text.
 * @param maxCodePoints The most code points that stay.
 * @param options `mark`: what is appended where something was cut off; default `…`.
 * @returns The text itself if it is short enough.
 */
export function cutText(
  text: string,
  maxCodePoints: number,
  options: { readonly mark?: string } = {},
): string {
  if (text.length <= maxCodePoints) return text;
  let units = 0;
  let points = 0;
  for (const point of text) {
    if (points === maxCodePoints) return text.slice(0, units) + (options.mark ?? "…");
    points += 1;
    units += point.length;
  }
  return text;
}
