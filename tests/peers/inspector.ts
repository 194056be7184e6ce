/**
 * The command line of the Inspector against the fixture server and against Kit, in each era.
 *
 * @module
 */
import { answerModel, CAPTURES, forget, judgeExit, modelEnvironment, SERVERS } from "./clients.ts";
import { readCaptures } from "./capture.ts";
import { type Endpoint, startEndpoint } from "./endpoint.ts";
import { ensureNode, ensureNpm, NPM_SETS, ROOT } from "./install.ts";
import type { Report } from "./report.ts";

interface Call {
  /** What the report says. */
  readonly title: string;
  /** Which server. */
  readonly target: keyof typeof SERVERS;
  /** Arguments of the Inspector. */
  readonly args: readonly string[];
  /** What its output must hold. */
  readonly expect: RegExp;
}

const ERAS = ["legacy", "auto", "modern"] as const;
const TIMEOUT_MS = 60_000;

const CALLS: readonly Call[] = [
  {
    title: "lists portable tools",
    target: "fixture",
    args: ["--method", "tools/list"],
    expect: /"echo"/,
  },
  {
    title: "calls a tool",
    target: "fixture",
    args: ["--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hello"],
    expect: /hello/,
  },
  {
    title: "lists portable tools, strictly",
    target: "kit",
    args: ["--method", "tools/list", "--strict"],
    expect: /"consensus"/,
  },
  {
    title: "gets a vote",
    target: "kit",
    args: [
      ...["--method", "tools/call", "--tool-name", "consensus"],
      ...["--tool-args-json", '{"prompt":"What is 6 times 7?","n":3}'],
    ],
    expect: /agreement_ratio/,
  },
];

/**
 * Runs every call in every era.
 *
 * @param report Collects the outcomes.
 */
export async function checkInspector(report: Report): Promise<void> {
  await Deno.mkdir(CAPTURES, { recursive: true });
  await using endpoint = startEndpoint(answerModel);
  for (const era of ERAS) {
    for (const call of CALLS) {
      const name = `Inspector ${era} × ${call.target}: ${call.title}`;
      await report.group(name, () => checkCall(report, call, { name, era, endpoint }));
    }
  }
}

async function checkCall(
  report: Report,
  call: Call,
  run: { readonly name: string; readonly era: string; readonly endpoint: Endpoint },
): Promise<void> {
  const log = `${CAPTURES}/${run.name.replaceAll(/[^\w.-]+/g, "_")}`;
  await forget(log);
  const folder = await ensureNpm(NPM_SETS.inspector);
  const launcher = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
  const output = await new Deno.Command(await ensureNode(), {
    args: [
      ...[`${folder}/node_modules/${launcher}`, "--cli"],
      ...["deno", "run", "-A", `${ROOT}/tests/peers/tap.ts`, log, ...SERVERS[call.target]],
      ...Object.entries(modelEnvironment(run.endpoint)).flatMap(([key, value]) => [
        "-e",
        `${key}=${value}`,
      ]),
      ...["--protocol-era", run.era, "--quiet", ...call.args],
    ],
    stdin: "null",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).output();
  const text = new TextDecoder().decode(output.stdout);
  const said = new TextDecoder().decode(output.stderr).trim();
  report.check(run.name, {
    ok: output.success && call.expect.test(text),
    detail: output.success ? "" : `exit ${output.code}: ${said.slice(0, 400)}`,
  });
  report.check(`${run.name}; the process ends`, judgeExit(await readCaptures(log)));
}
