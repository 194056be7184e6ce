import { assert, assertEquals, assertFalse } from "@std/assert";
import { createHost, type Host, type HostOptions } from "../../../src/host/mod.ts";
import { createPorts } from "../../../src/platform/mod.ts";
import { openStore } from "../../../src/stores/mod.ts";
import { MockProvider } from "../../../src/testing/mod.ts";
import { ASKING, oneModel } from "../../host/harness.ts";

const ports = createPorts();
const YES = { "decision.answer": "yes" };

/** Runs steps in a fresh directory, with a maker of hosts that are all closed at the end. */
function inDirectory(
  name: string,
  steps: (directory: string, open: Opener) => Promise<void>,
): void {
  Deno.test(name, async () => {
    const directory = await Deno.realPath(await Deno.makeTempDir());
    const hosts: Host[] = [];
    try {
      await steps(directory, (replies, options = {}) => {
        const model = new MockProvider(replies);
        const host = createHost({ door: "mcp", ports, models: oneModel(model), ...options });
        hosts.push(host);
        return { host, model };
      });
    } finally {
      for (const host of hosts) await host.close();
      await Deno.remove(directory, { recursive: true });
    }
  });
}

type Opener = (
  replies: readonly string[],
  options?: Partial<HostOptions>,
) => { host: Host; model: MockProvider };

function sqlite(directory: string): Partial<HostOptions> {
  return { openStore: () => openStore(`sqlite:${directory}/runs.db`, { ports }) };
}

inDirectory(
  "a run suspended by one host is resumed by another over SQLite",
  async (directory, open) => {
    const one = open(["D"], sqlite(directory));
    const first = await one.host.run({ source: ASKING, hitl: true });
    await one.host.close();
    const two = open(["Y"], sqlite(directory));
    const shown = await two.host.resume({ checkpoint: String(first.object["checkpoint"]) });
    assertEquals(shown.object["ask"], "Approve?");
    const checkpoint = String(first.object["checkpoint"]);
    const done = await two.host.resume({ checkpoint, inputs: YES });
    assertEquals([done.object["status"], done.object["result"]], ["done", "Y"]);
    const again = await open([], sqlite(directory)).host.resume({ checkpoint, inputs: YES });
    assertEquals(again.object["error"], "already-resumed");
  },
);

inDirectory(
  "of four hosts that resume one suspension at once one wins",
  async (directory, open) => {
    const first = await open(["D"], sqlite(directory)).host.run({ source: ASKING, hitl: true });
    const checkpoint = String(first.object["checkpoint"]);
    const rivals = [1, 2, 3, 4].map(() => open(["Y"], sqlite(directory)));
    const ends = await Promise.all(
      rivals.map(({ host }) => host.resume({ checkpoint, inputs: YES })),
    );
    assertEquals(ends.filter(({ object }) => object["status"] === "done").length, 1);
    const others = ends.filter(({ isError }) => isError).map(({ object }) => object["error"]);
    assert(others.every((error) => error === "busy" || error === "already-resumed"), `${others}`);
    assertEquals(rivals.reduce((sum, { model }) => sum + model.callCount, 0), 1);
  },
);

inDirectory("a run that ended is looked at from another host", async (directory, open) => {
  const done = await open(["D", "Y"], sqlite(directory)).host.run({ source: ASKING });
  const other = open([], sqlite(directory));
  const seen = await other.host.resume({ run: String(done.object["run"]) });
  assertEquals(seen.object["result"], "Y");
  assertEquals((await other.host.runs()).map(({ phase }) => phase), ["finished"]);
});

inDirectory(
  "a checkpoint file is its owner's alone, and whole at every moment",
  async (directory, open) => {
    await Deno.writeTextFile(`${directory}/m.mk`, ASKING);
    const checkpointPath = `${directory}/w.json`;
    const path = `${directory}/m.mk`;
    const first = await open(["D"], { door: "cli" }).host.run({ path, hitl: true, checkpointPath });
    assertEquals(first.object["checkpoint"], checkpointPath);
    assertEquals(((await Deno.stat(checkpointPath)).mode ?? 0) & 0o777, 0o600);
    const names: string[] = [];
    for await (const { name } of Deno.readDir(directory)) names.push(name);
    assertEquals(names.sort(), ["m.mk", "w.json"]);
  },
);

inDirectory(
  "of four command lines that resume one file at once one wins",
  async (directory, open) => {
    await Deno.writeTextFile(`${directory}/m.mk`, ASKING);
    const checkpoint = `${directory}/w.json`;
    const request = { path: `${directory}/m.mk`, hitl: true, checkpointPath: checkpoint };
    await open(["D"], { door: "cli" }).host.run(request);
    const rivals = [1, 2, 3, 4].map(() => open(["Y"], { door: "cli" }));
    const ends = await Promise.all(
      rivals.map(({ host }) => host.resume({ checkpoint, inputs: YES })),
    );
    assertEquals(ends.filter(({ object }) => object["status"] === "done").length, 1);
    assertEquals(rivals.reduce((sum, { model }) => sum + model.callCount, 0), 1);
    const late = await open([], { door: "cli" }).host.resume({ checkpoint, inputs: YES });
    assertEquals(late.object["error"], "already-resumed");
    assertFalse((await Deno.readTextFile(checkpoint)).includes("Approve?"));
  },
);

inDirectory(
  "a checkpoint directory is left by no path, not by links either",
  async (directory, open) => {
    await Deno.mkdir(`${directory}/checks`);
    await Deno.mkdir(`${directory}/other`);
    await Deno.symlink(`${directory}/other`, `${directory}/checks/away`);
    await Deno.writeTextFile(`${directory}/other/x.json`, '{"format":1,"machine":"m"}');
    await Deno.symlink(`${directory}/other/x.json`, `${directory}/checks/x.json`);
    for (
      const checkpointPath of ["away/w.json", "x.json", "../other/w.json", "away/../../w.json"]
    ) {
      const { host } = open([], { checkpointDirectory: `${directory}/checks` });
      const refused = await host.run({ source: ASKING, hitl: true, checkpointPath });
      assertEquals(refused.object["error"], "invalid-request", checkpointPath);
    }
    const names: string[] = [];
    for await (const { name } of Deno.readDir(`${directory}/other`)) names.push(name);
    assertEquals(names, ["x.json"]);
  },
);

inDirectory(
  "keys are found in .env of the user's directory, and no URL is",
  async (directory, _open) => {
    await Deno.mkdir(`${directory}/kit`);
    await Deno.writeTextFile(
      `${directory}/kit/.env`,
      "MY_KEY='from-file-key' # mine\nEXECUTIONKIT_BASE_URL=http://evil/v1\nEXECUTIONKIT_MODEL=m\n",
    );
    const tiers = { fast: "a", balanced: "b", reasoning: "c" };
    const config = { active: "local", providers: { local: { api_key_env: "MY_KEY", tiers } } };
    await Deno.writeTextFile(`${directory}/kit/kit.jsonc`, JSON.stringify(config));
    const env = {
      get: (name: string) => name === "KIT_CONFIG_DIR" ? `${directory}/kit` : undefined,
    };
    const host = createHost({ door: "mcp", ports: { ...ports, env } });
    const report = await host.configuration();
    assertEquals([report.layer, report.active], ["user", "local"]);
    assertEquals(report.providers.map(({ key }) => key), ["set"]);
    assertEquals(report.problem, undefined);
    assertFalse(JSON.stringify(report).includes("from-file-key"));
  },
);
