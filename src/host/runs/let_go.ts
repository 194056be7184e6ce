/**
 * Brings the file of a run that is over, or waits again, up to date and ends the hold on it. By then the store has the
 * end, so a file that fails costs a sentence and never the result.
 *
 * @module
 */
import type { Ports } from "../../ports/mod.ts";
import type { CheckpointKeeper } from "./checkpoint_keeper.ts";

/** What a result says whose older file still looks as if it could be resumed, or as if it were in use. */
export const FILE_NOT_SPENT =
  "a checkpoint file of the run could not be marked as spent or let go: go on only with what this result names";

/**
 * Ends what a run has to do with its file. Never throws.
 *
 * @param keeper The file, if there is one.
 * @param work The last thing to do with it.
 * @param ports For what fails.
 * @returns A sentence for the result, or none where all went well.
 */
export async function letGo(
  keeper: CheckpointKeeper | undefined,
  work: (keeper: CheckpointKeeper) => Promise<void>,
  { log }: Pick<Ports, "log">,
): Promise<readonly string[]> {
  if (keeper === undefined) return [];
  const failed = (error: unknown): readonly string[] => {
    log.write("error", `Cannot let go of the checkpoint file "${keeper.path}": ${String(error)}`);
    return [FILE_NOT_SPENT];
  };
  try {
    await work(keeper);
    return [];
  } catch (error) {
    const warnings = failed(error);
    await keeper.release().catch(failed);
    return warnings;
  }
}
