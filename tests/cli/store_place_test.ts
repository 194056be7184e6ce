import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { HELLO_MACHINE } from "../../src/cli/init_files.ts";
import { shownPlace } from "../../src/cli/store_place.ts";
import { createHost, type SuspensionStore } from "../../src/host/mod.ts";
import { manualPorts } from "../../src/testing/mod.ts";
import { cli } from "./harness.ts";
import { MemoryFiles } from "./memory_files.ts";

const shown: [location: string, text: string][] = [
  ["sqlite:runs.db", "sqlite:runs.db"],
  ["sqlite:/a b/runs.db", "sqlite:/a b/runs.db"],
  ["postgres://ann@db/kit", "postgres://ann@db/kit"],
  ["postgres://ann:very-secret@db:5433/kit?ssl=1", "postgres://ann:***@db:5433/kit?ssl=1"],
  ["postgres://db/kit?user=ann&password=very-secret", "postgres://db/kit?user=ann&password=***"],
  ["postgres://ann:very-secret@[/kit", "PLACE"],
];
for (const [location, text] of shown) {
  Deno.test(`shownPlace() shows ${location.replace("very-secret", "…")} as ${text}`, () => {
    assertEquals(shownPlace(location), text);
  });
}

/** The store that a host makes for itself. */
async function memoryStore(): Promise<SuspensionStore> {
  const ports = {
    ...manualPorts(),
    fetch: () => Promise.reject(new TypeError("no network in unit tests")),
    files: new MemoryFiles(),
    env: { get: () => undefined },
    log: { write: () => {} },
    system: { os: "linux" as const, home: "/home/ann" },
  };
  return await createHost({ ports, door: "cli" }).store();
}

const RUN = ["run", "hello.mk", "--provider", "scripted", "--set", "review=yes", "--hitl"];

Deno.test("kit run says how to go on with the store as it was given, without its password", async () => {
  const files = new MemoryFiles({ "hello.mk": HELLO_MACHINE });
  const places: [place: string, end: string][] = [
    ["sqlite:my runs.db", " --store 'sqlite:my runs.db'\n"],
    ["postgres://ann:very-secret@db/kit", " --store 'postgres://ann:***@db/kit'\n"],
  ];
  for (const [place, end] of places) {
    const { code, stdout } = await cli([...RUN, "--format", "text", "--store", place], {
      files,
      openStore: memoryStore,
    });
    assertEquals(code, 3);
    assert(stdout.endsWith(end), stdout);
    assert(!stdout.includes("very-secret"));
  }
});

const failing = (): Promise<SuspensionStore> =>
  Promise.reject(new Error("Cannot use KIT_STORE_KEY: it must be 32 bytes"));

for (const args of [RUN, ["resume", "0123456789abcdef", "--provider", "scripted"]]) {
  Deno.test(`kit ${args[0]} ends with 2 where the store cannot be opened`, async () => {
    const files = new MemoryFiles({ "hello.mk": HELLO_MACHINE });
    const line = [...args, "--store", "postgres://x:1/db"];
    const { code, stdout } = await cli(line, { files, openStore: failing });
    assertEquals(code, 2);
    assertStringIncludes(stdout, "the store of runs cannot be used");
  });
}

Deno.test("kit runs says what is wrong with a store, and what to look at", async () => {
  const outcomes = [
    await cli(["runs", "--store", "postgres://x:1/db"], { openStore: failing }),
    await cli(["runs"], {
      openStore: failing,
      variables: { KIT_STORE: "postgres://x:1/db", KIT_STORE_KEY: "x" },
    }),
  ];
  for (const [index, end] of ["--store", "KIT_STORE and KIT_STORE_KEY"].entries()) {
    assertEquals(outcomes[index], {
      code: 2,
      stdout: "",
      stderr: `error: Cannot use KIT_STORE_KEY: it must be 32 bytes; check ${end}\n`,
    });
  }
});

Deno.test("kit runs and kit doctor make no store that is not there", async () => {
  let opened = 0;
  const openStore = (): Promise<SuspensionStore> => {
    opened += 1;
    return failing();
  };
  const none =
    'There is no store at "typo.db", which --store names: the first run with it makes one';
  const runs = await cli(["runs", "--store", "sqlite:typo.db"], { openStore });
  assertEquals(runs, { code: 2, stdout: "", stderr: `error: ${none}\n` });
  const doctor = await cli(["doctor", "--store", "sqlite:typo.db"], { openStore });
  assertStringIncludes(doctor.stdout, `WARNING store sqlite\n  warning: ${none}\n`);
  assertEquals(opened, 0);
});
