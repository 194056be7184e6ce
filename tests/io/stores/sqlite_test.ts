import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createPorts } from "../../../src/platform/mod.ts";
import { openStore } from "../../../src/stores/mod.ts";
import { openSqliteStore } from "../../../src/stores/sqlite.ts";
import { sealStore } from "../../../src/stores/sealed.ts";
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
  return await sealStore(store, { key: KEY, random: ports.random });
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
  const sealed = await sealStore(plain, { key: KEY, random: ports.random });
  await sealed.begin({ ...RUN, payload: { mine: 1 } });
  const stolen = (await plain.look(RUN.runId))?.payload ?? null;
  await plain.begin({ ...RUN, runId: "3".repeat(32), payload: stolen });
  await assertRejects(() => sealed.look("3".repeat(32)), Error, "was changed since");
  assertEquals((await sealed.look(RUN.runId))?.payload, { mine: 1 });
  await sealed.close();
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

Deno.test("openStore() refuses a key that is not 32 bytes", async () => {
  const location = `sqlite:${await newPath()}`;
  await assertRejects(() => openStore(location, { ports, key: "abcd" }), RangeError, "32 bytes");
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
