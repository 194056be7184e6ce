/**
 * Runs commissioned by clients of others: official ones of both eras and two languages, over every kind of store.
 *
 * @module
 */
import { checkDurable } from "./commission_durable.ts";
import { checkInspectorRuns } from "./commission_inspector.ts";
import { checkPeople } from "./commission_people.ts";
import { checkRounds } from "./commission_rounds.ts";
import { checkSession } from "./commission_session.ts";
import { PEER_CLIENTS } from "./commission_driver.ts";
import { makePlace } from "./commission_place.ts";
import type { Checking } from "./commission_checks.ts";
import type { Report } from "./report.ts";

const PARTS: Readonly<Record<string, (checking: Checking) => Promise<void>>> = {
  session: checkSession,
  people: checkPeople,
  rounds: checkRounds,
  durable: checkDurable,
};

/**
 * Makes every check with every client.
 *
 * @param report Takes what comes of it.
 * @param options `clients`, `parts`: texts that names must contain; default all.
 */
export async function checkCommission(
  report: Report,
  options: { readonly client?: string; readonly part?: string } = {},
): Promise<void> {
  if ("Inspector".includes(options.client ?? "") && (options.part ?? "") === "") {
    await checkInspectorRuns(report);
  }
  for (const client of PEER_CLIENTS) {
    if (!client.name.includes(options.client ?? "")) continue;
    for (const [name, part] of Object.entries(PARTS)) {
      if (!name.includes(options.part ?? "")) continue;
      await report.group(`${client.name}: ${name}`, async () => {
        await using place = await makePlace();
        await part({ client, place, report });
      });
    }
  }
}

if (import.meta.main) {
  const { Report } = await import("./report.ts");
  const report = new Report();
  const [client = "", part = ""] = Deno.args;
  await checkCommission(report, { client, part });
  report.end();
  Deno.exit(report.ok ? 0 : 1);
}
