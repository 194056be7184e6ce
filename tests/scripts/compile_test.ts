import { assert, assertEquals, assertThrows } from "@std/assert";
import { compileArguments, lazyModules, TARGETS } from "../../scripts/compile.ts";
import { baseOf } from "../../scripts/denort.ts";

Deno.test("compileArguments() bakes in net, env, read and write, and refuses run and ffi", () => {
  const args = compileArguments("out", { version: "2.9.6", include: [] });
  assertEquals(args.filter((arg) => /^--(allow|deny|no-prompt)/.test(arg)), [
    "--allow-net",
    "--allow-env",
    "--allow-read",
    "--allow-write",
    "--deny-run",
    "--deny-ffi",
    "--no-prompt",
  ]);
});

for (
  const [version, needed] of [["2.7.11", true], ["2.8.0", false], ["2.10.0", false], [
    "3.0.0",
    false,
  ]] as const
) {
  Deno.test(`compileArguments() for Deno ${version} ${needed ? "has" : "lacks"} the flag for text imports`, () => {
    const args = compileArguments("out", { version, include: [] });
    assertEquals(args.includes("--unstable-raw-imports"), needed);
  });
}

Deno.test("compileArguments() includes what lazyModules() finds, the command line among it", async () => {
  const include = await lazyModules(new URL("../../", import.meta.url));
  assert(include.includes("src/cli/mod.ts"));
  const args = compileArguments("out", { version: "2.9.6", include });
  assertEquals(args.filter((_, index) => args[index - 1] === "--include"), include);
});

Deno.test("TARGETS names five systems, each with an archive of its own", () => {
  assertEquals(TARGETS.map(({ triple }) => triple), [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
  ]);
  assertEquals(new Set(TARGETS.map(({ archive }) => archive)).size, 5);
});

function elf(sections: number, extra: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(64 + sections * 64 + extra);
  const view = new DataView(bytes.buffer);
  const little = true;
  view.setUint32(0, 0x7f454c46);
  view.setUint8(4, 2);
  view.setBigUint64(0x28, 64n, little);
  view.setUint16(0x3a, 64, little);
  view.setUint16(0x3c, sections, little);
  return bytes;
}

Deno.test("baseOf() cuts a program off at the end of its section table", () => {
  assertEquals(baseOf(elf(3, 500)).length, 64 + 3 * 64);
});

Deno.test("baseOf() refuses a program without data after its sections", () => {
  assertEquals(
    assertThrows(() => baseOf(elf(3, 0)), TypeError).message,
    "no data after the sections: not a compiled program",
  );
});

for (const bytes of [new Uint8Array(10), new Uint8Array(100)]) {
  Deno.test(`baseOf() refuses ${bytes.length} bytes that are no ELF program`, () => {
    const { message } = assertThrows(() => baseOf(bytes), TypeError);
    assert(message === "not a 64-bit ELF program");
  });
}
