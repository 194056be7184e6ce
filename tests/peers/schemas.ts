/**
 * Every line that a server wrote while others drove it, against the published schema of its revision.
 *
 * @module
 */
import { readCaptures } from "./capture.ts";
import { CAPTURES } from "./clients.ts";
import { ensureNode, ensureNpm, NPM_SETS, placeScript } from "./install.ts";
import type { Report } from "./report.ts";

interface Verdict {
  /** Messages, by revision and kind. */
  readonly counts: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What does not fit. */
  readonly problems: readonly string[];
}

const REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
const PROBLEMS_SHOWN = 20;

/**
 * Validates the captures that the other groups left.
 *
 * @param report Collects the outcomes.
 */
export async function checkSchemas(report: Report): Promise<void> {
  const sessions = await readCaptures(`${CAPTURES}/`);
  if (sessions.length === 0) {
    return report.skip("schemas", "nothing was captured; run the clients first");
  }
  const list = `${CAPTURES}/sessions.json`;
  await Deno.writeTextFile(list, JSON.stringify(sessions));
  const verdict = await validate(list);
  for (const revision of REVISIONS) {
    const kinds = Object.entries(verdict.counts[revision] ?? {});
    const told = kinds.map(([kind, count]) => `${count} ${kind}`).join(", ");
    const found = verdict.problems.filter((problem) => problem.includes(revision));
    const name = `messages of ${revision} fit ${source(revision)}`;
    if (kinds.length === 0) report.skip(name, "no peer spoke this revision");
    else report.check(name, { ok: found.length === 0, detail: told });
  }
  await checkTeeth(report);
  const shown = verdict.problems.slice(0, PROBLEMS_SHOWN);
  report.check("every message fits its schema", {
    ok: shown.length === 0,
    detail: shown.join("\n        "),
  });
}

/** One wrong answer for each revision must be found, or the check above says nothing. */
async function checkTeeth(report: Report): Promise<void> {
  const list = `${CAPTURES}/broken.json`;
  await Deno.writeTextFile(list, JSON.stringify(REVISIONS.map(brokenSession)));
  const { problems } = await validate(list);
  const missed = REVISIONS.filter((revision) => !problems.some((text) => text.includes(revision)));
  report.check("a list without its tools is found in every revision", {
    ok: missed.length === 0,
    detail: missed.join(" "),
  });
}

function brokenSession(revision: string): Readonly<Record<string, unknown>> {
  const claim = { "io.modelcontextprotocol/protocolVersion": revision };
  const params = revision === "2026-07-28" ? { _meta: claim } : {};
  const agreed = {
    protocolVersion: revision,
    capabilities: {},
    serverInfo: { name: "broken", version: "0" },
  };
  const messages = [
    ["client", { jsonrpc: "2.0", id: 1, method: "initialize", params: {} }],
    ["server", { jsonrpc: "2.0", id: 1, result: agreed }],
    ["client", { jsonrpc: "2.0", id: 2, method: "tools/list", params }],
    ["server", { jsonrpc: "2.0", id: 2, result: {} }],
  ];
  const lines = messages.map(([from, message]) => ({ from, line: JSON.stringify(message) }));
  return { path: revision, lines: revision === "2026-07-28" ? lines.slice(2) : lines };
}

function source(revision: string): string {
  return revision === "2024-11-05"
    ? "the types of the SDK of that time (no package carries its schema)"
    : "its published schema";
}

async function validate(list: string): Promise<Verdict> {
  const folder = await ensureNpm(NPM_SETS.conformance);
  const old = await ensureNpm(NPM_SETS.sdk20241105);
  const output = await new Deno.Command(await ensureNode(), {
    args: [
      await placeScript("peers/schemas.mjs", folder),
      list,
      `${old}/node_modules/@modelcontextprotocol/sdk/dist/esm/types.js`,
    ],
    cwd: folder,
    stdin: "null",
  }).output();
  if (!output.success) throw new Error(new TextDecoder().decode(output.stderr).slice(0, 1000));
  return JSON.parse(new TextDecoder().decode(output.stdout));
}
