import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { MockProvider } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { PLAIN, rig, type RigOptions } from "./harness.ts";

function machine(name: string, result = "x"): string {
  return PLAIN.replace("machine: plain", `machine: ${name}`).replace(
    'task: ""',
    `task: "${result}"`,
  );
}

function caller(name: string, target: string): string {
  return `
machine: ${name}
entry: c
budget: 3
states:
  c: { call: ${target}, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
}

async function run(request: { path?: string; source?: string }, options: RigOptions) {
  const { host, log } = rig({ model: new MockProvider(["R"]), ...options });
  const emitted = await host.run(request);
  return { emitted, log, error: emitted.object["error"], text: emitted.text };
}

Deno.test("Host.run() runs a bundled machine by its name", async () => {
  const { emitted } = await run({ path: "std_cot" }, {});
  assertEquals([emitted.object["status"], emitted.object["result"]], ["done", "R"]);
});

Deno.test("Host.run() says what there is where there is no such machine", async () => {
  const { text } = await run({ path: "nope" }, {});
  assertStringIncludes(text, "no such file or bundled machine: 'nope' (bundled: [std_cascade, ");
});

Deno.test("Host.run() lets a file call its siblings, and inline source only bundled machines", async () => {
  const files = { "/project/a.mk": caller("a", "b"), "/project/b.mk": machine("b") };
  assertEquals((await run({ path: "a.mk" }, { files, door: "cli" })).error, null);
  const inline = await run({ source: caller("a", "b") }, { files, door: "cli" });
  assertStringIncludes(inline.text, "c: call -> unknown machine 'b'");
  assertEquals((await run({ source: caller("a", "std_cot") }, { files })).error, null);
});

Deno.test("Host.run() sees a project's root and its machines, which win", async () => {
  const files = {
    "/project/p/a.mk": caller("a", "b"),
    "/project/p/b.mk": "not: a machine",
    "/project/p/machines/b.mk": machine("b"),
    "/project/p/machines/deep/c.mk": machine("c"),
  };
  assertEquals((await run({ path: "p/a.mk" }, { files, door: "cli" })).error, null);
  const deep = { ...files, "/project/p/a.mk": caller("a", "c") };
  assertStringIncludes(
    (await run({ path: "p/a.mk" }, { files: deep, door: "cli" })).text,
    "unknown machine 'c'",
  );
});

Deno.test("Host.run() warns of machines beside its own that have the name of a bundled one", async () => {
  const own = (name: string, call: string): string => `
machine: ${name}
entry: a
budget: 4
context: { task: "" }
states:
  a: { ${call}, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
  const files = {
    "/project/main.mk": own("main", "call: std_cot, input: { task: x }"),
    "/project/machines/cot.mk": own("std_cot", "structure: s, prompt: p"),
    "/project/machines/vote.mk": own("my_vote", "structure: s, prompt: p"),
  };
  const { host } = rig({ door: "cli", files, model: new MockProvider(["x"]) });
  const { object } = await host.run({ path: "main.mk" });
  assertEquals(object["status"], "done");
  assertEquals(object["warnings"], ["machine 'std_cot' shadows the bundled stdlib machine"]);
});

Deno.test("Host.run() prefers .mkl over .mk of the same name and says so", async () => {
  const files = {
    "/project/a.mk": caller("a", "b"),
    "/project/b.mkl": machine("b", "from mkl"),
    "/project/b.mk": machine("b", "from mk"),
  };
  const model = new MockProvider(["R"]);
  const { host, log } = rig({ files, door: "cli", model });
  await host.run({ path: "a.mk" });
  assertStringIncludes(String(model.calls[0]?.messages.at(-1)?.content), "from mkl");
  assertStringIncludes(log.join("\n"), 'machine "b" is in');
});

Deno.test("Host.run() takes machines of the user by name", async () => {
  const files = { "/home/ann/.local/share/kit/machines/mine.mk": machine("mine") };
  const { host } = rig({ files, model: new MockProvider(["R"]) });
  assertEquals((await host.run({ path: "mine" })).object["status"], "done");
  const { object } = await host.listMachines();
  const sources = Array.of(object["machines"]).flat().map((one) =>
    Reflect.get(Object(one), "source")
  );
  assertEquals(sources.filter((source) => source === "user").length, 1);
});

Deno.test("Host.describeMachine(), unlike the reference, tells the true layer of a machine that shadows a bundled one", async () => {
  const files = { "/home/ann/.local/share/kit/machines/x.mk": machine("std_cot") };
  const { object } = await rig({ files }).host.describeMachine("std_cot");
  assertEquals(object["source"], "user");
});

const closed: readonly (readonly [string, RigOptions, string])[] = [
  ["outside of everything", {}, "/etc/m.mk"],
  ["in a current directory that is no project", {}, "m.mk"],
  ["beside the workspace", { workspace: "/project/w" }, "/project/m.mk"],
  ["out of the workspace by dots", { workspace: "/project/w" }, "w/../m.mk"],
  [
    "below a directory that only begins like the workspace",
    { workspace: "/project/w" },
    "/project/wx/m.mk",
  ],
];
for (const [what, options, path] of closed) {
  Deno.test(`Host.run() over MCP reads no machine ${what}`, async () => {
    const files = {
      "/etc/m.mk": PLAIN,
      "/project/m.mk": PLAIN,
      "/project/w/in.mk": PLAIN,
      "/project/wx/m.mk": PLAIN,
    };
    const { emitted, text } = await run({ path }, { files, ...options });
    assertEquals(emitted.object["error"], "prepare-failed");
    assertStringIncludes(text, "no such file or bundled machine");
    assertStringIncludes(text, "--workspace DIR");
    assertFalse(text.includes("plain"));
  });
}

const open: readonly (readonly [string, RigOptions, string])[] = [
  ["in the workspace", { workspace: "/project/w" }, "/project/w/in.mk"],
  ["in the workspace by a relative path", { workspace: "/project/w" }, "in.mk"],
  ["in KIT_FS_ROOT", { env: { KIT_FS_ROOT: "/project/w" } }, "/project/w/in.mk"],
  ["in a current directory that is a project", {}, "in.mk"],
  ["in a directory of machines", {}, "/home/ann/.local/share/kit/machines/mine.mk"],
];
for (const [what, options, path] of open) {
  Deno.test(`Host.run() over MCP reads a machine ${what}`, async () => {
    const files = {
      "/project/in.mk": PLAIN,
      "/project/w/in.mk": PLAIN,
      "/home/ann/.local/share/kit/machines/mine.mk": PLAIN,
      ...(what.includes("is a project") ? { "/project/machines/x.mk": machine("x") } : {}),
    };
    assertEquals((await run({ path }, { files, ...options })).error, null);
  });
}

Deno.test("Host.run() over MCP tells nothing of files that it may not read", async () => {
  const files = { "/etc/shadow": "root:secret" };
  const there = (await run({ path: "/etc/shadow" }, { files })).text;
  const absent = (await run({ path: "/etc/shadoz" }, { files })).text;
  assertEquals(there, absent.replaceAll("shadoz", "shadow"));
});

Deno.test("Host.run() refuses a source that is too large before it reads it", async () => {
  const { emitted } = await run({ source: "x".repeat(101) }, { limits: { maxSourceChars: 100 } });
  assertEquals(emitted.object["error"], "invalid-request");
});

Deno.test("Host.run() leaves a broken sibling out and logs it", async () => {
  const files = {
    "/project/a.mk": caller("calls", "plain"),
    "/project/plain.mk": PLAIN,
    "/project/broken.mk": "a: [",
    "/project/list.mk": "- 1",
  };
  const { error, log } = await run({ path: "a.mk" }, { files, door: "cli" });
  assertEquals(error, null);
  assert(
    log.some((line) => line.includes("broken.mk")) && log.some((line) => line.includes("list.mk")),
  );
});

Deno.test("Host.check() reads what lies beside a machine only if it calls others", async () => {
  class Watched extends MemoryFiles {
    readonly reads: string[] = [];
    override read(path: string): Promise<Uint8Array<ArrayBuffer>> {
      this.reads.push(path);
      return super.read(path);
    }
  }
  const texts = {
    "/project/a.mk": machine("a"),
    "/project/b.mk": caller("b", "c"),
    "/project/c.mk": machine("c"),
  };
  const alone = new Watched(texts);
  await rig({ files: alone, door: "cli" }).host.check({ path: "a.mk" });
  assertFalse(alone.reads.includes("/project/c.mk"));
  const calling = new Watched(texts);
  await rig({ files: calling, door: "cli" }).host.check({ path: "b.mk" });
  assert(calling.reads.includes("/project/c.mk"));
});

Deno.test("Host.check() of a directory names the files in it, at the command line alone", async () => {
  const files = { "/project/m/a.mk": PLAIN, "/project/m/b.mk": PLAIN, "/project/e/x.txt": "" };
  const { host } = rig({ files, door: "cli" });
  const said = async (path: string): Promise<unknown> =>
    (await host.check({ path })).object["errors"];
  assertEquals(await said("m"), ["'m' is a directory: name the files in it: m/a.mk m/b.mk"]);
  assertEquals(await said("e"), ["'e' is a directory: name a file; no *.mk lies in it"]);
  const remote = rig({ files, door: "mcp" }).host;
  assertStringIncludes(
    String((await remote.check({ path: "m" })).object["errors"]),
    "no such file or bundled machine: 'm'",
  );
});

Deno.test("Host.check(), unlike the reference, finds by name as well as by path, and needs no provider", async () => {
  const { host } = rig({ files: { "/project/a.mk": PLAIN }, door: "cli" });
  assert((await host.check({ path: "std_refine" })).object["ok"]);
  const checked = await host.check({ path: "a.mk" });
  assert(checked.object["ok"]);
  assertEquals(checked.machine?.name, "plain");
  const missing = await host.check({ path: "zz.mk" });
  assertFalse(missing.object["ok"]);
  assertEquals(missing.failure, "load");
});
