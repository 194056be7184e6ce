// deno-lint-ignore no-external-import -- to spoil a row as nothing of ours does
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { BusyStoreError, UnreadableRecordError } from "../../../src/host/mod.ts";
import type { JsonValue } from "../../../src/json/mod.ts";
import { createPorts } from "../../../src/platform/mod.ts";
import { openStore } from "../../../src/stores/mod.ts";
import { openSqliteStore } from "../../../src/stores/sqlite.ts";
import { guardStore } from "../../../src/stores/guarded_store.ts";
import { createProof } from "../../../src/stores/proved.ts";
import { createSeal } from "../../../src/stores/sealed.ts";
import { ManualClock } from "../../../src/testing/mod.ts";
import { testStore } from "../../contracts/store.ts";

const ports = createPorts();
const KEY = "0f".repeat(32);

const folders: string[] = [];

async function newPath(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "kit-store-" });
  folders.push(folder);
  return `${folder}/runs.db`;
}

Deno.test.afterAll(async () => {
  for (const folder of folders) await Deno.remove(folder, { recursive: true });
});

testStore("SQLite store", async (clock, options) => {
  return await openSqliteStore(await newPath(), { clock, files: ports.files, ...options });
});

testStore("sealed SQLite store", async (clock, options) => {
  const store = await openSqliteStore(await newPath(), { clock, files: ports.files, ...options });
  return guardStore(store, await createSeal({ key: KEY, random: ports.random }));
});

testStore("proved SQLite store", async (clock, options) => {
  const store = await openSqliteStore(await newPath(), { clock, files: ports.files, ...options });
  return guardStore(store, await createProof({ key: "secret" }));
});

const RUN = { runId: "1".repeat(32), machine: "m", holder: "h", leaseForMs: 60_000 };
const SUSPENSION = { handle: "2".repeat(32), at: "s", reason: "escalated", expiresMs: undefined };

Deno.test("openStore() makes the SQLite file private", async () => {
  const path = await newPath();
  const store = await openStore(`sqlite:${path}`, { ports });
  await store.begin({ ...RUN, payload: null });
  for await (const { name } of Deno.readDir(path.slice(0, path.lastIndexOf("/")))) {
    const { mode } = await Deno.stat(`${path.slice(0, path.lastIndexOf("/"))}/${name}`);
    assertEquals([name, ((mode ?? 0) & 0o077).toString(8)], [name, "0"]);
  }
  await store.close();
});

Deno.test("openStore() finds in SQLite what an earlier process left", async () => {
  const path = await newPath();
  const first = await openStore(`sqlite:${path}`, { ports });
  await first.begin({ ...RUN, payload: null });
  await first.suspend(RUN.runId, "h", { ...SUSPENSION, ask: "Sure?", payload: { kept: [1] } });
  await first.close();
  const second = await openStore(`sqlite:${path}`, { ports });
  const claim = await second.claim(SUSPENSION.handle, { holder: "x", leaseForMs: 1000 });
  assertEquals(claim.kind === "claimed" && claim.record.payload, { kept: [1] });
  await second.close();
});

Deno.test("openStore() lets two connections to one SQLite file race for a handle, and one wins", async () => {
  const path = await newPath();
  const stores = await Promise.all([1, 2, 3].map(() => openStore(`sqlite:${path}`, { ports })));
  const [first] = stores;
  await first?.begin({ ...RUN, payload: null });
  await first?.suspend(RUN.runId, "h", { ...SUSPENSION, ask: undefined, payload: null });
  const claims = await Promise.all(
    stores.map((store, index) =>
      store.claim(SUSPENSION.handle, { holder: `${index}`, leaseForMs: 1000 })
    ),
  );
  assertEquals(claims.filter(({ kind }) => kind === "claimed").length, 1);
  for (const store of stores) await store.close();
});

Deno.test("openStore() writes neither payload nor question in clear where a key is set", async () => {
  const path = await newPath();
  const store = await openStore(`sqlite:${path}`, { ports, key: KEY });
  await store.begin({ ...RUN, payload: { secret: "swordfish-1" } });
  await store.suspend(RUN.runId, "h", {
    ...SUSPENSION,
    ask: "swordfish-2",
    payload: { secret: "swordfish-3" },
  });
  assertEquals((await store.list())[0]?.ask, "swordfish-2");
  await store.close();
  for await (const { name } of Deno.readDir(path.slice(0, path.lastIndexOf("/")))) {
    const bytes = await Deno.readFile(`${path.slice(0, path.lastIndexOf("/"))}/${name}`);
    assert(!new TextDecoder("latin1").decode(bytes).includes("swordfish"));
  }
});

Deno.test("a sealed store refuses a record of another key, and leaves it for the right one", async () => {
  const path = await newPath();
  const right = await openStore(`sqlite:${path}`, { ports, key: KEY });
  await right.begin({ ...RUN, payload: null });
  await right.suspend(RUN.runId, "h", { ...SUSPENSION, ask: undefined, payload: { kept: 1 } });
  await right.close();
  const wrong = await openStore(`sqlite:${path}`, { ports, key: "ee".repeat(32) });
  const by = { holder: "x", leaseForMs: 60_000 };
  const error = await assertRejects(() => wrong.claim(SUSPENSION.handle, by), Error);
  assertStringIncludes(error.message, "another KIT_STORE_KEY");
  await wrong.close();
  const again = await openStore(`sqlite:${path}`, { ports, key: KEY });
  assertEquals((await again.claim(SUSPENSION.handle, by)).kind, "claimed");
  await again.close();
});

Deno.test("a sealed store refuses a payload that was moved to another run", async () => {
  const path = await newPath();
  const plain = await openStore(`sqlite:${path}`, { ports });
  const sealed = guardStore(plain, await createSeal({ key: KEY, random: ports.random }));
  await sealed.begin({ ...RUN, payload: { mine: 1 } });
  const stolen = (await plain.look(RUN.runId))?.payload ?? null;
  await plain.begin({ ...RUN, runId: "3".repeat(32), payload: stolen });
  await assertRejects(() => sealed.look("3".repeat(32)), Error, "was changed since");
  assertEquals((await sealed.look(RUN.runId))?.payload, { mine: 1 });
  await sealed.close();
});

/** Writes a payload past every guard, as somebody with the database would. */
async function edit(path: string, change: (payload: string) => JsonValue): Promise<void> {
  const { clock, files } = ports;
  const plain = await openSqliteStore(path, { clock, files });
  const kept = (await plain.look(RUN.runId))?.payload ?? null;
  const payload = change(JSON.stringify(kept));
  await plain.settle(RUN.runId, { holder: "h", leaseForMs: 60_000, payload, at: undefined });
  await plain.close();
}

const edited = (payload: string): JsonValue => JSON.parse(payload.replace("Some", "Evil"));
const signed = { proofKey: "secret" };
const readings: [
  what: string,
  writer: { key?: string; proofKey?: string },
  change: (payload: string) => JsonValue,
  reader: { key?: string; proofKey?: string },
  says: string | undefined,
][] = [
  ["its own record", {}, JSON.parse, {}, undefined],
  ["its own signed record", signed, JSON.parse, signed, undefined],
  ["a signed record where it has no key", signed, JSON.parse, {}, undefined],
  ["an edited record", {}, edited, {}, "was changed since"],
  ["an edited signed record", signed, edited, signed, "was changed since"],
  ["a record that was not signed", {}, JSON.parse, signed, "without this KIT_STATE_KEY"],
  ["a record of another key", { proofKey: "x" }, JSON.parse, signed, "without this KIT_STATE_KEY"],
  ["a sealed record without its key", { key: KEY }, JSON.parse, {}, "set the KIT_STORE_KEY"],
  ["an open record under a key", {}, JSON.parse, { key: KEY }, "stored without KIT_STORE_KEY"],
  ["a record that is not ours", {}, () => ({ frames: [] }), {}, "not what Kit stored"],
];
for (const [what, writer, change, reader, says] of readings) {
  Deno.test(`openStore() ${says === undefined ? "reads" : "refuses"} ${what}`, async () => {
    const path = await newPath();
    const first = await openStore(`sqlite:${path}`, { ports, ...writer });
    await first.begin({ ...RUN, payload: { text: "Some text" } });
    await first.close();
    await edit(path, change);
    const second = await openStore(`sqlite:${path}`, { ports, ...reader });
    if (says === undefined) {
      assertEquals((await second.look(RUN.runId))?.payload, { text: "Some text" });
    } else {
      await assertRejects(() => second.look(RUN.runId), UnreadableRecordError, says);
    }
    await second.close();
  });
}

Deno.test("a proved store refuses a payload that was moved to another run", async () => {
  const path = await newPath();
  const { clock, files } = ports;
  const plain = await openSqliteStore(path, { clock, files });
  const proved = guardStore(plain, await createProof({ key: "secret" }));
  await proved.begin({ ...RUN, payload: { mine: 1 } });
  const stolen = (await plain.look(RUN.runId))?.payload ?? null;
  await plain.begin({ ...RUN, runId: "3".repeat(32), payload: stolen });
  await assertRejects(() => proved.look("3".repeat(32)), UnreadableRecordError, "changed since");
  await proved.close();
});

Deno.test("a listing shows a run whose question cannot be read, and says why", async () => {
  const path = await newPath();
  const open = await openStore(`sqlite:${path}`, { ports });
  for (const [index, ask] of ["Sure?", undefined].entries()) {
    const runId = `${index}`.repeat(32);
    await open.begin({ ...RUN, runId, payload: null });
    await open.suspend(runId, "h", { ...SUSPENSION, handle: runId, ask, payload: null });
  }
  await open.close();
  const sealed = await openStore(`sqlite:${path}`, { ports, key: KEY });
  const listed = (await sealed.list()).map(({ ask, unreadable }) => [ask, unreadable]);
  assertEquals(listed.length, 2);
  assertEquals(listed.filter(([, why]) => why === undefined), [[undefined, undefined]]);
  assertStringIncludes(listed.map(([, why]) => why).join(), "stored without KIT_STORE_KEY");
  await sealed.close();
});

Deno.test("a record that is no JSON is refused, and keeps no other from being recovered", async () => {
  const path = await newPath();
  const clock = new ManualClock();
  const { files } = ports;
  const store = await openSqliteStore(path, { clock, files });
  await store.begin({ ...RUN, leaseForMs: 1, payload: { text: "x" } });
  await store.begin({ ...RUN, runId: "4".repeat(32), leaseForMs: 1, payload: 1 });
  using database = new DatabaseSync(path);
  database.exec(`UPDATE kit_runs SET payload = '{"broken' WHERE run_id = '${RUN.runId}'`);
  await assertRejects(() => store.look(RUN.runId), UnreadableRecordError, "not what Kit stored");
  await clock.advance(2);
  const handles = ["a", "b"];
  const newHandle = () => (handles.pop() ?? "").repeat(32);
  const recovered = await store.recover({ limit: 9, newHandle, reason: "interrupted" });
  assertEquals(recovered.map(({ runId }) => runId), ["4".repeat(32)]);
  await store.close();
});

Deno.test("openSqliteStore() tells a file that another program has locked from one that is none", async () => {
  const path = await newPath();
  const { files } = ports;
  await (await openSqliteStore(path, { clock: ports.clock, files })).close();
  using other = new DatabaseSync(path);
  other.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  // Each wait takes as long as waiting is allowed in all, so that there is one.
  const manual = new ManualClock();
  const clock = {
    ...ports.clock,
    monotonic: () => manual.monotonic(),
    sleep: () => manual.advance(10_000),
  };
  const opening = () => openSqliteStore(path, { clock, files });
  await assertRejects(opening, BusyStoreError, "as a store of runs");
});

const unusable: [what: string, location: string, key: string | undefined, says: string][] = [
  ["an address of no known kind", "redis://h", undefined, "Cannot open the store"],
  ["a folder that does not exist", "sqlite:/nowhere/x.db", undefined, "No such file"],
];
for (const [what, location, key, says] of unusable) {
  Deno.test(`openStore() refuses ${what}`, async () => {
    const options = key === undefined ? { ports } : { ports, key };
    const error = await assertRejects(() => openStore(location, options), Error);
    assertStringIncludes(error.message, says);
  });
}

Deno.test("openStore() refuses a key that is not 32 bytes, and makes no file", async () => {
  const path = await newPath();
  const opening = () => openStore(`sqlite:${path}`, { ports, key: "abcd" });
  await assertRejects(opening, RangeError, "32 bytes");
  await assertRejects(() => Deno.stat(path), Deno.errors.NotFound);
});

Deno.test("openStore() refuses a file that is no database, and does not change it", async () => {
  const path = await newPath();
  await Deno.writeTextFile(
    path,
    "notes of mine, longer than a header of a database would be\n".repeat(20),
  );
  await assertRejects(() => openStore(`sqlite:${path}`, { ports }), Error, "Cannot use");
  assertStringIncludes(await Deno.readTextFile(path), "notes of mine");
});

Deno.test("SQLite store tells a database that others keep locked from one that is broken", async () => {
  const clock = new ManualClock();
  // Each wait between two tries takes up all the time that there is, so that nothing is waited for.
  const sleep = (): Promise<void> => clock.advance(10_000);
  const hasty = new Proxy(clock, {
    get(target, key): unknown {
      const value: unknown = key === "sleep" ? sleep : Reflect.get(target, key);
      return typeof value === "function" && key !== "sleep" ? value.bind(target) : value;
    },
  });
  const path = await newPath();
  const store = await openSqliteStore(path, { clock: hasty, files: ports.files });
  using other = new DatabaseSync(path);
  other.exec("BEGIN EXCLUSIVE");
  await assertRejects(
    () => store.begin({ ...RUN, payload: null }),
    BusyStoreError,
    "the database was locked for 10 s",
  );
  other.exec("ROLLBACK");
  assertEquals((await store.begin({ ...RUN, payload: null })).kind, "stored");
  await store.close();
});

Deno.test("SQLite store sweeps on its own when a minute has passed", async () => {
  const clock = new ManualClock();
  const store = await openSqliteStore(await newPath(), { clock, files: ports.files });
  await store.begin({ ...RUN, payload: null });
  await store.finish(RUN.runId, "h", { reason: "done", outcome: 1, expiresMs: clock.now() + 5 });
  await clock.advance(60_000);
  await store.begin({ ...RUN, runId: "4".repeat(32), payload: null });
  assertEquals((await store.counts()).finished, 0);
  await store.close();
});
