/**
 * Telling listeners.
 *
 * @module
 */

/**
 * Tells a listener something. What it throws, at once or as a promise, is swallowed: a listener can neither change a run
 * nor end the program.
 *
 * @param listener Who is told; absent: nobody.
 * @param report What.
 */
export function notify<Report>(
  listener: ((report: Report) => unknown) | undefined,
  report: Report,
): void {
  try {
    const answer = listener?.(report);
    if (typeof answer === "object" && answer !== null && "then" in answer) {
      Promise.resolve(answer).then(undefined, () => {});
    }
  } catch {
    // see above
  }
}
