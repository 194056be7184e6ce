/**
 * Official clients against the fixture server and against Kit: each connects, lists, calls with progress, cancels and
 * closes, and the server's process must end by itself within two seconds.
 *
 * @module
 */
import { readCaptures, type Session } from "./capture.ts";
import { type Endpoint, type Reply, type SeenRequest, startEndpoint } from "./endpoint.ts";
import { ensureNode, ensureNpm, ensurePython, NPM_SETS, PEERS, placeScript } from "./install.ts";
import { ROOT } from "./install.ts";
import type { Report } from "./report.ts";

/** The servers that are driven. */
export const SERVERS = {
  fixture: ["deno", "run", "-A", `${ROOT}/tests/fixtures/mcp/server.ts`],
  kit: ["deno", "run", "-A", `${ROOT}/mcp.ts`],
} as const;

/** Where the lines of every session are kept. */
export const CAPTURES: string = `${PEERS}/captures`;

/** How long the server's process may live after its input ended. */
const EXIT_LIMIT_MS = 2000;
/** How long it may live after a signal; some clients send one at once, and a probing one to its first process. */
const SIGNAL_LIMIT_MS = 500;
/** How long one client may take for all its steps. */
const CLIENT_TIMEOUT_MS = 90_000;

/** How far apart the model answers, so that each sample is reported by itself. */
const SAMPLE_GAP_MS = 250;

interface ClientRun {
  /** What the report calls it. */
  readonly name: string;
  /** The revision that must come out of the negotiation. */
  readonly revision: string;
  /** Makes the command that runs the client with a plan. */
  command(plan: string): Promise<readonly string[]>;
  /** More of the plan. */
  readonly plan: Readonly<Record<string, unknown>>;
}

const SDK = "@modelcontextprotocol/sdk";

const CLIENTS: readonly ClientRun[] = [
  typescriptClient("sdk20241105", "2024-11-05", { generation: 1 }),
  typescriptClient("sdk20250326", "2025-03-26", { generation: 1 }),
  typescriptClient("sdk20250618", "2025-06-18", { generation: 1, elicits: true }),
  typescriptClient("sdk", "2025-11-25", { generation: 1, elicits: true }),
  typescriptClient("sdk", "2025-11-25", { generation: 2, mode: "legacy", elicits: true }),
  typescriptClient("sdk", "2026-07-28", { generation: 2, mode: "auto", elicits: true }),
  typescriptClient("sdk", "2026-07-28", { generation: 2, mode: "2026-07-28", elicits: true }),
  pythonClient("2025-11-25", { mode: "legacy" }),
  pythonClient("2026-07-28", { mode: "auto" }),
  pythonClient("2026-07-28", { mode: "2026-07-28" }),
];

/**
 * Runs every client against both servers.
 *
 * @param report Collects the outcomes.
 */
export async function checkClients(report: Report): Promise<void> {
  await Deno.mkdir(CAPTURES, { recursive: true });
  for (const client of CLIENTS) {
    for (const target of ["fixture", "kit"] as const) {
      const name = `${client.name} × ${target}`;
      await report.group(name, () => checkClient(report, client, { name, target }));
    }
  }
}

async function checkClient(
  report: Report,
  client: ClientRun,
  where: { readonly name: string; readonly target: keyof typeof SERVERS },
): Promise<void> {
  const endpoint = startEndpoint(answerModel);
  try {
    const log = `${CAPTURES}/${where.name.replaceAll(/[^\w.-]+/g, "_")}`;
    await forget(log);
    const plan = {
      ...client.plan,
      target: where.target,
      command: ["deno", "run", "-A", `${ROOT}/tests/peers/tap.ts`, log, ...SERVERS[where.target]],
      env: modelEnvironment(endpoint),
    };
    const lines = await runClient(await client.command(JSON.stringify(plan)));
    for (const line of lines) report.check(`${where.name}: ${line.name}`, line);
    const sessions = await readCaptures(log);
    report.check(`${where.name}: negotiates ${client.revision}`, judgeRevision(sessions, client));
    report.check(`${where.name}: the process ends by itself`, judgeExit(sessions));
    if (where.target === "kit") {
      report.check(`${where.name}: a cancelled vote cuts its requests`, judgeCuts(endpoint));
    }
  } finally {
    await endpoint[Symbol.asyncDispose]();
  }
}

interface CheckLine {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

async function runClient(command: readonly string[]): Promise<readonly CheckLine[]> {
  const [program = "", ...args] = command;
  const output = await new Deno.Command(program, {
    args,
    cwd: ROOT,
    stdin: "null",
    signal: AbortSignal.timeout(CLIENT_TIMEOUT_MS),
  }).output();
  const text = new TextDecoder().decode(output.stdout);
  const lines = text.split("\n").filter((line) => line.startsWith("{"));
  const checks = lines.map((line): CheckLine => JSON.parse(line));
  if (checks.at(-1)?.name === "closes") return checks;
  const said = new TextDecoder().decode(output.stderr).trim().slice(-600);
  return [...checks, { name: "runs to its end", ok: false, detail: said }];
}

function judgeRevision(
  sessions: readonly Session[],
  client: ClientRun,
): { readonly ok: boolean; readonly detail: string } {
  const found = new Set(sessions.flatMap((session) => session.revision ?? []));
  return { ok: found.has(client.revision), detail: [...found].join(" ") };
}

/** Whether every process ended by itself, in time and with the right code. */
export function judgeExit(
  sessions: readonly Session[],
): { readonly ok: boolean; readonly detail: string } {
  const told = sessions.map((session) => {
    if (session.exitMs === undefined) return "no exit seen";
    const how = session.signals.length > 0 ? ` after ${session.signals.join(" ")}` : "";
    return `${Math.round(session.exitMs)} ms, code ${session.exitCode}${how}`;
  });
  return { ok: sessions.length > 0 && sessions.every(endedWell), detail: told.join("; ") };
}

function endedWell(session: Session): boolean {
  const signalled = session.signals.length > 0;
  const limit = signalled ? SIGNAL_LIMIT_MS : EXIT_LIMIT_MS;
  const codes = signalled ? [0, 143] : [0];
  return session.exitMs !== undefined && session.exitMs < limit &&
    codes.includes(session.exitCode ?? -1);
}

function judgeCuts(endpoint: Endpoint): { readonly ok: boolean; readonly detail: string } {
  const slow = endpoint.seen.filter((request) => isSlow(request));
  const cut = slow.filter((request) => request.aborted);
  return {
    ok: slow.length > 0 && cut.length === slow.length,
    detail: `${cut.length} of ${slow.length} cut`,
  };
}

/** Answers as a model would: `SLOW` prompts late, `calculator` prompts with a tool call first, all else with 42. */
export function answerModel(index: number, request: SeenRequest): Reply {
  if (isSlow(request)) return { delayMs: 60_000 };
  const asksForTool = JSON.stringify(request.body["messages"]).includes("calculator") &&
    !JSON.stringify(request.body["messages"]).includes('"tool"');
  if (!asksForTool || request.body["tools"] === undefined) {
    return { text: "42", delayMs: 50 + (index % 5) * SAMPLE_GAP_MS };
  }
  const call = { name: "calculator", arguments: '{"expression":"6*7"}' };
  return {
    message: {
      role: "assistant",
      content: null,
      "tool_calls": [{ id: "c1", type: "function", function: call }],
    },
    finishReason: "tool_calls",
  };
}

function isSlow(request: SeenRequest): boolean {
  return JSON.stringify(request.body).includes("SLOW");
}

/** What tells Kit where the model is. */
export function modelEnvironment(endpoint: Endpoint): Readonly<Record<string, string>> {
  return { EXECUTIONKIT_BASE_URL: endpoint.url, EXECUTIONKIT_MODEL: "loopback" };
}

function typescriptClient(
  set: keyof typeof NPM_SETS,
  revision: string,
  plan: Readonly<Record<string, unknown>>,
): ClientRun {
  const packages: Readonly<Record<string, string>> = NPM_SETS[set].packages;
  const name = plan["generation"] === 2 ? "@modelcontextprotocol/client" : SDK;
  const mode = plan["mode"] === undefined ? "" : ` ${plan["mode"]}`;
  return {
    name: `TypeScript client ${packages[name]}${mode}`,
    revision,
    plan,
    async command(text) {
      const folder = await ensureNpm(NPM_SETS[set]);
      return [await ensureNode(), await placeScript("peers/client_typescript.mjs", folder), text];
    },
  };
}

function pythonClient(revision: string, plan: Readonly<Record<string, unknown>>): ClientRun {
  return {
    name: `Python client ${plan["mode"]}`,
    revision,
    plan,
    async command(text) {
      return [await ensurePython(), `${ROOT}/tests/peers/client_python.py`, text];
    },
  };
}

/** Removes the captures of an earlier run. */
export async function forget(log: string): Promise<void> {
  const folder = log.slice(0, log.lastIndexOf("/"));
  for await (const entry of Deno.readDir(folder)) {
    if (`${folder}/${entry.name}`.startsWith(`${log}.`)) {
      await Deno.remove(`${folder}/${entry.name}`);
    }
  }
}
