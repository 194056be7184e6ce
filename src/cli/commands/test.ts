/**
 * `kit test`.
 *
 * @module
 */
import type { Host } from "../../host/mod.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../json/mod.ts";
import {
  type Coverage,
  createCoverage,
  listScenarios,
  loadReader,
  type Machine,
  type MachineCoverage,
  readCase,
  type Registry,
  runCase,
  runScenario,
  scenarioFromRecording,
  type ScenarioResult,
} from "../../machine/mod.ts";
import { UsageError } from "../arguments.ts";
import type { Invocation } from "../command.ts";
import { type Envelope, printEnvelope } from "../envelope.ts";
import { EXIT } from "../exit_codes.ts";
import { openHost, optional } from "../open_host.ts";
import { printable } from "../output.ts";
import { textsOf } from "../run_output.ts";

/**
 * Plays scenarios, or makes one from a recording.
 *
 * @param invocation What was asked.
 * @returns 0, or 1 if a scenario failed.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { args } = invocation;
  const ways = ["script", "cases", "from"].filter((name) => args.has(name));
  if (ways.length > 1) throw new UsageError(`--${ways[0]} and --${ways[1]} exclude each other`);
  if (args.has("cases") && args.positionals.length > 0) {
    throw new UsageError("MACHINE and --cases exclude each other: each case has its machine in it");
  }
  const host = openHost(invocation, { provider: "scripted" });
  try {
    const cases = args.value("cases");
    if (cases !== undefined) return await report(await playCases(cases, invocation), invocation);
    const recording = args.value("from");
    if (recording !== undefined) return await printScenario(recording, { invocation, host });
    return await report(await playScript(invocation, host), invocation);
  } finally {
    await host.close();
  }
}

interface Played {
  readonly results: readonly ScenarioResult[];
  readonly coverage: readonly MachineCoverage[];
}

async function playScript(invocation: Invocation, host: Host): Promise<Played> {
  const { args } = invocation;
  const path = args.positionals[0];
  if (path === undefined) {
    throw new UsageError("kit test needs MACHINE, --cases DIR or --from FILE");
  }
  const { machine, registry } = await load(path, host);
  const script = args.value("script") ?? path.replace(/\.mkl?$/, ".test.yaml");
  const scenarios = listedIn(script, await readValue(script, invocation));
  const coverage = createCoverage();
  const results: ScenarioResult[] = [];
  for (const [index, scenario] of scenarios.entries()) {
    results.push(
      await runScenario(machine, scenario, {
        label: `scenario[${index}]`,
        onEvent: (event) => coverage.observe(event),
        ...optional("registry", registry),
      }),
    );
  }
  return { results, coverage: [coverage.report(machine)] };
}

async function playCases(directory: string, invocation: Invocation): Promise<Played> {
  const { files } = invocation.context.ports;
  const entries = await files.list(directory);
  const names = entries.filter(({ kind, name }) => kind === "file" && name.endsWith(".yaml"))
    .map(({ name }) => name);
  if (names.length === 0) throw new UsageError(`No *.yaml lies directly in "${directory}"`);
  const coverage = createCoverage();
  const machines = new Map<string, Machine>();
  const results: ScenarioResult[] = [];
  for (const name of names) {
    const stem = name.slice(0, -".yaml".length);
    const value = await readValue(`${directory}/${name}`, invocation);
    gather(value, machines);
    results.push(
      await runCase(value, stem, { onEvent: (event) => coverage.observe(event) }),
    );
  }
  return { results, coverage: reportAll(coverage, machines.values()) };
}

function gather(value: JsonValue, machines: Map<string, Machine>): void {
  if (!isJsonObject(value)) return;
  try {
    const { machine } = readCase(value);
    machines.set(machine.name, machine);
  } catch {
    // A case whose machine cannot be read fails when it is played, with the reason.
  }
}

function reportAll(coverage: Coverage, machines: Iterable<Machine>): MachineCoverage[] {
  return [...machines].map((machine) => coverage.report(machine));
}

async function printScenario(
  path: string,
  { invocation, host }: { readonly invocation: Invocation; readonly host: Host },
): Promise<number> {
  const recording = await readValue(path, invocation);
  if (!isRecording(recording)) {
    throw new UsageError(`"${path}" is no recording of kit run --record`);
  }
  const target = invocation.args.positionals[0] ?? recording.path;
  if (typeof target !== "string") {
    throw new UsageError("Name the machine: kit test MACHINE --from FILE");
  }
  const { machine, registry } = await load(target, host);
  const scenario = await scenarioFromRecording(recording, machine, optional("registry", registry));
  await invocation.out.json({ scenarios: [scenario] });
  return EXIT.ok;
}

function isRecording(value: JsonValue): value is JsonObject {
  return isJsonObject(value) && Object.hasOwn(value, "recording");
}

async function load(
  path: string,
  host: Host,
): Promise<{ readonly machine: Machine; readonly registry: Registry | undefined }> {
  const { machine, registry, object } = await host.check({ path });
  if (machine !== undefined) return { machine, registry };
  throw new UsageError(`"${path}" cannot be loaded: ${textsOf(object, "errors").join("; ")}`);
}

async function readValue(path: string, { context }: Invocation): Promise<JsonValue> {
  const text = await context.ports.files.readText(path);
  const { readYaml } = await loadReader();
  const { value, diagnostics } = readYaml(text);
  const problem = diagnostics.find(({ severity }) => severity === "error");
  if (problem === undefined && value !== undefined) return value;
  const place = problem?.position === undefined
    ? ""
    : ` at ${problem.position.line}:${problem.position.column}`;
  throw new UsageError(`Cannot read "${path}"${place}: ${problem?.message ?? "it is empty"}`);
}

function listedIn(path: string, value: JsonValue): readonly JsonValue[] {
  try {
    return listScenarios(value);
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`Cannot use "${path}": ${error.message}`);
    throw error;
  }
}

async function report(
  { results, coverage }: Played,
  { args, format, out }: Invocation,
): Promise<number> {
  const failed = results.filter(({ passed }) => !passed).length;
  const wanted = args.has("coverage");
  const envelope: Envelope = {
    command: "test",
    ok: failed === 0,
    items: results.map(({ name, passed, mismatches, warnings }) => ({
      scenario: name,
      status: passed ? "pass" : "fail",
      mismatches,
      ...(warnings.length === 0 ? {} : { warnings }),
    })),
    diagnostics: [],
    summary: { passed: results.length - failed, failed, ...(wanted ? { coverage } : {}) },
  };
  if (format === "json") await out.json(envelope);
  else {
    const shown = { ...envelope, summary: { passed: results.length - failed, failed } };
    await printEnvelope(shown, out, ({ scenario }) => printable(String(scenario)));
    if (wanted) { for (const line of coverageLines(coverage)) await out.line(printable(line)); }
  }
  return failed === 0 ? EXIT.ok : EXIT.finding;
}

function coverageLines(coverage: readonly MachineCoverage[]): string[] {
  return coverage.flatMap(({ machine, states, missedStates, gates, missedGates }) => [
    `coverage of ${machine}: ${states - missedStates.length} of ${states} states, ` +
    `${gates - missedGates.length} of ${gates} gates`,
    ...missedStates.map((state) => `  never entered: ${state}`),
    ...missedGates.map(({ state, index, when }) =>
      `  never fired: ${state} gate ${index + 1}: ${when}`
    ),
  ]);
}
