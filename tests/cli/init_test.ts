import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  CONFIGURATION,
  CONFIGURATION_SCHEMA,
  HELLO_MACHINE,
  HELLO_TESTS,
} from "../../src/cli/init_files.ts";
import { isJsonObject, validateSchema } from "../../src/json/mod.ts";
import {
  checkMachine,
  lintMachine,
  loadReader,
  parseMachine,
  runScenario,
} from "../../src/machine/mod.ts";
import { cli } from "./harness.ts";
import { MemoryFiles } from "./memory_files.ts";

const WRITTEN = [
  "/project/.env",
  "/project/kit.jsonc",
  "/project/kit.schema.json",
  "/project/machines/hello.mk",
  "/project/machines/hello.test.yaml",
  "/project/machines/machine.schema.json",
];

Deno.test("kit init writes its files and says what to do next", async () => {
  const files = new MemoryFiles();
  const { code, stdout } = await cli(["init"], { files });
  assertEquals(code, 0);
  assertEquals([...files.texts.keys()].toSorted(), WRITTEN);
  assertStringIncludes(stdout, "OK machines/\n");
  assertStringIncludes(stdout, "created=7 · unchanged=0");
  assertStringIncludes(stdout, "kit run machines/hello.mk --provider scripted");
});

Deno.test("kit init keeps .env to its owner", async () => {
  const files = new MemoryFiles();
  await cli(["init"], { files });
  assertEquals(files.modes.get("/project/.env"), 0o600);
  assertEquals(files.modes.get("/project/machines/hello.mk"), 0o644);
});

Deno.test("kit init overwrites nothing", async () => {
  const files = new MemoryFiles({ "kit.jsonc": "mine", "machines/hello.mk": "mine too" });
  const { code, stdout } = await cli(["init", "--format", "json"], { files });
  assertEquals(code, 0);
  assertEquals([files.text("kit.jsonc"), files.text("machines/hello.mk")], ["mine", "mine too"]);
  assertEquals(JSON.parse(stdout), {
    command: "init",
    ok: true,
    items: [
      { name: "kit.jsonc", status: "exists" },
      { name: "kit.schema.json", status: "ok" },
      { name: ".env", status: "ok" },
      { name: "machines/machine.schema.json", status: "ok" },
      { name: "machines/hello.mk", status: "exists" },
      { name: "machines/hello.test.yaml", status: "ok" },
    ],
    diagnostics: [],
    summary: { created: 4, unchanged: 2 },
  });
});

Deno.test("kit init takes away what it wrote when a part fails", async () => {
  const files = new MemoryFiles({ "kit.jsonc": "mine" });
  files.failing = "hello.test.yaml";
  const { code, stderr } = await cli(["init"], { files });
  assertEquals(code, 2);
  assertStringIncludes(stderr, 'Permission denied: "machines/hello.test.yaml"');
  assertEquals([...files.texts.keys()], ["/project/kit.jsonc"]);
  assertEquals(await files.stat("machines"), undefined);
});

Deno.test("kit init --dir writes below another directory", async () => {
  const files = new MemoryFiles();
  await cli(["init", "--dir", "some/where/"], { files });
  assertStringIncludes(files.text("some/where/machines/hello.mk") ?? "", "machine: hello");
});

Deno.test("kit init refuses --user together with --dir", async () => {
  const { code, stderr } = await cli(["init", "--user", "--dir", "x"]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "--user and --dir exclude each other");
});

Deno.test("the first machine is clean under check and lint, but for its note on escalation", async () => {
  const { machine, diagnostics } = await parseMachine(HELLO_MACHINE);
  assert(machine !== undefined);
  assertEquals([...diagnostics, ...checkMachine(machine)], []);
  assertEquals(lintMachine(machine).map(({ code, severity }) => [code, severity]), [
    ["prose-escalate", "note"],
  ]);
});

Deno.test("every scenario of the first machine passes", async () => {
  const { readYaml, parseMachine } = await loadReader();
  const { machine } = parseMachine(HELLO_MACHINE);
  const { value } = readYaml(HELLO_TESTS);
  assert(machine !== undefined && isJsonObject(value) && Array.isArray(value.scenarios));
  assertEquals(value.scenarios.length, 5);
  for (const scenario of value.scenarios) {
    const { name, mismatches } = await runScenario(machine, scenario);
    assertEquals([name, ...mismatches], [name]);
  }
});

Deno.test("the first configuration fits its schema", async () => {
  const json: unknown = JSON.parse(CONFIGURATION.replace(/^\s*\/\/.*$/gm, ""));
  assert(isJsonObject(json));
  assertEquals(await validateSchema(CONFIGURATION_SCHEMA, json), []);
});
