import { assert, assertEquals, assertFalse } from "@std/assert";
import { MachineScanner } from "../../src/host/registry/scan.ts";
import { loadReader } from "../../src/machine/mod.ts";
import type { DirectoryEntry } from "../../src/ports/mod.ts";
import { ManualClock, MockProvider } from "../../src/testing/mod.ts";
import { MemoryFiles } from "../cli/memory_files.ts";
import { PLAIN, rig } from "./harness.ts";

/** Counts what is listed and read, and can hold a listing back. */
class WatchedFiles extends MemoryFiles {
  readonly listed: string[] = [];
  readonly readTexts: string[] = [];
  hold: Promise<void> | undefined;

  override async list(path: string): Promise<readonly DirectoryEntry[]> {
    this.listed.push(path);
    const entries = await super.list(path);
    await this.hold;
    return entries;
  }

  override readText(path: string): Promise<string> {
    this.readTexts.push(path);
    return super.readText(path);
  }
}

function named(name: string): string {
  return PLAIN.replace("machine: plain", `machine: ${name}`);
}

function scannerOf(files: MemoryFiles) {
  const log: string[] = [];
  // A day after the files, whose time is 0, so that they count as settled.
  const clock = new ManualClock({ now: 86_400_000 });
  const ports = { files, clock, log: { write: (_: string, said: string) => void log.push(said) } };
  return { log, scanner: new MachineScanner({ ports, loadReader }) };
}

Deno.test("MachineScanner looks at a directory twice for many who ask at once, and reads a file once a look", async () => {
  const files = new WatchedFiles({ "/project/a.mk": named("a") });
  const clock = new ManualClock({ now: 0 });
  const ports = { files, clock, log: { write: () => {} } };
  const scanner = new MachineScanner({ ports, loadReader });
  const scans = Array.from({ length: 64 }, () => scanner.scan("/project", "local"));
  const names = (await Promise.all(scans)).map((found) => [...found.keys()].join());
  assertEquals(new Set(names), new Set(["a"]));
  assertEquals(files.listed, ["/project", "/project"]);
  assertEquals(files.readTexts.length, 2);
});

Deno.test("Host.run() of many runs at once looks at their directory a few times, not once a run", async () => {
  const files = new WatchedFiles({ "/project/a.mk": PLAIN, "/project/b.mk": named("b") });
  const model = new MockProvider(Array.from({ length: 64 }, () => "R"));
  const { host } = rig({ files, door: "cli", model });
  const all = await Promise.all(Array.from({ length: 64 }, () => host.run({ path: "a.mk" })));
  assertEquals(new Set(all.map(({ object }) => object["status"])), new Set(["done"]));
  const looks = files.listed.filter((path) => path === "/project").length;
  assert(looks < 8, `${looks} looks`);
});

Deno.test("MachineScanner shows a call what was written before it, though a look was under way", async () => {
  const files = new WatchedFiles({ "/project/a.mk": named("a") });
  const { scanner } = scannerOf(files);
  const held = Promise.withResolvers<void>();
  files.hold = held.promise;
  const before = scanner.scan("/project", "local");
  while (files.listed.length === 0) await Promise.resolve();
  files.put("/project/b.mk", named("b"));
  const after = scanner.scan("/project", "local");
  held.resolve();
  assertEquals([...(await before).keys()], ["a"]);
  assertEquals([...(await after).keys()], ["a", "b"]);
});

Deno.test("MachineScanner reads a settled file once, and again when it was edited", async () => {
  const files = new WatchedFiles({ "/project/a.mk": named("a") });
  const { scanner } = scannerOf(files);
  await scanner.scan("/project", "local");
  await scanner.scan("/project", "local");
  assertEquals(files.readTexts.length, 1);
  files.put("/project/a.mk", named("renamed"));
  assertEquals([...(await scanner.scan("/project", "local")).keys()], ["renamed"]);
});

Deno.test("MachineScanner trusts no size and time of a file that was written a moment ago", async () => {
  const files = new WatchedFiles({ "/project/a.mk": named("one") });
  const clock = new ManualClock({ now: 1000 });
  const ports = { files, clock, log: { write: () => {} } };
  const scanner = new MachineScanner({ ports, loadReader });
  assertEquals([...(await scanner.scan("/project", "local")).keys()], ["one"]);
  files.put("/project/a.mk", named("two"));
  assertEquals([...(await scanner.scan("/project", "local")).keys()], ["two"]);
});

Deno.test("MachineScanner neither reads the file that is run nor says that it cannot be read", async () => {
  const files = new WatchedFiles({ "/project/own.mk": "a: [", "/project/b.mk": "b: [" });
  const { log, scanner } = scannerOf(files);
  const own = { path: "/project/own.mk", name: undefined };
  await scanner.scan("/project", "local", own);
  await scanner.scan("/project", "local", own);
  assertEquals(log, ['"/project/b.mk" holds no machine that can be read']);
  assertEquals(files.readTexts, ["/project/b.mk"]);
});

Deno.test("Host.check() of a broken file does not log the file as a broken sibling", async () => {
  const { host, log } = rig({ files: { "/project/own.mk": "a: [" }, door: "cli" });
  assertFalse((await host.check({ path: "own.mk" })).object["ok"]);
  assertEquals(log, []);
});

Deno.test("MachineScanner says once that a name is taken twice, whichever file is run, and what to do", async () => {
  const files = new MemoryFiles({ "/project/a.mk": named("n"), "/project/b.mk": named("n") });
  const { log, scanner } = scannerOf(files);
  for (const [file, name] of [["a", "n"], ["b", "n"], ["c", "c"], ["a", "n"]]) {
    await scanner.scan("/project", "local", { path: `/project/${file}.mk`, name });
  }
  assertEquals(log, [
    'machine "n" is in "/project/a.mk" and in "/project/b.mk": a call finds the latter, unless the former is what ' +
    "runs; give one of them another name",
  ]);
});
