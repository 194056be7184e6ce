/**
 * `kit runs`.
 *
 * @module
 */
import { InputError, UsageError } from "../arguments.ts";
import type { Invocation } from "../command.ts";
import { EXIT } from "../exit_codes.ts";
import { openHost } from "../open_host.ts";
import { printable, table } from "../output.ts";
import { missingStore, storePlace, unusableStore } from "../store_place.ts";

const HEAD = ["Run", "Phase", "Machine", "At", "Reason", "Changed"];

/**
 * Lists the runs that a store keeps.
 *
 * @param invocation What was asked.
 * @returns The exit code.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { context, format, out } = invocation;
  const place = storePlace(invocation);
  if (place === undefined) {
    throw new UsageError(
      "kit runs needs a store: --store sqlite:PATH or --store postgres://…, or KIT_STORE",
    );
  }
  const none = await missingStore(place, invocation);
  if (none !== undefined) throw new InputError(none);
  const host = openHost(invocation);
  try {
    await host.store().catch((error: unknown) => {
      throw unusableStore(error, place, invocation);
    });
    const runs = await host.runs();
    if (format === "json") {
      await out.json({
        command: "runs",
        ok: true,
        items: runs,
        diagnostics: [],
        summary: { runs: runs.length },
      });
      return EXIT.ok;
    }
    const rows = runs.map(({ runId, phase, machine, at, reason, updatedMs }) => [
      runId,
      phase,
      machine,
      at ?? "-",
      reason,
      context.ports.clock.local(updatedMs).dateTime,
    ]);
    for (const line of table([HEAD, ...rows])) await out.line(printable(line));
    return EXIT.ok;
  } finally {
    await host.close();
  }
}
