// deno-lint-ignore-file no-external-import -- a script for Node and Deno beside the packages it loads
/**
 * A server on the official SDK with one tool, `consensus`, that asks the model `n` times at once:
 * `node sdk.mjs 1` or `node sdk.mjs 2`. Runs from the folder that holds the packages.
 */
import process from "node:process";

const MODULES = {
  1: ["@modelcontextprotocol/sdk/server/mcp.js", "@modelcontextprotocol/sdk/server/stdio.js"],
  2: ["@modelcontextprotocol/server", "@modelcontextprotocol/server/stdio"],
};
const generation = process.argv[2];
const [server, stdio] = await Promise.all(MODULES[generation].map((name) => import(name)));
const { z } = await import("zod");

async function ask(prompt) {
  const response = await fetch(`${process.env.EXECUTIONKIT_BASE_URL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: process.env.EXECUTIONKIT_MODEL,
      messages: [{ role: "user", content: prompt }],
    }),
  });
  return (await response.json()).choices[0].message.content;
}

async function vote({ prompt, n }) {
  const answers = await Promise.all(Array.from({ length: n ?? 3 }, () => ask(prompt)));
  return { content: [{ type: "text", text: answers[0] }] };
}

function make() {
  const made = new server.McpServer({ name: "sdk", version: "0.0.0" });
  const shape = { prompt: z.string(), n: z.number().optional() };
  const inputSchema = generation === "2" ? z.object(shape) : shape;
  made.registerTool("consensus", { description: "Votes", inputSchema }, vote);
  return made;
}

if (generation === "2") stdio.serveStdio(make);
else await make().connect(new stdio.StdioServerTransport());
