/**
 * Named checks of one client.
 *
 * @module
 */
import type { PeerClient } from "./commission_driver.ts";
import type { Place } from "./commission_place.ts";
import type { Report } from "./report.ts";

/** Where checks are made. */
export interface Checking {
  /** Who asks. */
  readonly client: PeerClient;
  /** Where. */
  readonly place: Place;
  /** Takes what comes of it. */
  readonly report: Report;
}

/**
 * Makes one check: it fails with what its body throws.
 *
 * @param checking Where.
 * @param name What must hold.
 * @param body Throws if it does not; what it gives back is shown beside the name.
 * @returns Whether it held.
 */
export async function check(
  { client, report }: Checking,
  name: string,
  body: () => Promise<string | void>,
): Promise<boolean> {
  const title = `${client.name}: ${name}`;
  try {
    report.pass(title, await body() ?? "");
    return true;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    report.fail(title, said.replaceAll(/\s+/g, " ").slice(0, 600));
    return false;
  }
}

/** Waits until something holds, for at most ten seconds. */
export async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + UNTIL_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`${what} within ${UNTIL_MS} ms`);
    await pause(POLL_MS);
  }
}

const UNTIL_MS = 10_000;
const POLL_MS = 25;

/** Does nothing for a while. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
