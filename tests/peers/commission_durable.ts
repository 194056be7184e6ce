/**
 * Suspended runs that outlive the server: checkpoint files, SQLite, PostgreSQL.
 *
 * @module
 */
import postgres from "postgres";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { check, type Checking, pause } from "./commission_checks.ts";
import { type Loose, objectOf, type Outcome, Peer, type PeerOptions } from "./commission_driver.ts";
import { ASKING, ENDLESS, PLAIN, STEADY } from "./commission_place.ts";
import { ROOT } from "./install.ts";
import { refusal } from "./commission_session.ts";

const REPLY = { "human.reply": "yes" };
const STORE_KEY = "6b".repeat(32);

/** Where suspended runs are kept, and how a call names one. */
interface Keeping {
  readonly name: string;
  readonly flags: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** More arguments of `run`. */
  readonly args: Readonly<Record<string, unknown>>;
  /** What `resume` is given. */
  readonly checkpoint: (object: Loose) => string;
}

/**
 * Makes the checks of every store.
 *
 * @param checking Where.
 */
export async function checkDurable(checking: Checking): Promise<void> {
  for (const keeping of await keepings(checking)) {
    await checkRestart(checking, keeping);
    await checkRace(checking, keeping);
  }
  if (!THOROUGH.includes(checking.client.name)) return;
  await checkFiles(checking);
  await checkSealed(checking);
  await checkBounds(checking);
}

/** What depends on the server alone is checked through one client of each era and language. */
const THOROUGH: readonly string[] = [
  "TypeScript client 1.32.2",
  "TypeScript client 2.4.0 auto",
  "Python client legacy",
  "Python client 2026-07-28",
];

async function keepings(checking: Checking): Promise<readonly Keeping[]> {
  const { folder } = checking.place;
  const handle = (object: Loose): string => object.checkpoint;
  const found: Keeping[] = [
    {
      name: "a checkpoint file",
      flags: ["--checkpoint-dir", `${folder}/checkpoints`],
      args: { checkpoint_path: "run.json" },
      checkpoint: () => "run.json",
    },
    {
      name: "SQLite",
      flags: ["--store", `sqlite:${folder}/runs.db`],
      args: {},
      checkpoint: handle,
    },
    {
      name: "sealed SQLite",
      flags: ["--store", `sqlite:${folder}/sealed.db`],
      env: { KIT_STORE_KEY: STORE_KEY },
      args: {},
      checkpoint: handle,
    },
  ];
  const server = Deno.env.get("KIT_TEST_POSTGRES");
  if (server === undefined) {
    const reason = "KIT_TEST_POSTGRES names no server (scripts/postgres.ts starts one)";
    checking.report.skip(`${checking.client.name}: PostgreSQL`, reason);
    return found;
  }
  const database = await newDatabase(server);
  return [
    ...found,
    { name: "PostgreSQL", flags: ["--store", database], args: {}, checkpoint: handle },
  ];
}

async function newDatabase(server: string): Promise<string> {
  const name = `kit_${crypto.randomUUID().replaceAll("-", "")}`;
  const sql = postgres(server, { max: 1 });
  await sql.unsafe(`CREATE DATABASE ${name}`);
  await sql.end();
  return new URL(name, server).href;
}

function start({ client, place }: Checking, options: PeerOptions): Promise<Peer> {
  return Peer.start(client, { ...options, env: { ...place.env, ...options.env } });
}

async function suspend(checking: Checking, keeping: Keeping): Promise<string> {
  await using peer = await start(checking, keeping);
  const object = objectOf(
    await peer.call("run", { source: ASKING, hitl: true, ...keeping.args }),
  );
  assertEquals([object.status, object.error], ["suspended", "escalated"]);
  await peer.close();
  return keeping.checkpoint(object);
}

async function checkRestart(checking: Checking, keeping: Keeping): Promise<void> {
  await check(checking, `a restarted server resumes a run from ${keeping.name}, once`, async () => {
    const checkpoint = await suspend(checking, keeping);
    await using peer = await start(checking, keeping);
    const shown = objectOf(await peer.call("resume", { checkpoint }));
    assertEquals([shown.status, shown.ask], ["suspended", "Send this to the customer?"]);
    const sent = approvals(checking);
    const done = objectOf(await peer.call("resume", { checkpoint, inputs: REPLY }));
    assertEquals([done.status, done.result], ["done", "sent"]);
    assertEquals(done.usage, { input_tokens: 20, output_tokens: 10 });
    assertEquals(done.trace.map(({ state }: Loose) => state), ["draft", "send"]);
    refusal(await peer.call("resume", { checkpoint, inputs: REPLY }), "already-resumed");
    await peer.close();
    await using third = await start(checking, keeping);
    refusal(await third.call("resume", { checkpoint, inputs: REPLY }), "already-resumed");
    assertEquals(approvals(checking), sent + 1);
  });
}

async function checkRace(checking: Checking, keeping: Keeping): Promise<void> {
  await check(checking, `of two processes that race for ${keeping.name} one wins`, async () => {
    const checkpoint = await suspend(checking, keeping);
    await using left = await start(checking, keeping);
    await using right = await start(checking, keeping);
    // Both have loaded everything before they race.
    for (const peer of [left, right]) await peer.call("resume", { checkpoint });
    const sent = approvals(checking);
    const outcomes = await Promise.all(
      [left, right].map((peer) => peer.call("resume", { checkpoint, inputs: REPLY })),
    );
    const objects = outcomes.map(objectOf);
    const won = objects.filter(({ status }: Loose) => status === "done");
    const lost = objects.filter(({ status }: Loose) => status === "error");
    assertEquals([won.length, lost.length], [1, 1], JSON.stringify(objects).slice(0, 300));
    assertMatch(lost[0].error, /^(busy|already-resumed)$/);
    assertEquals(lost[0].errors.length, 1);
    assertEquals(approvals(checking), sent + 1);
    return lost[0].error;
  });
}

async function checkFiles(checking: Checking): Promise<void> {
  const { folder } = checking.place;
  const flags = ["--checkpoint-dir", `${folder}/checkpoints`, "--workspace", `${folder}/project`];
  const machine = `${folder}/project/machines/asking.mk`;
  const file = `${folder}/checkpoints/kept.json`;
  await using peer = await start(checking, { flags });
  const call = (name: string, args: Loose): Promise<Outcome> => peer.call(name, args);
  await check(
    checking,
    "a checkpoint file is its owner's alone, and names machine and point",
    async () => {
      await call("run", { path: machine, hitl: true, checkpoint_path: "kept.json" });
      assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
      const kept = JSON.parse(await Deno.readTextFile(file));
      assertEquals([kept.format, kept.machine, kept.reason], [1, "asking", "escalated"]);
    },
  );
  const whole = await Deno.readTextFile(file);
  await checkTampering(checking, { call, file, whole });
  await check(
    checking,
    "a changed machine is refused, a changed comment and force are not",
    async () => {
      await Deno.writeTextFile(file, whole);
      const text = await Deno.readTextFile(machine);
      await Deno.writeTextFile(machine, text.replace("SAY sent", "SAY other"));
      refusal(await call("resume", { checkpoint: "kept.json", inputs: REPLY }), "machine-changed");
      assertEquals(await Deno.readTextFile(file), whole);
      await Deno.writeTextFile(machine, `# a comment\n${text}`);
      const shown = objectOf(await call("resume", { checkpoint: "kept.json" }));
      assertEquals(shown.status, "suspended");
      await Deno.writeTextFile(machine, text.replace("SAY sent", "SAY other"));
      const forced = objectOf(
        await call("resume", { checkpoint: "kept.json", inputs: REPLY, force: true }),
      );
      assertEquals([forced.status, forced.result], ["done", "other"]);
      await Deno.writeTextFile(machine, text);
    },
  );
  await check(
    checking,
    "a foreign file is never written over, a path never leaves its folder",
    async () => {
      await Deno.writeTextFile(`${folder}/checkpoints/mine.txt`, "mine");
      const run = { source: PLAIN, hitl: true };
      for (const path of ["mine.txt", "../out.json", `${folder}/project/out.json`]) {
        refusal(await call("run", { ...run, checkpoint_path: path }), "invalid-request");
      }
      assertEquals(await Deno.readTextFile(`${folder}/checkpoints/mine.txt`), "mine");
      const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
      assert(!names.includes("out.json"), names.join(" "));
    },
  );
}

async function checkTampering(
  checking: Checking,
  { call, file, whole }: {
    readonly call: (name: string, args: Loose) => Promise<Outcome>;
    readonly file: string;
    readonly whole: string;
  },
): Promise<void> {
  const damaged: Readonly<Record<string, string>> = {
    "an edited context": whole.replace('"draft"', '"DRAFT"'),
    "an edited position": whole.replaceAll('"state": "send"', '"state": "draft"'),
    "half of its text": whole.slice(0, whole.length / 2),
    "no JSON": "hello",
    "another format": whole.replace('"format": 1', '"format": 9'),
    "no frames": JSON.stringify({ ...JSON.parse(whole), frames: [] }),
    "nothing in it": "",
  };
  for (const [name, text] of Object.entries(damaged)) {
    await check(
      checking,
      `a checkpoint file with ${name} is refused and left as it is`,
      async () => {
        assert(text !== whole, "nothing was changed");
        const before = checking.place.model.seen.length;
        await Deno.writeTextFile(file, text);
        const refused = await call("resume", { checkpoint: "kept.json", inputs: REPLY });
        refusal(refused, "bad-checkpoint");
        assertEquals(await Deno.readTextFile(file), text);
        assertEquals(checking.place.model.seen.length, before, "a model was asked");
      },
    );
  }
}

async function checkSealed(checking: Checking): Promise<void> {
  const { folder } = checking.place;
  const keeping: Keeping = {
    name: "sealed SQLite",
    flags: ["--store", `sqlite:${folder}/secret.db`],
    env: { KIT_STORE_KEY: STORE_KEY },
    args: {},
    checkpoint: (object) => object.checkpoint,
  };
  await check(
    checking,
    "a sealed store shows no text, and refuses what was changed in it",
    async () => {
      const checkpoint = await suspend(checking, keeping);
      const names = ["secret.db", "secret.db-wal"];
      const files = await Promise.all(
        names.map((name) => Deno.readFile(`${folder}/${name}`).catch(() => new Uint8Array())),
      );
      const bytes = files.map((file) => new TextDecoder("latin1").decode(file)).join("");
      for (const word of ["draft", "Send this to the customer"]) {
        assert(!bytes.includes(word), `"${word}" is readable`);
      }
      await breakPayloads(`${folder}/secret.db`);
      await refusesBroken(checkpoint, keeping, checking);
    },
  );
  const open: Keeping = {
    ...keeping,
    name: "SQLite",
    flags: ["--store", `sqlite:${folder}/open.db`],
    env: {},
  };
  await check(checking, "a store without a key refuses what was changed in it", async () => {
    const checkpoint = await suspend(checking, open);
    await breakPayloads(`${folder}/open.db`);
    await refusesBroken(checkpoint, open, checking);
  });
}

async function refusesBroken(
  checkpoint: string,
  keeping: Keeping,
  checking: Checking,
): Promise<void> {
  const sent = approvals(checking);
  await using peer = await start(checking, keeping);
  refusal(await peer.call("resume", { checkpoint, inputs: REPLY }), "bad-checkpoint");
  assertEquals(approvals(checking), sent);
}

/** Changes one character in everything that a run knows. */
async function breakPayloads(path: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path);
  const rows = database.prepare("SELECT rowid AS id, payload FROM kit_runs").all();
  for (const { id, payload } of rows) {
    const text = String(payload);
    const at = Math.floor(text.length / 2);
    const other = text[at] === "A" ? "B" : "A";
    const changed = text.slice(0, at) + other + text.slice(at + 1);
    database.prepare("UPDATE kit_runs SET payload = ? WHERE rowid = ?").run(changed, id ?? null);
  }
  database.close();
}

async function checkBounds(checking: Checking): Promise<void> {
  const { place } = checking;
  await check(checking, "a handle past its time says expired", async () => {
    const flags = ["--store", `sqlite:${place.folder}/brief.db`];
    await using peer = await start(checking, { flags, env: { KIT_SUSPENSION_TTL_SECONDS: "1" } });
    const { checkpoint } = objectOf(await peer.call("run", { source: ASKING, hitl: true }));
    await pause(1200);
    refusal(await peer.call("resume", { checkpoint, inputs: REPLY }), "expired");
  });
  await check(checking, "a full server says busy and begins nothing", async () => {
    await using peer = await start(checking, { env: { KIT_MAX_RUNS: "1" } });
    const { run } = objectOf(await peer.call("run", { source: ENDLESS, wait_seconds: 0.2 }));
    const before = place.model.seen.length;
    refusal(await peer.call("run", { source: PLAIN }), "busy");
    assertEquals(place.model.seen.length, before);
    await peer.call("resume", { run, cancel: true });
    assertEquals(objectOf(await peer.call("run", { source: PLAIN })).status, "done");
  });
  await check(checking, "a full memory store says busy and drops nobody who waits", async () => {
    await using peer = await start(checking, { env: { KIT_MAX_SUSPENDED: "1" } });
    const { checkpoint } = objectOf(await peer.call("run", { source: ASKING, hitl: true }));
    refusal(await peer.call("run", { source: ASKING, hitl: true }), "busy");
    const done = objectOf(await peer.call("resume", { checkpoint, inputs: REPLY }));
    assertEquals(done.status, "done");
  });
  await check(checking, "kit runs lists what another process keeps", async () => {
    const store = `sqlite:${place.folder}/listed.db`;
    await using peer = await start(checking, { flags: ["--store", store] });
    const first = objectOf(await peer.call("run", { source: ASKING, hitl: true }));
    const second = objectOf(await peer.call("run", { source: STEADY, wait_seconds: 0.2 }));
    const { stdout } = await new Deno.Command("deno", {
      args: ["run", "-A", `${ROOT}/mcp.ts`, "runs", "--store", store, "--format", "json"],
      env: { ...place.env },
    }).output();
    const listed: Loose = JSON.parse(new TextDecoder().decode(stdout));
    const phases = new Map(listed.items.map(({ runId, phase }: Loose) => [runId, phase]));
    assertEquals(phases.get(first.run), "suspended", JSON.stringify(listed).slice(0, 300));
    assertEquals(phases.get(second.run), "running");
  });
}

/** How often the state behind the question asked the model. */
function approvals({ place }: Checking): number {
  return place.model.seen.filter(({ prompt }) => prompt.includes("SAY sent")).length;
}
