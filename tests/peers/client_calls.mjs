// deno-lint-ignore-file no-console no-external-import -- a script for Node; the harness reads what it prints
/**
 * Makes a list of tool calls with the official TypeScript client 2.x and prints what came back, one line of JSON each:
 * `node client_calls.mjs PLAN`, PLAN being JSON with `command`, `env`, `mode` and `calls`. Where an argument is the
 * text `$checkpoint` it stands for the handle that the call before gave.
 */
import process from "node:process";

const plan = JSON.parse(process.argv[2] ?? "{}");
const [{ Client }, { StdioClientTransport }] = await Promise.all(
  ["@modelcontextprotocol/client", "@modelcontextprotocol/client/stdio"].map((name) =>
    import(name)
  ),
);
const CALL_TIMEOUT_MS = 600_000;

function say(line) {
  console.log(JSON.stringify(line));
}

const client = new Client({ name: "calls", version: "1.0.0" }, {
  versionNegotiation: { mode: plan.mode ?? "auto" },
});
const env = { ...process.env, ...plan.env };
const [command, ...args] = plan.command;
await client.connect(new StdioClientTransport({ command, args, env, stderr: "inherit" }));
say({ connected: client.getServerVersion(), revision: client.getNegotiatedProtocolVersion() });
let checkpoint;
for (const call of plan.calls) {
  const given = Object.entries(call.arguments).map(([key, value]) => [
    key,
    value === "$checkpoint" ? checkpoint : value,
  ]);
  const start = performance.now();
  const result = await client.callTool({ name: call.name, arguments: Object.fromEntries(given) }, {
    onprogress: ({ progress, total, message }) => say({ progress, total, message }),
    timeout: CALL_TIMEOUT_MS,
  });
  checkpoint = result.structuredContent?.checkpoint ?? checkpoint;
  say({
    tool: call.name,
    ms: Math.round(performance.now() - start),
    isError: result.isError ?? false,
    text: result.content[0]?.text,
    object: result.structuredContent,
  });
}
await client.close();
process.exit(0);
