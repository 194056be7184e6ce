/**
 * The least that a Deno program must do to answer the same lines: the yardstick of the process benchmarks. Finds
 * lines in one pass, answers each request from its text, writes what is ready in one go, and for `tools/call` asks the
 * model `n` times at once. It validates nothing.
 *
 * @module
 */

const NEWLINE = 10;
const decoder = new TextDecoder();
const encoder = new TextEncoder();
const buffer = new Uint8Array(65536);
const open = new AbortController();
let parts: Uint8Array[] = [];
let ready: string[] = [];
let calls = 0;

const INITIALIZE = {
  protocolVersion: "2025-11-25",
  capabilities: { tools: {} },
  serverInfo: { name: "bare", version: "0.0.0" },
};
const DISCOVER = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: { tools: {} },
  ttlMs: 0,
  cacheScope: "public",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "bare", version: "0.0.0" } },
};
const TOOLS = {
  tools: [{ name: "consensus", description: "Votes", inputSchema: { type: "object" } }],
};

interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: { readonly arguments?: { readonly prompt?: string; readonly n?: number } };
}

function handle(line: Uint8Array): void {
  const request: Request = JSON.parse(decoder.decode(line));
  if (request.id === undefined) return;
  if (request.method === "tools/call") void vote(request);
  else if (request.method === "initialize") reply(request, INITIALIZE);
  else if (request.method === "server/discover") reply(request, DISCOVER);
  else reply(request, request.method === "tools/list" ? TOOLS : {});
}

function reply(request: Request, result: unknown): void {
  ready.push(`${JSON.stringify({ jsonrpc: "2.0", id: request.id, result })}\n`);
}

async function vote(request: Request): Promise<void> {
  calls += 1;
  const { prompt = "", n = 3 } = request.params?.arguments ?? {};
  const answers = await Promise.all(Array.from({ length: n }, () => ask(prompt)));
  reply(request, { content: [{ type: "text", text: answers[0] }] });
  calls -= 1;
  await flush();
}

async function ask(prompt: string): Promise<string> {
  const response = await fetch(`${Deno.env.get("EXECUTIONKIT_BASE_URL")}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: Deno.env.get("EXECUTIONKIT_MODEL"),
      messages: [{ role: "user", content: prompt }],
    }),
    signal: open.signal,
  });
  return (await response.json()).choices[0].message.content;
}

async function flush(): Promise<void> {
  const bytes = encoder.encode(ready.join(""));
  ready = [];
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}

function scan(chunk: Uint8Array): void {
  let start = 0;
  for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
    parts.push(chunk.subarray(start, end));
    handle(parts.length === 1 ? chunk.subarray(start, end) : join(parts));
    parts = [];
    start = end + 1;
  }
  if (start < chunk.length) parts.push(chunk.slice(start));
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

for (
  let size = await Deno.stdin.read(buffer);
  size !== null;
  size = await Deno.stdin.read(buffer)
) {
  scan(buffer.subarray(0, size));
  if (ready.length > 0) await flush();
}
if (calls > 0) open.abort();
Deno.exit(0);
