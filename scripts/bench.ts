// deno-lint-ignore-file no-console -- a chore prints
/**
 * Measures whole processes, Kit's beside those of others, interleaved in one run, and prints a Markdown table:
 * `deno run -A scripts/bench.ts [ROW…] [--quick]`. Rows are the words of `MEASURES`.
 *
 * @module
 */
import { BARE, findContestants, KIT } from "../tests/bench/processes/contestants.ts";
import { type Measure, MEASURES, type Reach } from "../tests/bench/processes/measures.ts";
import type { Contestant } from "../tests/bench/processes/server_process.ts";

type Readings = ReadonlyMap<string, readonly number[]>;

/** Under this name the readings of the baseline are kept. */
const BASELINE = "";

const quick = Deno.args.includes("--quick");
const words = Deno.args.filter((word) => !word.startsWith("--"));
const picked = MEASURES.filter((measure) => words.length === 0 || words.includes(measure.key));
const contestants = await findContestants((message) => console.error(`left out: ${message}`));
const misses: string[] = [];

console.log(
  `Deno ${Deno.version.deno}, ${Deno.build.target}, ${navigator.hardwareConcurrency} cores`,
);
console.log(`Medians; in brackets the ratio to the bare program.\n`);
console.log(`| Row | Reach | Kit reaches | ${contestants.map(({ name }) => name).join(" | ")} |`);
console.log(`| --- | --- | --- |${contestants.map(() => " --- |").join("")}`);
for (const measure of picked) {
  const readings = await takeReadings(measure, contestants);
  console.log(row(measure, readings));
}
for (const miss of misses) console.log(`\nMissed: ${miss}`);
Deno.exit(misses.length === 0 ? 0 : 1);

async function takeReadings(measure: Measure, all: readonly Contestant[]): Promise<Readings> {
  const readings = new Map<string, number[]>(all.map(({ name }) => [name, []]));
  const baselines: number[] = [];
  readings.set(BASELINE, baselines);
  const out = new Set<string>();
  for (let round = 0; round < (quick ? 1 : measure.rounds); round++) {
    if (measure.baseline !== undefined) baselines.push(await measure.baseline.read());
    for (const contestant of all) {
      if (out.has(contestant.name)) continue;
      const reading = await measure.read(contestant).catch((error: unknown) => {
        console.error(`${measure.key}, ${contestant.name}: ${String(error)}`);
        return undefined;
      });
      if (reading === undefined) out.add(contestant.name);
      else readings.get(contestant.name)?.push(reading);
    }
  }
  return readings;
}

function row(measure: Measure, readings: Readings): string {
  const bare = median(readings.get(BARE.name) ?? []);
  const cells = contestants.map(({ name }) => {
    const value = median(readings.get(name) ?? []);
    if (Number.isNaN(value)) return "–";
    const ratio = value / bare;
    return `${show(value)}${
      Number.isFinite(ratio) && measure.unit !== "%" ? ` (${ratio.toFixed(2)})` : ""
    }`;
  });
  const kit = median(readings.get(KIT.name) ?? []);
  const baseline = median(readings.get(BASELINE) ?? []);
  const held = reaches(measure.reach, { kit, bare, baseline });
  const beside = measure.baseline === undefined
    ? `bare ${show(bare)}`
    : `${measure.baseline.title} ${show(baseline)}`;
  if (!held) misses.push(`${measure.title}: ${show(kit)} ${measure.unit}, ${beside}`);
  const title = `${measure.title}, ${measure.unit}${
    measure.baseline === undefined ? "" : ` (${beside})`
  }`;
  return `| ${title} | ${tell(measure.reach)} | ${held ? "yes" : "NO"} | ${cells.join(" | ")} |`;
}

function reaches(
  reach: Reach,
  { kit, bare, baseline }: {
    readonly kit: number;
    readonly bare: number;
    readonly baseline: number;
  },
): boolean {
  switch (reach.kind) {
    case "at-most-times-bare":
      return kit <= reach.factor * bare;
    case "at-least-times-bare":
      return kit >= reach.factor * bare;
    case "at-most-beyond-bare":
      return kit <= bare + reach.amount;
    case "at-most-times-baseline":
      return kit <= reach.factor * baseline;
    case "at-most":
      return kit <= reach.amount;
  }
}

function tell(reach: Reach): string {
  switch (reach.kind) {
    case "at-most-times-bare":
      return `≤ ${reach.factor} × bare`;
    case "at-least-times-bare":
      return `≥ ${reach.factor} × bare`;
    case "at-most-beyond-bare":
      return `≤ bare + ${reach.amount}`;
    case "at-most-times-baseline":
      return `≤ ${reach.factor} × baseline`;
    case "at-most":
      return `≤ ${reach.amount}`;
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

function show(value: number): string {
  if (Number.isNaN(value)) return "nothing";
  return value >= 1000 ? Math.round(value).toLocaleString("en") : value.toFixed(1);
}
