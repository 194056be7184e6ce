// deno-lint-ignore-file no-console -- a chore prints
/**
 * Measures commissioned runs and prints a Markdown table; with PostgreSQL if `KIT_TEST_POSTGRES` names a server:
 *
 * ```sh
 * deno run -A scripts/postgres.ts deno run -A --v8-flags=--expose-gc scripts/bench_commission.ts
 * ```
 *
 * Words pick parts: overhead, concurrency, latency, crowd.
 *
 * @module
 */
import {
  concurrency,
  crowd,
  keptBy,
  latency,
  overhead,
  type Row,
} from "../tests/bench/commission/measures.ts";

const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "kit-bench-" }));
const kept = keptBy(folder);
const parts: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  overhead,
  concurrency,
  latency: () => latency(kept),
  crowd: () => crowd(kept),
};
let missed = 0;
console.log(
  `Deno ${Deno.version.deno}, ${Deno.build.target}, ${navigator.hardwareConcurrency} cores\n`,
);
console.log("| What | Measured | Beside | Holds |\n| --- | --- | --- | --- |");
for (const [name, part] of Object.entries(parts)) {
  if (Deno.args.length > 0 && !Deno.args.includes(name)) continue;
  for (const { what, measured, beside, holds } of await part()) {
    console.log(`| ${what} | ${measured} | ${beside} | ${told(holds)} |`);
    if (holds === false) missed++;
  }
}
await Deno.remove(folder, { recursive: true });
Deno.exit(missed === 0 ? 0 : 1);

function told(holds: boolean | undefined): string {
  return holds === undefined ? "–" : holds ? "yes" : "NO";
}
