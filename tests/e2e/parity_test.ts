/**
 * The same machines, inputs and answers of one model through `kit … --format json` and through `tools/call`, each a
 * process of its own: the objects are compared key by key, order included. Masked are handles, places of files, nonces,
 * and the way in which a reply came.
 */
import { assertEquals } from "@std/assert";
import type { JsonObject, JsonValue } from "../../src/json/mod.ts";
import {
  ASKING,
  CHECKS,
  END,
  type FileRow,
  FILES,
  type Row,
  RUNS,
  state,
  states,
} from "./parity_rows.ts";
import { call, PROGRAM, ServerProcess } from "./server_process.ts";

interface Doors {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly server: ServerProcess;
}

let nextId = 1;

async function byTool({ server }: Doors, name: string, args: JsonObject): Promise<JsonObject> {
  const id = nextId++;
  await server.send(call(id, name, args));
  while (true) {
    const message = await server.receive();
    if (message["id"] !== id) continue;
    const content = Reflect.get(Object(message["result"]), "content");
    return JSON.parse(content[1].text);
  }
}

async function byCommand({ folder, env }: Doors, words: readonly string[]): Promise<JsonObject> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", new URL(`../../${PROGRAM}`, import.meta.url).pathname, ...words],
    cwd: folder,
    clearEnv: true,
    env: { ...env },
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (text === "") throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

const HANDLES = ["run", "checkpoint", "checkpoint_file"];

/** What may differ at the two doors. */
function masked(given: JsonObject): JsonValue {
  const { run: _run, checkpoint_file: _file, ...rest } = given;
  const shown = Object.entries(rest).map(([key, value]) =>
    HANDLES.includes(key) ? [key, "*"] : [key, value]
  );
  const text = JSON.stringify(Object.fromEntries(shown))
    .replaceAll(/data-[0-9a-f]{12}/g, "data-*")
    .replaceAll(/[0-9a-f]{32}/g, "*")
    .replaceAll(/"reply_via":"(?:cli|argument)"/g, '"reply_via":"*"');
  return JSON.parse(text);
}

function compare(tool: JsonObject, command: JsonObject, ends: Row["ends"]): void {
  const [status, error] = ends;
  const told = `${JSON.stringify(command["error"])} ${JSON.stringify(command["errors"] ?? "")}`;
  assertEquals(command["status"], status, told);
  assertEquals(String(command["error"]).slice(0, String(error).length), String(error), told);
  if (status === "error") return compareRefusals(tool, command);
  assertEquals(masked(tool), masked(command));
  assertEquals(JSON.stringify(masked(tool)), JSON.stringify(masked(command)));
}

/** Sentences name the handle or the file that was given; everything else is the same. */
function compareRefusals(tool: JsonObject, command: JsonObject): void {
  const { errors, ...rest } = tool;
  const { errors: theirs, ...others } = command;
  assertEquals(masked(rest), masked(others));
  assertEquals(Object.keys(tool).filter((key) => key !== "run"), Object.keys(command));
  if (tool["error"] === "prepare-failed") assertEquals(errors, theirs);
}

/** Ends what the model would think about for ever. */
const stopped = new AbortController();
/** Tells of the next slow request. */
const slowRequests = {
  waiting: [] as (() => void)[],
  next(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  },
};

/** Answers by the prompt alone, so that neither order nor door matters. */
async function answer(request: Request): Promise<Response> {
  const { messages } = await request.json();
  const prompt = String(messages.at(-1).content);
  if (prompt.includes("SLOW")) {
    for (const tell of slowRequests.waiting.splice(0)) tell();
    await new Promise<void>((resolve) => {
      stopped.signal.addEventListener("abort", () => resolve());
    });
  }
  const judged = /CONDITIONS\n1\. (\w+)/.exec(prompt)?.[1];
  if ((judged ?? prompt).includes("BROKEN")) {
    return Response.json({ error: { message: "no such model", type: "invalid" } }, { status: 400 });
  }
  const options = prompt.match(/^\d+\. /gm)?.length ?? 0;
  const content = judged === undefined
    ? prompt.includes("JSON") ? '{"k": [1, null]}' : "fine"
    : { FIRST: '{"choice": 1}', NONE: `{"choice": ${options}}` }[judged] ?? "I cannot tell";
  const refusal = prompt.includes("REFUSE") ? { refusal: "I will not" } : {};
  return Response.json({
    id: "c",
    object: "chat.completion",
    created: 0,
    model: "loopback",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: prompt.includes("REFUSE") ? null : content,
        ...refusal,
      },
      "finish_reason": prompt.includes("LENGTH") ? "length" : "stop",
    }],
    usage: { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
  });
}

async function withDoors(body: (doors: Doors) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "kit-parity-" }));
  const model = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, answer);
  const home = Deno.env.get("HOME") ?? "";
  const env = {
    PATH: Deno.env.get("PATH") ?? "",
    HOME: folder,
    DENO_DIR: Deno.env.get("DENO_DIR") ??
      `${Deno.env.get("XDG_CACHE_HOME") ?? `${home}/.cache`}/deno`,
    EXECUTIONKIT_BASE_URL: `http://127.0.0.1:${model.addr.port}/v1`,
    EXECUTIONKIT_MODEL: "loopback",
    // With a key a file restores trust as a handle does.
    KIT_STATE_KEY: "a key of the operator",
    KIT_STATE_DIR: `${folder}/state`,
  };
  const args = ["mcp", "--workspace", folder, "--checkpoint-dir", folder];
  const server = new ServerProcess(PROGRAM, { args, env });
  try {
    await server.initialize();
    await body({ folder, env, server });
  } finally {
    await server[Symbol.asyncDispose]();
    stopped.abort();
    await model.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

async function compareRun(doors: Doors, row: Row, number: number): Promise<void> {
  const folder = `${doors.folder}/${number}`;
  await Deno.mkdir(folder);
  for (const [name, text] of Object.entries(row.files ?? {})) {
    await Deno.writeTextFile(`${folder}/${name}`, text);
  }
  const named = row.machine.startsWith("std_");
  if (!named) await Deno.writeTextFile(`${folder}/m.mk`, row.machine);
  const path = named ? row.machine : `${folder}/m.mk`;
  const file = `${folder}/w.json`;
  const json = ["--format", "json"];
  const tool = await byTool(doors, "run", { path, detail: "full", ...row.args });
  const words = ["run", path, "--checkpoint", file, ...row.flags ?? [], ...json];
  compare(tool, await byCommand(doors, words), row.ends);
  let handle = tool["checkpoint"];
  for (const { flags = [], args = {}, ends } of row.then ?? []) {
    const again = await byTool(doors, "resume", {
      checkpoint: handle ?? null,
      detail: "full",
      ...args,
    });
    compare(again, await byCommand(doors, ["resume", file, ...flags, ...json]), ends);
    handle = again["checkpoint"] ?? handle;
  }
}

async function compareFile(doors: Doors, row: FileRow, name: string): Promise<void> {
  const folder = `${doors.folder}/${name}`;
  await Deno.mkdir(folder);
  const path = `${folder}/m.mk`;
  await Deno.writeTextFile(path, ASKING);
  const mine = `${name}/tool.json`;
  await byTool(doors, "run", { path, hitl: true, checkpoint_path: mine });
  const theirs = `${folder}/command.json`;
  const json = ["--format", "json"];
  await byCommand(doors, ["run", path, "--hitl", "--checkpoint", theirs, ...json]);
  for (const file of [`${doors.folder}/${mine}`, theirs]) {
    const text = await Deno.readTextFile(file);
    await Deno.writeTextFile(file, row.file?.(text) ?? text);
  }
  await Deno.writeTextFile(path, row.machine?.(ASKING) ?? ASKING);
  const inputs = { "r.x": "yes" };
  compare(
    await byTool(doors, "resume", { checkpoint: mine, inputs, detail: "full", ...row.args }),
    await byCommand(doors, ["resume", theirs, "--set", "r.x=yes", ...row.flags ?? [], ...json]),
    row.ends,
  );
}

/** Stops a run at both doors: by its handle, and with Ctrl-C. */
async function compareCancelled(doors: Doors): Promise<void> {
  const path = `${doors.folder}/slow.mk`;
  await Deno.writeTextFile(path, states(state("a", END, 'prompt: "SLOW"')));
  const { run } = await byTool(doors, "run", { path, wait_seconds: 0.1 });
  const tool = await byTool(doors, "resume", { run: run ?? null, cancel: true, detail: "full" });
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", new URL(`../../${PROGRAM}`, import.meta.url).pathname],
      ...["run", path, "--checkpoint", `${doors.folder}/slow.json`, "--format", "json"],
    ],
    clearEnv: true,
    env: { ...doors.env },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  await slowRequests.next();
  child.kill("SIGINT");
  const { stdout, code } = await child.output();
  assertEquals(code, 130);
  compare(tool, JSON.parse(new TextDecoder().decode(stdout)), ["halt", "cancelled"]);
}

Deno.test("both doors give the same object", async (test) => {
  await withDoors(async (doors) => {
    let number = 0;
    for (const [name, row] of Object.entries(RUNS)) {
      await test.step(`run: ${name}`, () => compareRun(doors, row, number++));
    }
    for (const [name, row] of Object.entries(FILES)) {
      await test.step(`resume of a file: ${name}`, () => compareFile(doors, row, `f${number++}`));
    }
    await test.step("resume of nothing", async () => {
      const checkpoint = `${doors.folder}/nothing.json`;
      compare(
        await byTool(doors, "resume", { checkpoint }),
        await byCommand(doors, ["resume", checkpoint, "--format", "json"]),
        ["error", "unknown-checkpoint"],
      );
    });
    await test.step("cancelled", () => compareCancelled(doors));
    for (const [name, text] of Object.entries(CHECKS)) {
      await test.step(`check: ${name}`, async () => {
        const path = `${doors.folder}/check.mk`;
        await Deno.writeTextFile(path, text);
        const command = await byCommand(doors, ["check", path, "--format", "json"]);
        assertEquals(await byTool(doors, "check", { path }), command);
      });
    }
    await test.step("list_machines", async () => {
      const command = await byCommand(doors, ["machines", "--format", "json"]);
      assertEquals(await byTool(doors, "list_machines", {}), command);
    });
    await test.step("describe_machine", async () => {
      const command = await byCommand(doors, ["machines", "std_refine", "--format", "json"]);
      assertEquals(await byTool(doors, "describe_machine", { name: "std_refine" }), command);
    });
    await test.step("describe_machine of nobody", async () => {
      const command = await byCommand(doors, ["machines", "nobody", "--format", "json"]);
      assertEquals(await byTool(doors, "describe_machine", { name: "nobody" }), command);
    });
  });
});
