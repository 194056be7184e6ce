// deno-lint-ignore-file no-console -- a chore prints
/**
 * Compiles the program for this machine and tries the binary: its version, the handshakes of both eras, a vote, a bundled
 * machine, a suspended run. Where no base program can be had it says so, and counts as skipped.
 *
 * @module
 */
import { compileArguments, lazyModules } from "./compile.ts";
import { type Base, findBase } from "./denort.ts";

const PROGRAM = "dist/smoke/kit";
const START_RUNS = 5;

type Trial = [name: string, run: () => Promise<string>];

async function compileAndTry(base: Base): Promise<number> {
  const problem = await compile(base);
  if (problem !== undefined) {
    console.log(`FAILED compile: ${problem}`);
    summary({ passed: 0, failed: 1, skipped: 0 });
    return 1;
  }
  let passed = 0;
  let failed = 0;
  for (const [name, run] of TRIALS) {
    try {
      console.log(`ok ${name}: ${await run()}`);
      passed += 1;
    } catch (error) {
      console.log(`FAILED ${name}: ${error instanceof Error ? error.message : error}`);
      failed += 1;
    }
  }
  summary({ passed, failed, skipped: 0 });
  return failed === 0 ? 0 : 1;
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};
const INITIALIZE = {
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "smoke", version: "1" },
  },
};
const DISCOVER = { id: 1, method: "server/discover", params: { _meta: META } };

const TRIALS: readonly Trial[] = [
  ["size", async () => `${((await Deno.stat(PROGRAM)).size / 1e6).toFixed(1)} MB`],
  ["kit --version", async () => (await kit(["--version"])).stdout.trim()],
  ["legacy handshake", async () => {
    const [answer] = await converse([INITIALIZE]);
    return wanted(answer, '"protocolVersion":"2025-11-25"');
  }],
  ["modern handshake", async () => {
    const [answer] = await converse([DISCOVER]);
    return wanted(answer, '"supportedVersions":["2026-07-28"]');
  }],
  ["start to first answer", startTime],
  ["a vote", async () => {
    const call = { name: "consensus", arguments: { prompt: "Is 91 prime?", n: 3 } };
    const [answer] = await converse([{
      id: 2,
      method: "tools/call",
      params: { ...call, _meta: META },
    }]);
    return wanted(answer, '"agreement_ratio":1');
  }],
  ["a bundled machine", async () => {
    const { code, stdout } = await kit(["run", "std_refine", "--provider", "scripted"]);
    if (code !== 0) throw new Error(`exit code ${code}: ${stdout}`);
    return wanted(stdout.replace(/\s+/g, ""), '"status":"done"');
  }],
  ["kit demo", async () => {
    const { code, stdout, stderr } = await kit(["demo"]);
    if (code !== 0) throw new Error(`exit code ${code}: ${stdout}${stderr}`);
    return `${stdout.split("\n").length} lines`;
  }],
  ["kit doctor", async () => {
    const { stdout } = await kit(["doctor", "--format", "json"]);
    return wanted(stdout.replace(/\s+/g, ""), '"command":"doctor"');
  }],
];

async function compile({ path, version }: Base): Promise<string | undefined> {
  const same = version === Deno.version.deno;
  const include = await lazyModules(new URL("../", import.meta.url));
  const args = compileArguments(PROGRAM, { version, include });
  const program = same ? Deno.execPath() : "npx";
  const { success, stderr } = await new Deno.Command(program, {
    args: same ? args : ["-y", `deno@${version}`, ...args],
    env: { DENORT_BIN: await Deno.realPath(path) },
  }).output();
  if (success) console.log(`compiled with Deno ${version}`);
  return success ? undefined : new TextDecoder().decode(stderr).trim();
}

async function startTime(): Promise<string> {
  const times: number[] = [];
  for (let run = 0; run < START_RUNS; run++) {
    const start = performance.now();
    const process = spawn(["mcp"]);
    const writer = process.stdin.getWriter();
    await writer.write(line(INITIALIZE));
    const reader = process.stdout.getReader();
    await reader.read();
    times.push(performance.now() - start);
    await writer.close();
    await reader.cancel();
    await process.status;
  }
  return `${
    times.toSorted((left, right) => left - right)[Math.floor(START_RUNS / 2)]?.toFixed(1)
  } ms`;
}

async function converse(requests: readonly object[]): Promise<string[]> {
  const process = spawn(["mcp", "--provider", "scripted"]);
  const writer = process.stdin.getWriter();
  for (const request of requests) await writer.write(line(request));
  await writer.close();
  const { stdout, code } = await process.output();
  if (code !== 0) throw new Error(`exit code ${code}`);
  return new TextDecoder().decode(stdout).trim().split("\n");
}

async function kit(
  args: string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const process = spawn(args);
  await process.stdin.close();
  const { code, stdout, stderr } = await process.output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

function spawn(args: string[]): Deno.ChildProcess {
  return new Deno.Command(`./${PROGRAM}`, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

function line(message: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function wanted(found: string | undefined, part: string): string {
  if (found?.includes(part) === true) return part;
  throw new Error(`no ${part} in ${found?.slice(0, 300)}`);
}

function summary(
  { passed, failed, skipped }: {
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
  },
): void {
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
}

await Deno.mkdir("dist/smoke", { recursive: true });
const base = await findBase("dist");
if ("problem" in base) {
  console.log(`SKIPPED compile smoke test: no base program: ${base.problem}`);
  summary({ passed: 0, failed: 0, skipped: 1 });
} else {
  console.log(`base program ${base.path} of Deno ${base.version}`);
  Deno.exit(await compileAndTry(base));
}
