/**
 * The official conformance suite against the fixture server, through a bridge from HTTP to stdio. Every line that
 * passes is captured for the check against the published schemas.
 *
 * @module
 */
import { CAPTURES, forget, SERVERS } from "./clients.ts";
import { ensureNode, ensureNpm, NPM_SETS, ROOT } from "./install.ts";
import type { Report } from "./report.ts";

interface Suite {
  /** The revision. */
  readonly revision: string;
  /** Arguments that choose its scenarios. */
  readonly choice: readonly string[];
  /** Scenarios that fail by decision, below `tests/peers`. */
  readonly expected: string;
}

const SUITES: readonly Suite[] = [
  {
    revision: "2026-07-28",
    choice: ["--requirements", "2026-07-28"],
    expected: "expected_2026_07_28.yaml",
  },
  {
    revision: "2025-11-25",
    choice: ["--requirements", "2025-11-25"],
    expected: "expected_2025_11_25.yaml",
  },
  {
    revision: "2025-06-18",
    choice: ["--suite", "active", "--spec-version", "2025-06-18"],
    expected: "expected_2025_06_18.yaml",
  },
];

/** How long one suite may take; a scenario that hangs has its own limit inside the suite. */
const SUITE_TIMEOUT_MS = 240_000;
/** How long the bridge may take to listen. */
const BRIDGE_TIMEOUT_MS = 15_000;

/**
 * Runs the suites of three revisions.
 *
 * @param report Collects the outcomes.
 */
export async function checkConformance(report: Report): Promise<void> {
  await Deno.mkdir(CAPTURES, { recursive: true });
  for (const suite of SUITES) {
    const name = `conformance ${suite.revision}`;
    await report.group(name, () => runSuite(report, name, suite));
  }
}

async function runSuite(report: Report, name: string, suite: Suite): Promise<void> {
  const log = `${CAPTURES}/conformance_${suite.revision}`;
  await forget(log);
  await using bridge = await startBridge(log);
  const expected = `${ROOT}/tests/peers/${suite.expected}`;
  const output = await new Deno.Command(await ensureNode(), {
    args: [
      `${await ensureNpm(
        NPM_SETS.conformance,
      )}/node_modules/@modelcontextprotocol/conformance/dist/index.js`,
      ...["server", "--url", bridge.url, ...suite.choice, "--expected-failures", expected],
    ],
    stdin: "null",
    signal: AbortSignal.timeout(SUITE_TIMEOUT_MS),
  }).output();
  const text = new TextDecoder().decode(output.stdout) + new TextDecoder().decode(output.stderr);
  await Deno.writeTextFile(`${log}.txt`, text);
  const reasons = readReasons(await Deno.readTextFile(expected));
  reportScenarios(report, name, { text, reasons });
  report.check(`${name}: exits with 0`, {
    ok: output.success,
    detail: output.success ? "" : text.trim().split("\n").slice(-12).join(" | "),
  });
}

/** Scenario to why it fails by decision; of `scenario:check` entries the scenario alone. */
function readReasons(text: string): ReadonlyMap<string, string> {
  const entries = text.matchAll(/^\s+- ([\w-]+)(?::[\w-]+)?\s+# (.+)$/gm);
  return new Map(Array.from(entries, ([, scenario = "", reason = ""]) => [scenario, reason]));
}

function reportScenarios(
  report: Report,
  name: string,
  said: { readonly text: string; readonly reasons: ReadonlyMap<string, string> },
): void {
  for (const [, mark, scenario = "", counts = ""] of said.text.matchAll(SCENARIO_LINE)) {
    const line = `${name}: ${scenario}`;
    const reason = said.reasons.get(scenario);
    const outside = NOT_SCORED.find(([prefix]) => scenario.startsWith(prefix))?.[1];
    if (reason !== undefined) report.skip(line, `fails by decision, ${reason}; ${counts}`);
    else if (counts.startsWith("0 passed, 0 failed")) report.skip(line, "checks nothing here");
    else if (mark === "✓") report.pass(line, counts);
    else if (outside !== undefined) report.skip(line, `not scored, ${outside}; ${counts}`);
    else report.fail(line, counts);
  }
}

/** Scenarios that the suite runs and does not score, by the start of their names, and why they fail here. */
const NOT_SCORED: readonly (readonly [prefix: string, reason: string])[] = [
  ["tasks-", "the tasks extension is not offered"],
  ["http-custom-header-server-validation", "a rule of HTTP: it judges the bridge"],
];

const SCENARIO_LINE = /^([✓✗]) ([\w-]+): (\d+ passed, \d+ failed.*)$/gm;

interface Bridge extends AsyncDisposable {
  readonly url: string;
}

async function startBridge(log: string): Promise<Bridge> {
  const port = freePort();
  const server = ["deno", "run", "-A", `${ROOT}/tests/peers/tap.ts`, log, ...SERVERS.fixture];
  const child = new Deno.Command(await ensureNode(), {
    args: [
      `${await ensureNpm(NPM_SETS.bridge)}/node_modules/supergateway/dist/index.js`,
      ...["--stdio", server.join(" "), "--outputTransport", "streamableHttp", "--stateful"],
      ...["--port", String(port), "--streamableHttpPath", "/mcp", "--logLevel", "none"],
    ],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const url = `http://localhost:${port}/mcp`;
  await untilListening(url);
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
    },
  };
}

async function untilListening(url: string): Promise<void> {
  const end = performance.now() + BRIDGE_TIMEOUT_MS;
  while (performance.now() < end) {
    try {
      await (await fetch(url, { method: "OPTIONS" })).body?.cancel();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error(`The bridge did not listen within ${BRIDGE_TIMEOUT_MS} ms`);
}

function freePort(): number {
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  return listener.addr.port;
}
