// deno-lint-ignore-file no-console no-external-import -- a script for Node; the harness reads what it prints
/**
 * The official TypeScript client under remote control: `node commission_client.mjs PLAN`, PLAN being JSON with
 * `generation` (1 or 2), `mode`, `command`, `env`, `elicits` and `manual`. Orders come as lines of JSON on standard
 * input (`call`, `cancel`, `answer`, `list`, `close`), what happens goes out as lines of JSON.
 */
import process from "node:process";
import { createInterface } from "node:readline";

const plan = JSON.parse(process.argv[2] ?? "{}");
const MODULES = {
  1: ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js"],
  2: ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"],
};
const [clientModule, stdioModule] = await Promise.all(
  MODULES[plan.generation].map((name) => import(name)),
);
const CALL_TIMEOUT_MS = 120_000;
const calls = new Map();
const asks = new Map();

function say(line) {
  console.log(JSON.stringify(line));
}

function ask(request, extra) {
  const number = asks.size + 1;
  const signal = extra?.signal ?? extra?.mcpReq?.signal;
  signal?.addEventListener("abort", () => say({ event: "withdrawn", ask: number }));
  return new Promise((resolve) => {
    asks.set(number, resolve);
    say({ event: "ask", ask: number, params: request.params });
  });
}

async function makeClient() {
  const info = { name: "peer", version: "1.0.0" };
  const capabilities = plan.elicits ? { elicitation: {} } : {};
  if (plan.generation === 2) {
    const mode = plan.mode === "legacy" || plan.mode === "auto" ? plan.mode : { pin: plan.mode };
    const client = new clientModule.Client(info, { capabilities, versionNegotiation: { mode } });
    if (plan.elicits) client.setRequestHandler("elicitation/create", ask);
    return client;
  }
  const client = new clientModule.Client(info, { capabilities });
  const types = await import("@modelcontextprotocol/sdk/types.js");
  if (plan.elicits) client.setRequestHandler(types.ElicitRequestSchema, ask);
  return client;
}

async function call({ id, name, arguments: args, seed }) {
  const controller = new AbortController();
  calls.set(id, controller);
  const params = { name, arguments: args, ...seed };
  const options = {
    signal: controller.signal,
    timeout: CALL_TIMEOUT_MS,
    onprogress: ({ progress, total, message }) =>
      say({ event: "progress", id, progress, total, message }),
  };
  if (plan.manual) options.allowInputRequired = true;
  try {
    const result = plan.generation === 2
      ? await client.callTool(params, options)
      : await client.callTool(params, undefined, options);
    say({ event: "result", id, result });
  } catch (error) {
    say({
      event: "error",
      id,
      message: String(error?.message ?? error),
      code: error?.code,
      data: error?.data,
    });
  }
}

const ORDERS = {
  call,
  cancel: ({ id }) => calls.get(id)?.abort("enough"),
  answer: ({ ask: number, result }) => asks.get(number)?.(result),
  async list({ id }) {
    const { tools } = await client.listTools();
    say({ event: "result", id, result: { tools } });
  },
  async close() {
    await client.close();
    say({ event: "closed" });
    setTimeout(() => process.exit(0), 50);
  },
};

const client = await makeClient();
const [command, ...args] = plan.command;
const transport = new stdioModule.StdioClientTransport({
  command,
  args,
  env: { ...process.env, ...plan.env },
  stderr: "inherit",
  ...(plan.cwd === undefined ? {} : { cwd: plan.cwd }),
});
try {
  await client.connect(transport, { timeout: 30000 });
  say({ event: "connected", revision: client.getNegotiatedProtocolVersion?.() });
} catch (error) {
  say({ event: "error", id: 0, message: String(error?.message ?? error) });
  process.exit(1);
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const order = JSON.parse(line);
  ORDERS[order.op](order);
});
