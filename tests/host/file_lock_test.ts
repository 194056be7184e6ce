import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { joinLocks, lockFile } from "../../src/host/runs/file_lock.ts";
import { ManualClock } from "../../src/testing/mod.ts";
import { FileError } from "../../src/ports/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";

const NOW = 1_000_000;
const LOCK = "/project/c.json.lock";
const DEAD = JSON.stringify({ holder: "dead", until: 5 });

function scene(files: MemoryFiles) {
  const ports = { files, clock: new ManualClock({ now: NOW }) };
  return { ports, lock: (holder: string) => lockFile("/project/c.json", holder, ports) };
}

Deno.test("lockFile() succeeds a holder that died, and one that died in the middle of succeeding it", async () => {
  const turn = JSON.stringify({ holder: "dead too", until: NOW - 1 });
  const files = new MemoryFiles({ [LOCK]: DEAD, [`${LOCK}.5`]: turn });
  assert(await scene(files).lock("a") !== undefined);
  assertEquals([...files.texts.keys()], [LOCK]);
});

Deno.test("lockFile() names the file that was asked for where no hold can be made", async () => {
  const files = new MemoryFiles();
  const ports = { files, clock: new ManualClock({ now: NOW }) };
  const error = await assertRejects(() => lockFile("/gone/c.json", "a", ports), FileError);
  assertEquals([error.failure, error.path], ["not-found", "/gone/c.json"]);
});

Deno.test("lockFile() leaves a successor alone that lives", async () => {
  const turn = JSON.stringify({ holder: "alive", until: NOW + 1 });
  const files = new MemoryFiles({ [LOCK]: DEAD, [`${LOCK}.5`]: turn });
  assertEquals(await scene(files).lock("a"), undefined);
  assertEquals(files.text(LOCK), DEAD);
});

Deno.test("lockFile() gives no hold to one who read of the dead before another succeeded them", async () => {
  class SlowReader extends MemoryFiles {
    hold: Promise<void> | undefined;
    override async readText(path: string): Promise<string> {
      const text = await super.readText(path);
      const { hold } = this;
      this.hold = undefined;
      await hold;
      return text;
    }
  }
  const files = new SlowReader({ [LOCK]: DEAD });
  const { lock } = scene(files);
  const freed = Promise.withResolvers<void>();
  files.hold = freed.promise;
  const late = lock("late");
  await Promise.resolve();
  while (files.hold !== undefined) await Promise.resolve();
  const first = await lock("first");
  const written = files.text(LOCK);
  freed.resolve();
  assert(first !== undefined);
  assertEquals(await late, undefined);
  assertEquals([...files.texts], [[LOCK, written]]);
});

Deno.test("FileLock neither renews nor removes a hold that is another's by now", async () => {
  const files = new MemoryFiles();
  const { lock, ports } = scene(files);
  const asleep = await lock("asleep");
  await ports.clock.advance(40_000);
  const next = await lock("next");
  const written = files.text(LOCK);
  assertFalse(await asleep?.renew());
  await asleep?.release();
  assertEquals(files.text(LOCK), written);
  assert(await next?.renew());
  await next?.release();
  assertEquals([...files.texts], []);
});

Deno.test("FileLock renews as often as it is asked to at once", async () => {
  const { lock } = scene(new MemoryFiles());
  const held = await lock("a");
  const renewed = await Promise.all([held?.renew(), held?.renew(), held?.renew()]);
  assertEquals(renewed.filter((done) => done === true).length, 3);
});

Deno.test("joinLocks() lets go of every hold though one of them cannot be let go, and says so", async () => {
  class Stuck extends MemoryFiles {
    override remove(path: string): Promise<void> {
      const stuck = path === "/project/a.json.lock";
      return stuck ? Promise.reject(new FileError("permission", path)) : super.remove(path);
    }
  }
  const files = new Stuck();
  const { ports } = scene(files);
  const taken = [
    await lockFile("/project/a.json", "a", ports),
    await lockFile("/project/b.json", "a", ports),
  ];
  const joined = joinLocks(taken.filter((lock) => lock !== undefined));
  const error = await assertRejects(() => joined.release(), FileError);
  assertEquals([error.failure, ...files.texts.keys()], ["permission", "/project/a.json.lock"]);
});
