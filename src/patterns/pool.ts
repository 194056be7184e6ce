/**
 * Work over many items, a bounded number at once.
 *
 * @module
 */

/**
 * Does the same work for every index, at most `limit` at once, in rising order of start.
 *
 * Memory is bounded by `limit`: an item is touched when its turn comes. After the first failure nothing more is started;
 * what runs is awaited.
 *
 * @param count How many.
 * @param limit How many at once, at least 1.
 * @param work What to do for an index.
 * @throws The first failure, once nothing runs any more.
 */
export async function forEachIndex(
  count: number,
  limit: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  async function lane(): Promise<void> {
    while (next < count && !failed) {
      const index = next;
      next += 1;
      try {
        await work(index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  }
  const lanes = Array.from({ length: Math.min(limit, count) }, lane);
  const outcomes = await Promise.allSettled(lanes);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
