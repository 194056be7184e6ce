/**
 * Checks Kit against programs of others: `deno task peers [GROUP…]`. Groups: clients, inspector, conformance, schemas,
 * executionkit, mklang, mklang-checks, commission; without words all of them.
 *
 * @module
 */
import { Report } from "../tests/peers/report.ts";
import { checkClients } from "../tests/peers/clients.ts";
import { checkCommission } from "../tests/peers/commission.ts";
import { checkConformance } from "../tests/peers/conformance.ts";
import { checkExecutionKit } from "../tests/peers/execution_kit.ts";
import { checkInspector } from "../tests/peers/inspector.ts";
import { checkMklang } from "../tests/peers/mklang.ts";
import { checkMklangChecks } from "../tests/peers/mklang_checks.ts";
import { checkSchemas } from "../tests/peers/schemas.ts";

const GROUPS: Readonly<Record<string, (report: Report) => Promise<void>>> = {
  clients: checkClients,
  inspector: checkInspector,
  conformance: checkConformance,
  schemas: checkSchemas,
  executionkit: checkExecutionKit,
  mklang: checkMklang,
  "mklang-checks": checkMklangChecks,
  commission: checkCommission,
};

const report = new Report();
const wanted = Deno.args.length === 0 ? Object.keys(GROUPS) : Deno.args;
for (const name of wanted) {
  const check = GROUPS[name];
  if (check === undefined) report.fail(name, `is no group: ${Object.keys(GROUPS).join(", ")}`);
  else await report.group(name, () => check(report));
}
report.end();
Deno.exit(report.ok ? 0 : 1);
