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

/** How many clients work at once: most of their time they wait. */
const AT_ONCE = 3;

/**
 * Makes every check with every client.
 *
 * @param report Takes what comes of it.
 * @param options `client`, `part`: texts that names must contain; default all.
 */
export async function checkCommission(
  report: Report,
  options: { readonly client?: string; readonly part?: string } = {},
): Promise<void> {
  const { client: wanted = "", part: wantedPart = "" } = options;
  const work: (() => Promise<void>)[] = [];
  if ("Inspector".includes(wanted) && wantedPart === "") {
    work.push(() => checkInspectorRuns(report));
  }
  for (const client of PEER_CLIENTS.filter(({ name }) => name.includes(wanted))) {
    for (const [name, part] of Object.entries(PARTS)) {
      if (!name.includes(wantedPart)) continue;
      work.push(() =>
        report.group(`${client.name}: ${name}`, async () => {
          await using place = await makePlace();
          await part({ client, place, report });
        })
      );
    }
  }
  const worker = async (): Promise<void> => {
    for (let next = work.shift(); next !== undefined; next = work.shift()) await next();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

if (import.meta.main) {
  const { Report } = await import("./report.ts");
  const report = new Report();
  const [client = "", part = ""] = Deno.args;
  await checkCommission(report, { client, part });
  report.end();
  Deno.exit(report.ok ? 0 : 1);
}
