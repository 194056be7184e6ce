import { assert, assertEquals, assertRejects } from "@std/assert";
import { createPorts } from "../../../src/platform/mod.ts";
import { openStore } from "../../../src/stores/mod.ts";
import { openPostgresStore } from "../../../src/stores/postgres.ts";
import type { ManualClock } from "../../../src/testing/mod.ts";
import { testStore } from "../../contracts/store.ts";

/** Set by `scripts/postgres.ts`; without it the tests count as ignored. */
const server = Deno.env.get("KIT_TEST_POSTGRES");
const ignore = server === undefined;
const ports = createPorts();

async function newDatabase(): Promise<string> {
  const { default: postgres } = await import("postgres");
  const name = `kit_${crypto.randomUUID().replaceAll("-", "")}`;
  const sql = postgres(server ?? "", { max: 1 });
  await sql.unsafe(`CREATE DATABASE ${name}`);
  await sql.end();
  return new URL(name, server).href;
}

async function create(clock: ManualClock, options: { readonly maxRuns?: number } = {}) {
  return await openPostgresStore(await newDatabase(), { clock, datedBy: "clock", ...options });
}

testStore("PostgreSQL store", create, { ignore });

const RUN = { runId: "1".repeat(32), machine: "m", holder: "h", leaseForMs: 60_000 };
const SUSPENSION = { handle: "2".repeat(32), at: "s", reason: "escalated", expiresMs: undefined };

Deno.test({
  name: "openStore() lets hosts that start at once make the tables of PostgreSQL together",
  ignore,
  fn: async () => {
    const url = await newDatabase();
    const stores = await Promise.all([1, 2, 3, 4].map(() => openStore(url, { ports })));
    const [first] = stores;
    await first?.begin({ ...RUN, payload: null });
    await first?.suspend(RUN.runId, "h", { ...SUSPENSION, ask: undefined, payload: { kept: 1 } });
    const claims = await Promise.all(
      stores.map((store, index) =>
        store.claim(SUSPENSION.handle, { holder: `${index}`, leaseForMs: 1000 })
      ),
    );
    assertEquals(claims.filter(({ kind }) => kind === "claimed").length, 1);
    for (const store of stores) await store.close();
  },
});

Deno.test("openStore() says where PostgreSQL was not reached, without the password", async () => {
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = closed.addr;
  closed.close();
  const error = await assertRejects(
    () => openStore(`postgres://kit:swordfish@127.0.0.1:${port}/runs`, { ports }),
    Error,
    `"127.0.0.1:${port}/runs"`,
  );
  assert(!Deno.inspect(error).includes("swordfish"));
});
