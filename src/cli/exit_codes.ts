/**
 * What the program's end says.
 *
 * @module
 */

/** Exit codes, by meaning. */
export const EXIT = Object.freeze({
  /** All went well. */
  ok: 0,
  /** A halted run, findings, a failed scenario, an unhealthy set-up. */
  finding: 1,
  /** A wrong command line, a machine or a store that cannot be used, a fault of Kit. */
  usage: 2,
  /** A run that waits to be resumed. */
  suspended: 3,
  /** A provider or its key is missing, or the endpoint refused. */
  provider: 4,
  /** A run halted by one of its budgets, or by a bound that every run has. */
  budget: 5,
});

const CALL_FAILED = "call-failed: ";
const BUDGET_WORDS: ReadonlySet<string> = new Set([
  "budget-exhausted",
  "cost-exhausted",
  "memory-exhausted",
  "work-exhausted",
]);
const PROVIDER_PREFIX = "provider-error: ";
const SIGNAL_NUMBERS: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 };

/** What `kit help exit-codes` prints. */
export const EXIT_CODES_HELP = `Exit codes

    0  done; nothing found; every scenario passed
    1  the run halted, findings, a failed scenario, an unhealthy set-up
    2  a wrong command line, a file, machine or store that cannot be used, a fault of Kit
    3  the run is suspended: resume it with the checkpoint
    4  a provider or its key is missing, or the endpoint refused
    5  the run halted because a budget was used up, also in a machine that it called,
       or because it did or held more than any run may
  129  ended by SIGHUP
  130  ended by SIGINT (Ctrl-C)
  143  ended by SIGTERM

The server (kit, kit mcp) ends with 0 when its input ends or nobody reads its output.
`;

/**
 * The exit code of a run.
 *
 * @param outcome `status` and `error` of the result object.
 * @returns A code of {@linkcode EXIT}.
 */
export function exitCodeOf(
  outcome: { readonly status: string; readonly error: string | null },
): number {
  switch (outcome.status) {
    case "done":
      return EXIT.ok;
    case "suspended":
    case "running":
      return EXIT.suspended;
    case "halt":
      return haltCode(outcome.error ?? "");
    default:
      return EXIT.usage;
  }
}

/**
 * The exit code of a program that a signal ended.
 *
 * @param reason The signal's name; anything else counts as SIGINT.
 * @returns 128 and the signal's number.
 */
export function exitCodeOfSignal(reason: unknown): number {
  const number = typeof reason === "string" ? SIGNAL_NUMBERS[reason] : undefined;
  return 128 + (number ?? 2);
}

function haltCode(error: string): number {
  let root = error;
  while (root.startsWith(CALL_FAILED)) root = root.slice(CALL_FAILED.length);
  if (BUDGET_WORDS.has(root)) return EXIT.budget;
  return root.startsWith(PROVIDER_PREFIX) ? EXIT.provider : EXIT.finding;
}
