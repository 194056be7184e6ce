import { assert, assertEquals, assertRejects } from "@std/assert";
import { createEnv, createFiles, createSystemInfo } from "../../../src/platform/mod.ts";
import { FileError, type FileFailure } from "../../../src/ports/mod.ts";

const files = createFiles();
const isPosix = Deno.build.os !== "windows";

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await work(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function failureOf(action: () => Promise<unknown>): Promise<FileFailure> {
  const error = await assertRejects(action, FileError);
  return error.failure;
}

Deno.test("writeAtomic() makes a file of mode 0600 that read() gives back, and leaves nothing else", async () => {
  await inDirectory(async (directory) => {
    const path = `${directory}/a`;
    await files.writeAtomic(path, "é");
    assertEquals(await files.readText(path), "é");
    assertEquals(await files.list(directory), [{ name: "a", kind: "file" }]);
    if (isPosix) assertEquals((await files.stat(path))?.mode, 0o600);
  });
});

Deno.test("writeAtomic() replaces a file whole", async () => {
  await inDirectory(async (directory) => {
    const path = `${directory}/a`;
    await files.writeAtomic(path, "a long content");
    await files.writeAtomic(path, "short");
    assertEquals(await files.readText(path), "short");
  });
});

Deno.test("writeAtomic() replaces a link, not what it leads to", async () => {
  if (!isPosix) return;
  await inDirectory(async (directory) => {
    await files.writeAtomic(`${directory}/target`, "kept");
    await Deno.symlink(`${directory}/target`, `${directory}/link`);
    await files.writeAtomic(`${directory}/link`, "new");
    assertEquals(await files.readText(`${directory}/target`), "kept");
    assertEquals((await files.lstat(`${directory}/link`))?.kind, "file");
  });
});

Deno.test("writeAtomic() with exclusive gives exactly one of ten writers the name", async () => {
  await inDirectory(async (directory) => {
    const path = `${directory}/a`;
    const outcomes = await Promise.allSettled(
      Array.from(
        { length: 10 },
        (_, at) => files.writeAtomic(path, String(at), { exclusive: true }),
      ),
    );
    const winners = outcomes.flatMap(({ status }, at) => status === "fulfilled" ? [at] : []);
    assertEquals(winners.length, 1);
    assertEquals(await files.readText(path), String(winners[0]));
    assertEquals((await files.list(directory)).length, 1);
  });
});

Deno.test("writeAtomic() into no directory fails with not-found and leaves nothing", async () => {
  await inDirectory(async (directory) => {
    assertEquals(await failureOf(() => files.writeAtomic(`${directory}/no/a`, "x")), "not-found");
    assertEquals(await files.list(directory), []);
  });
});

Deno.test("read() stops at its limit", async () => {
  await inDirectory(async (directory) => {
    const path = `${directory}/a`;
    await files.writeAtomic(path, "x".repeat(200_000));
    assertEquals((await files.read(path, { maxBytes: 10 })).length, 10);
    assertEquals((await files.read(path, { maxBytes: 70_000 })).length, 70_000);
    assertEquals((await files.read(path)).length, 200_000);
  });
});

Deno.test("readText() replaces what is not UTF-8 and strips a byte order mark", async () => {
  await inDirectory(async (directory) => {
    await files.writeAtomic(`${directory}/a`, new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff]));
    assertEquals(await files.readText(`${directory}/a`), "a\ufffd");
  });
});

Deno.test("list() sorts by name and tells links from what they lead to", async () => {
  if (!isPosix) return;
  await inDirectory(async (directory) => {
    await files.writeAtomic(`${directory}/b`, "");
    await files.makeDirectory(`${directory}/a/deep`);
    await Deno.symlink(`${directory}/a`, `${directory}/c`);
    assertEquals(await files.list(directory), [
      { name: "a", kind: "directory" },
      { name: "b", kind: "file" },
      { name: "c", kind: "link" },
    ]);
    assertEquals((await files.stat(`${directory}/c`))?.kind, "directory");
    assertEquals((await files.lstat(`${directory}/c`))?.kind, "link");
    assertEquals(await files.realPath(`${directory}/c`), await files.realPath(`${directory}/a`));
  });
});

Deno.test("stat() of nothing, and of something below a file, is undefined", async () => {
  await inDirectory(async (directory) => {
    await files.writeAtomic(`${directory}/a`, "");
    assertEquals(await files.stat(`${directory}/none`), undefined);
    assertEquals(await files.stat(`${directory}/a/b`), undefined);
  });
});

Deno.test("remove() of nothing is no error", async () => {
  await inDirectory(async (directory) => {
    await files.remove(`${directory}/none`);
  });
});

Deno.test("the failures of reading have names", async () => {
  await inDirectory(async (directory) => {
    assertEquals(await failureOf(() => files.read(`${directory}/none`)), "not-found");
    assertEquals(await failureOf(() => files.read(directory)), "not-a-file");
    await files.writeAtomic(`${directory}/a`, "");
    assertEquals(await failureOf(() => files.list(`${directory}/a`)), "not-a-directory");
    assertEquals(await failureOf(() => files.realPath(`${directory}/none`)), "not-found");
    if (Deno.build.os === "linux") {
      assertEquals(await failureOf(() => files.read("/dev/zero")), "not-a-file");
    }
  });
});

Deno.test("a variable is read at the moment of asking, an impossible one is not set", () => {
  const env = createEnv();
  Deno.env.set("KIT_TEST_VARIABLE", "a");
  assertEquals(env.get("KIT_TEST_VARIABLE"), "a");
  Deno.env.delete("KIT_TEST_VARIABLE");
  assertEquals(env.get("KIT_TEST_VARIABLE"), undefined);
  assertEquals(env.get(""), undefined);
  assertEquals(env.get("a=b"), undefined);
  assertEquals(env.get("a\0b"), undefined);
});

Deno.test("the home directory is what the environment says now", () => {
  const system = createSystemInfo();
  const name = isPosix ? "HOME" : "USERPROFILE";
  const before = Deno.env.get(name);
  try {
    Deno.env.set(name, "/somewhere");
    assertEquals(system.home, "/somewhere");
    Deno.env.set(name, "");
    assertEquals(system.home, undefined);
  } finally {
    if (before === undefined) Deno.env.delete(name);
    else Deno.env.set(name, before);
  }
  assert(system.os.length > 0);
});
