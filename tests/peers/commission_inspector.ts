/**
 * The command line of the Inspector: each call is a client and a server of its own, so every resume is one after a
 * restart.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { Loose } from "./commission_driver.ts";
import { ASKING, makePlace, type Place, PLAIN } from "./commission_place.ts";
import { ensureNode, ensureNpm, NPM_SETS, ROOT } from "./install.ts";
import type { Report } from "./report.ts";

const ERAS = ["legacy", "auto", "modern"] as const;
const TIMEOUT_MS = 60_000;
const LAUNCHER = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";

/**
 * Makes the checks in every era.
 *
 * @param report Takes what comes of it.
 */
export async function checkInspectorRuns(report: Report): Promise<void> {
  for (const era of ERAS) {
    await report.group(`Inspector ${era}`, async () => {
      await using place = await makePlace();
      await checkEra(report, era, place);
    });
  }
}

async function checkEra(report: Report, era: string, place: Place): Promise<void> {
  const call = (name: string, args: Loose): Promise<Loose> => inspect({ era, place, name, args });
  const check = async (name: string, body: () => Promise<void>): Promise<void> => {
    const title = `Inspector ${era}: ${name}`;
    await body().then(() => report.pass(title), (error) => report.fail(title, String(error)));
  };
  await check("run inline", async () => {
    const object = await call("run", { source: PLAIN });
    assertEquals([object.status, object.result], ["done", "plain-"]);
  });
  await check("run by name", async () => {
    assertEquals((await call("run", { path: "named" })).status, "done");
  });
  let checkpoint = "";
  await check("suspends for a person", async () => {
    const object = await call("run", { source: ASKING, hitl: true });
    assertEquals([object.status, object.error], ["suspended", "escalated"]);
    checkpoint = object.checkpoint;
  });
  const inputs = { "human.reply": "yes" };
  await check("resumes with another process", async () => {
    const object = await call("resume", { checkpoint, inputs });
    assertEquals([object.status, object.result], ["done", "sent"]);
  });
  await check("a second resume says already-resumed", async () => {
    const object = await call("resume", { checkpoint, inputs });
    assertEquals([object.status, object.error], ["error", "already-resumed"]);
    assert(typeof object.run === "string");
  });
}

async function inspect({ era, place, name, args }: {
  readonly era: string;
  readonly place: Place;
  readonly name: string;
  readonly args: Loose;
}): Promise<Loose> {
  const folder = await ensureNpm(NPM_SETS.inspector);
  const output = await new Deno.Command(await ensureNode(), {
    args: [
      ...[`${folder}/node_modules/${LAUNCHER}`, "--cli"],
      ...["deno", "run", "-A", `${ROOT}/mcp.ts`],
      ...Object.entries({ ...place.env, KIT_STORE: `sqlite:${place.folder}/runs.db` })
        .flatMap(([key, value]) => ["-e", `${key}=${value}`]),
      ...["--protocol-era", era, "--quiet", "--method", "tools/call", "--tool-name", name],
      ...["--tool-args-json", JSON.stringify(args)],
    ],
    stdin: "null",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).output();
  const text = new TextDecoder().decode(output.stdout);
  const start = text.indexOf("{");
  if (start === -1) throw new Error(new TextDecoder().decode(output.stderr).slice(0, 400));
  const { content } = JSON.parse(text.slice(start));
  return JSON.parse(content[1].text);
}
