// deno-lint-ignore-file no-console -- a chore prints
/**
 * Kit with a real small model: a chat-completions endpoint on loopback in front of it, spoken to by Kit, spoken to by an
 * official client and by the command line. Prints a transcript: `deno task real [--gemma]`.
 *
 * @module
 */
import {
  consensus,
  createFailoverProvider,
  createOpenAiProvider,
  mapReduce,
  type PatternResult,
  structured,
} from "../mod.ts";
import {
  ensureModel,
  ensureNode,
  ensureNpm,
  NPM_SETS,
  PEERS,
  placeScript,
  ROOT,
} from "../tests/peers/install.ts";

const KIT = ["deno", "run", "-A", `${ROOT}/mcp.ts`];
const MACHINE = `${ROOT}/scripts/real_machine.mk`;
const START_TIMEOUT_MS = 120_000;

interface Line {
  readonly progress?: number;
  readonly tool?: string;
  readonly isError?: boolean;
  readonly text?: string;
  readonly object?: Readonly<Record<string, unknown>>;
}

let failed = 0;

/** Says what is done, and whether it came out. */
function note(text: string, held = "ok"): void {
  if (held !== "ok") failed += 1;
  console.log(`# ${held === "ok" ? "" : "FAILED "}${text}`);
}

const model = await ensureModel(Deno.args.includes("--gemma") ? "gemma3" : "smollm2");
const folder = await ensureNpm(NPM_SETS.llama);
const endpoint = new Deno.Command(await ensureNode(), {
  args: [await placeModelScript(), model],
  cwd: folder,
  stdin: "null",
  stdout: "piped",
  stderr: "null",
}).spawn();
try {
  const url = await firstLine(endpoint.stdout);
  note(`${model.split("/").at(-1)} at ${url.replace(/\d+/g, "…")}`);
  const env = {
    EXECUTIONKIT_BASE_URL: url,
    EXECUTIONKIT_MODEL: "small",
    EXECUTIONKIT_TIMEOUT_MS: "300000",
  };
  await patterns(env);
  await recipes(url);
  await commandLine(env);
  await commissioned(env);
} finally {
  endpoint.kill("SIGTERM");
  await endpoint.status;
}
note(failed === 0 ? "everything came out" : `${failed} did not come out`);
Deno.exit(failed === 0 ? 0 : 1);

async function patterns(env: Readonly<Record<string, string>>): Promise<void> {
  note("a vote and a tool loop through the official client");
  const question = "What is the capital of France? Answer with one word.";
  const lines = await call(env, {
    command: KIT,
    calls: [
      {
        name: "consensus",
        arguments: { prompt: question, n: 5, temperature: 0.1, "max_tokens": 24 },
      },
      {
        name: "react_loop",
        arguments: { prompt: "What is 17*23? Use the calculator.", "max_tokens": 64 },
      },
    ],
  });
  const results = lines.filter((line) => line.tool !== undefined);
  note("the vote has an answer", results[0]?.isError === false ? "ok" : "no");
  const called = Number(results[1]?.object?.["tool_calls_made"] ?? 0);
  note("the tool loop ran a tool that the model called", called > 0 ? "ok" : "no");
}

async function recipes(url: string): Promise<void> {
  note("three recipes of the library");
  const small = createOpenAiProvider({ baseUrl: url, model: "small", timeoutMs: 300_000 });
  const dead = createOpenAiProvider({ baseUrl: "http://127.0.0.1:9/v1", model: "dead" });
  const options = { maxTokens: 48, temperature: 0.1 };
  const city = { type: "object", properties: { city: { type: "string", maxLength: 20 } } };
  const schema = { ...city, required: ["city"] };
  const results: readonly (readonly [string, () => Promise<PatternResult<unknown>>])[] = [
    [
      "failover from an endpoint that is not there",
      () =>
        consensus(createFailoverProvider([dead, small]), "Name a colour.", {
          ...options,
          numSamples: 1,
          retry: { maxAttempts: 1 },
        }),
    ],
    [
      "a structured answer",
      () => structured(small, "Which city is the capital of Italy?", { ...options, schema }),
    ],
    ["a map-reduce", () =>
      mapReduce(small, ["The soup was great.", "The waiter was rude."], {
        ...options,
        mapPrompt: "Is this review good or bad? One word. {item}",
        reducePrompt: "Sum up in one sentence: {mapped_outputs}",
      })],
  ];
  for (const [name, run] of results) {
    try {
      const { value, usage } = await run();
      note(`${name}: ${JSON.stringify(value)}, ${usage.llmCalls} requests`);
    } catch (error) {
      note(`${name}: ${String(error)}`, "no");
    }
  }
}

async function commandLine(env: Readonly<Record<string, string>>): Promise<void> {
  note("a machine on the command line, suspended for a person and resumed");
  const file = `${PEERS}/real-checkpoint.json`;
  await Deno.remove(file).catch(() => {});
  const code = await show(["run", MACHINE, "--hitl", "--checkpoint", file], env);
  note("exit code 3 for a suspension", code === 3 ? "ok" : `got ${code}`);
  const reply = await show(["resume", file, "--set", "decision=yes, three days are fine"], env);
  note("exit code 0 after the reply", reply === 0 ? "ok" : `got ${reply}`);
}

async function commissioned(env: Readonly<Record<string, string>>): Promise<void> {
  note("the same machine commissioned inline, the server restarted, the run resumed");
  const store = `${PEERS}/real-runs.sqlite`;
  for (const end of ["", "-wal", "-shm"]) await Deno.remove(`${store}${end}`).catch(() => {});
  const command = [...KIT, "mcp", "--store", `sqlite:${store}`];
  const source = await Deno.readTextFile(MACHINE);
  const calls = [{ name: "run", arguments: { source, hitl: true, "wait_seconds": 0 } }];
  const first = (await call(env, { command, calls })).at(-1)?.object;
  note("the run is suspended", first?.["status"] === "suspended" ? "ok" : "no");
  const inputs = { decision: "yes, three days are fine" };
  const again = { checkpoint: first?.["checkpoint"], inputs, "wait_seconds": 0 };
  const resume = { command, calls: [{ name: "resume", arguments: again }] };
  const second = (await call(env, resume)).at(-1)?.object;
  note("the run is done in another process", second?.["status"] === "done" ? "ok" : "no");
  const third = (await call(env, resume)).at(-1);
  note("a second resume is refused", third?.text?.includes("already-resumed") ? "ok" : "no");
}

async function call(
  env: Readonly<Record<string, string>>,
  plan: Readonly<Record<string, unknown>>,
): Promise<readonly Line[]> {
  const script = await placeScript("peers/client_calls.mjs", await ensureNpm(NPM_SETS.sdk));
  const output = await new Deno.Command(await ensureNode(), {
    args: [script, JSON.stringify({ ...plan, env })],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).output();
  const lines = new TextDecoder().decode(output.stdout).trim().split("\n");
  for (const line of lines) console.log(line);
  return lines.filter((line) => line.startsWith("{")).map((line): Line => JSON.parse(line));
}

async function show(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  console.log(`$ kit ${args.map((arg) => arg.replace(`${ROOT}/`, "")).join(" ")}`);
  const [program = "", ...rest] = KIT;
  const status = await new Deno.Command(program, {
    args: [...rest, ...args, "--format", "text"],
    env: { ...env },
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
  return status.code;
}

async function placeModelScript(): Promise<string> {
  const target = `${folder}/real_endpoint.mjs`;
  await Deno.copyFile(`${ROOT}/scripts/real_endpoint.mjs`, target);
  return target;
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const late = setTimeout(() => endpoint.kill("SIGTERM"), START_TIMEOUT_MS);
  let text = "";
  for await (const chunk of stream) {
    text += new TextDecoder().decode(chunk);
    if (text.includes("\n")) break;
  }
  clearTimeout(late);
  if (!text.startsWith("http")) throw new Error("The model could not be loaded");
  return text.trim();
}
