import { assertEquals, assertNotEquals } from "@std/assert";
import { loadStateKey, stateDirectory } from "../../src/mcp/mod.ts";
import { FileError, type Files } from "../../src/ports/mod.ts";
import { SeededRandom } from "../../src/testing/mod.ts";

type Used = Pick<Files, "read" | "makeDirectory" | "writeAtomic">;

/** Files in memory; `onWrite` runs before each write. */
function memoryFiles(onWrite: (known: Map<string, Uint8Array<ArrayBuffer>>) => void = () => {}) {
  const known = new Map<string, Uint8Array<ArrayBuffer>>();
  const modes: (number | undefined)[] = [];
  const files: Used = {
    read: (path) => {
      const bytes = known.get(path);
      return bytes === undefined
        ? Promise.reject(new FileError("not-found", path))
        : Promise.resolve(bytes);
    },
    makeDirectory: () => Promise.resolve(),
    writeAtomic: (path, content, options) => {
      onWrite(known);
      if (known.has(path)) return Promise.reject(new FileError("exists", path));
      modes.push(options?.mode);
      known.set(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
      return Promise.resolve();
    },
  };
  return { files, known, modes };
}

function ports(files: Used, seed = 1) {
  const notes: string[] = [];
  const missing = (): Promise<never> => Promise.reject(new Error("not used"));
  return {
    notes,
    random: new SeededRandom(seed),
    log: { write: (_level: string, message: string) => notes.push(message) },
    files: {
      readText: missing,
      remove: missing,
      list: missing,
      stat: missing,
      lstat: missing,
      realPath: missing,
      currentDirectory: missing,
      ...files,
    },
  };
}

Deno.test("loadStateKey() makes the same key of the same secret, and touches no file", async () => {
  const { files, known } = memoryFiles();
  const options = { secret: "s", directory: "/state" };
  const key = await loadStateKey(ports(files, 1), options);
  assertEquals(key.length, 32);
  assertEquals(await loadStateKey(ports(files, 2), options), key);
  assertNotEquals(await loadStateKey(ports(files), { ...options, secret: "t" }), key);
  assertEquals(known.size, 0);
});

Deno.test("loadStateKey() keeps a key for the next process in a file of mode 0600", async () => {
  const { files, known, modes } = memoryFiles();
  const options = { secret: undefined, directory: "/state" };
  const key = await loadStateKey(ports(files, 1), options);
  assertEquals([...known.keys()], ["/state/request-state.key"]);
  assertEquals(modes, [0o600]);
  assertEquals(await loadStateKey(ports(files, 2), options), key);
});

Deno.test("loadStateKey() takes the key of a process that was faster", async () => {
  const theirs = new Uint8Array(32).fill(9);
  const { files } = memoryFiles((known) => known.set("/state/request-state.key", theirs));
  assertEquals(
    await loadStateKey(ports(files), { secret: undefined, directory: "/state" }),
    theirs,
  );
});

const failing: Used = {
  ...memoryFiles().files,
  makeDirectory: (path) => Promise.reject(new FileError("permission", path)),
};

Deno.test("loadStateKey() makes a key for this process where no file can be written, with a note", async () => {
  const given = ports(failing);
  const key = await loadStateKey(given, { secret: undefined, directory: "/state" });
  assertEquals(key.length, 32);
  assertEquals(given.notes.length, 1);
});

Deno.test("loadStateKey() makes a key for this process where there is no directory, without a note", async () => {
  const given = ports(failing);
  await loadStateKey(given, { secret: undefined, directory: undefined });
  assertEquals(given.notes, []);
});

const directories: [
  variables: Record<string, string>,
  os: string,
  home: string | undefined,
  expected: string | undefined,
][] = [
  [{ KIT_STATE_DIR: "/own", XDG_STATE_HOME: "/x" }, "linux", "/home/a", "/own"],
  [{ XDG_STATE_HOME: "/x" }, "linux", "/home/a", "/x/kit"],
  [{}, "linux", "/home/a", "/home/a/.local/state/kit"],
  [{ APPDATA: "C:/Data" }, "windows", "C:/a", "C:/Data/kit"],
  [{}, "linux", undefined, undefined],
];
for (const [variables, os, home, expected] of directories) {
  Deno.test(`stateDirectory() with ${JSON.stringify(variables)} is ${expected}`, () => {
    const env = { get: (name: string) => variables[name] };
    assertEquals(stateDirectory({ env, system: { os, home } }), expected);
  });
}
