import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { fileTools } from "../../../src/host/tools/files.ts";
import { openWorkspace, type Workspace } from "../../../src/host/workspace.ts";
import type { JsonObject } from "../../../src/json/mod.ts";
import { createPorts } from "../../../src/platform/mod.ts";

const ports = createPorts();
const CALL = { signal: new AbortController().signal, machine: "m", state: "s", path: "s" };

interface Scene {
  /** The workspace's directory. */
  readonly root: string;
  /** A directory beside it. */
  readonly outside: string;
  /** Calls a tool and reads its observation. */
  call(tool: string, input: JsonObject): Promise<JsonObject>;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(directory)) names.push(name);
  return names;
}

function withScene(
  name: string,
  steps: (scene: Scene) => Promise<void>,
  { allowWrite = true } = {},
): void {
  Deno.test(name, async () => {
    const base = await Deno.realPath(await Deno.makeTempDir());
    const [root, outside] = [`${base}/in`, `${base}/out`];
    await Deno.mkdir(root);
    await Deno.mkdir(outside);
    await Deno.writeTextFile(`${outside}/secret.txt`, "secret");
    const opened = await openWorkspace(root, ports);
    const tools = fileTools({
      workspace: () => Promise.resolve<Workspace | string>(opened),
      allowWrite,
      files: ports.files,
    });
    try {
      await steps({
        root,
        outside,
        call: async (tool, input) =>
          JSON.parse(await tools.get(tool)?.run(input, CALL) ?? "{}") as JsonObject,
      });
    } finally {
      await Deno.remove(base, { recursive: true });
    }
  });
}

withScene("write_file, read_file and list_files work on one workspace", async ({ root, call }) => {
  const written = await call("write_file", { path: "a/b/n.md", content: "héllo" });
  assertEquals(written, {
    tool: "write_file",
    stub: false,
    error: null,
    status: "ok",
    retryable: false,
    untrusted: true,
    path: "a/b/n.md",
    bytes: 6,
    written: true,
    existed: false,
  });
  assertEquals(((await Deno.stat(`${root}/a/b/n.md`)).mode ?? 0) & 0o777, 0o600);
  const read = await call("read_file", { path: "a\\b\\n.md" });
  assertEquals([read["content"], read["bytes"], read["truncated"]], ["héllo", 6, false]);
  await Deno.writeTextFile(`${root}/.hidden`, "x");
  const listed = await call("list_files", {});
  assertEquals(listed["entries"], [{ name: "a", kind: "dir" }]);
  assertEquals((await call("list_files", { path: "a/b" }))["entries"], [
    { name: "n.md", kind: "file", bytes: 6 },
  ]);
});

const escapes: readonly (readonly [string, string])[] = [
  ["an absolute path", "/etc/passwd"],
  ["a drive", "C:/Windows/win.ini"],
  ["a drive with backslashes", "C:\\x.txt"],
  ["a way up", "../out/secret.txt"],
  ["a way up in the middle", "a/../../out/secret.txt"],
  ["a way up with backslashes", "..\\out\\secret.txt"],
  ["a hidden name", ".env"],
  ["a hidden directory", ".git/config.txt"],
  ["a hidden name below", "a/.ssh/id.txt"],
  ["a control character", "a\u0000.txt"],
  ["a line feed", "a\n.txt"],
  ["a long path", `${"a/".repeat(600)}x.txt`],
  ["a deep path", `${"a/".repeat(40)}x.txt`],
  ["a link to a file outside", "link.txt"],
  ["a link to a directory outside", "away/secret.txt"],
  ["a link to a link outside", "twice.txt"],
  ["a link that leads nowhere", "dangling.txt"],
];
for (const [what, path] of escapes) {
  withScene(`file tools refuse ${what}`, async ({ root, outside, call }) => {
    await Deno.symlink(`${outside}/secret.txt`, `${root}/link.txt`);
    await Deno.symlink(outside, `${root}/away`);
    await Deno.symlink(`${root}/link.txt`, `${root}/twice.txt`);
    await Deno.symlink(`${outside}/none.txt`, `${root}/dangling.txt`);
    for (
      const [tool, input] of [
        ["read_file", { path }],
        ["write_file", { path, content: "gone", overwrite: true }],
        ["list_files", { path }],
      ] as const
    ) {
      const seen = await call(tool, input);
      assertEquals(seen["status"], "error", `${tool} ${JSON.stringify(seen)}`);
      assertFalse(JSON.stringify(seen).includes('secret"'), JSON.stringify(seen));
      assertFalse(String(seen["error"]).includes(outside), String(seen["error"]));
    }
    assertEquals(await Deno.readTextFile(`${outside}/secret.txt`), "secret");
    assertEquals(await namesIn(outside), ["secret.txt"]);
  });
}

withScene("list_files leaves out links that leave and counts the rest", async (scene) => {
  const { root, outside, call } = scene;
  for (let i = 0; i < 205; i++) {
    await Deno.writeTextFile(`${root}/f${`${i}`.padStart(3, "0")}.txt`, "");
  }
  await Deno.symlink(outside, `${root}/away`);
  await Deno.symlink(`${root}/f000.txt`, `${root}/near.txt`);
  const listed = await call("list_files", { path: "" });
  assertEquals([listed["count"], listed["truncated"]], [206, true]);
  const entries = listed["entries"];
  assertEquals(Array.isArray(entries) && entries.length, 200);
  assertFalse(JSON.stringify(entries).includes("away"));
});

withScene("read_file cuts at max_bytes and never in the middle of a character", async (scene) => {
  const { root, call } = scene;
  await Deno.writeTextFile(`${root}/e.txt`, "aé€😀");
  for (
    const [max, content] of [[1, "a"], [2, "a"], [3, "aé"], [5, "aé"], [6, "aé€"], [9, "aé€"], [
      10,
      "aé€😀",
    ]]
  ) {
    const seen = await call("read_file", { path: "e.txt", max_bytes: max ?? 0 });
    assertEquals([seen["content"], seen["bytes"]], [content ?? "", 10]);
  }
  assertEquals((await call("read_file", { path: "e.txt", max_bytes: "many" }))["status"], "error");
  assertEquals((await call("read_file", { path: "e.txt", max_bytes: 0 }))["content"], "a");
});

const refusals: readonly (readonly [string, JsonObject, string])[] = [
  ["missing content", { path: "a.md" }, "missing content"],
  ["a suffix that is not allowed", { path: "a.sh", content: "x" }, 'suffix ".sh" is not allowed'],
  ["a machine", { path: "a.mk", content: "x" }, 'suffix ".mk" is not allowed'],
  ["no suffix", { path: "Makefile", content: "x" }, 'suffix "" is not allowed'],
  ["too much", { path: "a.md", content: "x".repeat(262_145) }, "content is over 262144 bytes"],
  ["a file that exists", { path: "old.md", content: "x" }, "exists: pass overwrite"],
  ["a directory", { path: "d.md", content: "x", overwrite: true }, "not a file"],
  ["an empty path", { path: " ", content: "x" }, "empty path"],
  ["a file in the place of a directory", { path: "old.md/x.md", content: "x" }, ""],
];
for (const [what, input, text] of refusals) {
  withScene(`write_file refuses ${what}`, async ({ root, call }) => {
    await Deno.writeTextFile(`${root}/old.md`, "old");
    await Deno.mkdir(`${root}/d.md`);
    const seen = await call("write_file", input);
    assertEquals([seen["status"], seen["written"]], ["error", false], JSON.stringify(seen));
    assertStringIncludes(String(seen["error"]), text);
    assertEquals(await Deno.readTextFile(`${root}/old.md`), "old");
  });
}

withScene(
  "write_file overwrites when told to, in every spelling of yes",
  async ({ root, call }) => {
    for (const yes of [true, "1", "true", "YES", " on "]) {
      await Deno.writeTextFile(`${root}/o.md`, "old");
      const seen = await call("write_file", { path: "o.md", content: "new", overwrite: yes });
      assertEquals([seen["written"], seen["existed"]], [true, true]);
      assertEquals(await Deno.readTextFile(`${root}/o.md`), "new");
    }
  },
);

withScene(
  "write_file through a link inside writes its target and keeps the link",
  async (scene) => {
    const { root, call } = scene;
    await Deno.writeTextFile(`${root}/real.md`, "old");
    await Deno.symlink(`${root}/real.md`, `${root}/alias.md`);
    await call("write_file", { path: "alias.md", content: "new", overwrite: true });
    assertEquals(await Deno.readTextFile(`${root}/real.md`), "new");
    assert((await Deno.lstat(`${root}/alias.md`)).isSymlink);
  },
);

withScene(
  "write_file refuses to write a machine through a link with an innocent name",
  async (scene) => {
    const { root, call } = scene;
    await Deno.writeTextFile(`${root}/m.mk`, "old");
    await Deno.symlink(`${root}/m.mk`, `${root}/n.md`);
    const seen = await call("write_file", { path: "n.md", content: "new", overwrite: true });
    assertStringIncludes(String(seen["error"]), 'suffix ".mk" is not allowed');
    assertEquals(await Deno.readTextFile(`${root}/m.mk`), "old");
  },
);

withScene("write_file lets one of many writers create a file", async ({ call }) => {
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, i) => call("write_file", { path: "one.md", content: `${i}` })),
  );
  assertEquals(all.filter((seen) => seen["written"] === true).length, 1);
});

withScene("write_file needs a grant, and says which", async ({ call }) => {
  const seen = await call("write_file", { path: "a.md", content: "x" });
  assertMatch(String(seen["error"]), /--allow-write/);
  assertEquals((await call("write_file", { path: "a.md" }))["error"], "missing content");
}, { allowWrite: false });

withScene("file tools keep inside while links are swapped under them", async (scene) => {
  const { root, outside, call } = scene;
  await Deno.mkdir(`${root}/home`);
  await Deno.writeTextFile(`${root}/home/secret.txt`, "harmless");
  await Deno.symlink(`${root}/home`, `${root}/d`);
  let swapping = true;
  const swapper = (async () => {
    for (let i = 0; swapping; i++) {
      await Deno.symlink(i % 2 === 0 ? outside : `${root}/home`, `${root}/next`);
      await Deno.rename(`${root}/next`, `${root}/d`);
    }
  })();
  let harmless = 0;
  for (let i = 0; i < 300; i++) {
    const seen = await call("read_file", { path: "d/secret.txt" });
    assertFalse(seen["content"] === "secret", `read ${i}`);
    if (seen["content"] === "harmless") harmless++;
    await call("write_file", { path: "d/w.txt", content: "x", overwrite: true });
  }
  swapping = false;
  await swapper;
  assert(harmless > 0);
  assertEquals(await namesIn(outside), ["secret.txt"]);
});
