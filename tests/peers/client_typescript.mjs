// deno-lint-ignore-file no-console no-external-import no-boolean-literal-for-arguments -- a script for Node; the harness reads what it prints
/**
 * Drives a server with the official TypeScript client and prints one line of JSON for each check:
 * `node client_typescript.mjs PLAN`, PLAN being JSON with `generation` (1 or 2), `mode`, `command`, `env`, `target`.
 *
 * Runs from the folder that holds the packages; their names are data, so that nothing else tries to resolve them.
 */
import process from "node:process";

const plan = JSON.parse(process.argv[2] ?? "{}");
const MODULES = {
  1: ["@modelcontextprotocol/sdk/client/index.js", "@modelcontextprotocol/sdk/client/stdio.js"],
  2: ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"],
};
const [clientModule, stdioModule] = await Promise.all(
  MODULES[plan.generation].map((m) => import(m)),
);

function say(name, ok, detail = "") {
  console.log(JSON.stringify({ name, ok: Boolean(ok), detail: String(detail) }));
}

async function attempt(name, body) {
  try {
    await body((ok, detail) => say(name, ok, detail));
  } catch (error) {
    say(name, false, error?.message ?? error);
  }
}

async function makeClient() {
  const info = { name: "peer", version: "1.0.0" };
  const capabilities = { elicitation: {} };
  if (plan.generation === 2) {
    const mode = plan.mode === "legacy" || plan.mode === "auto" ? plan.mode : { pin: plan.mode };
    const client = new clientModule.Client(info, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler("elicitation/create", answer);
    return client;
  }
  const client = new clientModule.Client(info, { capabilities });
  const types = await import("@modelcontextprotocol/sdk/types.js");
  if (types.ElicitRequestSchema) client.setRequestHandler(types.ElicitRequestSchema, answer);
  return client;
}

let asked = 0;
function answer() {
  asked += 1;
  return { action: "accept", content: { ok: true } };
}

function callTool(client, params, options) {
  return plan.generation === 2
    ? client.callTool(params, options)
    : client.callTool(params, undefined, options);
}

async function checkProgress(client, params, least, judge) {
  const seen = [];
  const options = { onprogress: (report) => seen.push(report), timeout: 30000 };
  const result = await callTool(client, params, options);
  const rising = seen.every((report, i) => i === 0 || report.progress > seen[i - 1].progress);
  judge(seen.length >= least && rising && !result.isError, `${seen.length} reports`);
}

async function checkCancel(client, params, next, judge) {
  const controller = new AbortController();
  const call = callTool(client, params, { signal: controller.signal, timeout: 30000 });
  const settled = call.then(() => "answered", () => "rejected");
  await new Promise((resolve) => setTimeout(resolve, 300));
  controller.abort("enough");
  const outcome = await settled;
  const start = performance.now();
  await next(client);
  const ms = Math.round(performance.now() - start);
  judge(outcome === "rejected" && ms < 1000, `${outcome}, next answer after ${ms} ms`);
}

async function driveFixture(client) {
  await attempt("lists tools", async (judge) => {
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    judge(["echo", "slow", "ask", "fail"].every((name) => names.includes(name)), names.length);
  });
  await attempt("calls a tool", async (judge) => {
    const result = await callTool(client, { name: "echo", arguments: { text: "hé😀\nllo" } });
    const block = result.content.find((content) => content.text?.includes("llo"));
    judge(block !== undefined && !result.isError, "");
  });
  await attempt("reads a failed tool as a result", async (judge) => {
    judge((await callTool(client, { name: "fail", arguments: {} })).isError === true, "");
  });
  await attempt(
    "gets rising progress",
    (judge) => checkProgress(client, { name: "slow", arguments: { ms: 500 } }, 2, judge),
  );
  await attempt("cancels a call", (judge) =>
    checkCancel(
      client,
      { name: "slow", arguments: { ms: 60000 } },
      (same) => callTool(same, { name: "echo", arguments: { text: "after" } }),
      judge,
    ));
  if (plan.elicits) {
    await attempt("answers a question", async (judge) => {
      const result = await callTool(client, { name: "ask", arguments: {} });
      judge(asked > 0 && !result.isError, `${asked} asked`);
    });
  }
}

async function driveKit(client) {
  await attempt("lists tools", async (judge) => {
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    judge(["consensus", "react_loop"].every((name) => names.includes(name)), names.join(" "));
  });
  const vote = { prompt: "What is 6 times 7?", n: 5 };
  await attempt(
    "gets a vote with progress",
    (judge) => checkProgress(client, { name: "consensus", arguments: vote }, 3, judge),
  );
  await attempt("gets a tool loop", async (judge) => {
    const args = { prompt: "Use the calculator: 6*7" };
    const result = await callTool(client, { name: "react_loop", arguments: args });
    judge(!result.isError, result.content[0]?.text?.slice(0, 80));
  });
  await attempt("cancels a vote", (judge) =>
    checkCancel(
      client,
      { name: "consensus", arguments: { ...vote, prompt: "SLOW" } },
      (same) => same.listTools(undefined, { cacheMode: "refresh" }),
      judge,
    ));
}

const client = await makeClient();
const transport = new stdioModule.StdioClientTransport({
  command: plan.command[0],
  args: plan.command.slice(1),
  env: { ...process.env, ...plan.env },
  stderr: "inherit",
});
await attempt("connects", async (judge) => {
  await client.connect(transport, { timeout: 20000 });
  judge(true, client.getNegotiatedProtocolVersion?.() ?? "");
});
if (plan.target === "kit") await driveKit(client);
else await driveFixture(client);
await attempt("closes", async (judge) => {
  const start = performance.now();
  await client.close();
  judge(true, `${Math.round(performance.now() - start)} ms`);
});
setTimeout(() => process.exit(0), 100);
