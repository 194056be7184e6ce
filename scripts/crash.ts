// deno-lint-ignore-file no-console -- a chore prints
/**
 * Kills servers at random moments, over SQLite and, where `KIT_TEST_POSTGRES` names a server, over PostgreSQL.
 *
 * ```sh
 * deno run -A scripts/postgres.ts deno run -A scripts/crash.ts 500
 * ```
 *
 * @module
 */
import postgres from "postgres";
import { crash } from "../tests/crash/crash.ts";

const DEFAULT_RUNS = 60;

const runs = Number(Deno.args[0] ?? DEFAULT_RUNS);
const folder = await Deno.makeTempDir({ prefix: "kit-crash-" });
const server = Deno.env.get("KIT_TEST_POSTGRES");
const counts = { passed: 0, failed: 0, skipped: 0 };
await check("sqlite", () => Promise.resolve(`sqlite:${folder}/runs.db`));
if (server === undefined) {
  counts.skipped++;
  console.log("postgres: skipped, KIT_TEST_POSTGRES names no server");
} else {
  await check("postgres", () => newDatabase(server));
}
await Deno.remove(folder, { recursive: true });
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
Deno.exit(counts.failed === 0 ? 0 : 1);

async function check(name: string, open: () => Promise<string>): Promise<void> {
  const report = await crash({ store: await open(), log: `${folder}/${name}.log`, runs });
  const { violations, ...numbers } = report;
  console.log(`${name}: ${JSON.stringify(numbers)}`);
  for (const violation of violations) console.log(`${name}: VIOLATION ${violation}`);
  if (violations.length === 0) counts.passed++;
  else counts.failed++;
}

async function newDatabase(url: string): Promise<string> {
  const name = `kit_${crypto.randomUUID().replaceAll("-", "")}`;
  const sql = postgres(url, { max: 1 });
  await sql.unsafe(`CREATE DATABASE ${name}`);
  await sql.end();
  return new URL(name, url).href;
}
