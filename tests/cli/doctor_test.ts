import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { cli, type CliOutcome } from "./harness.ts";
import { MemoryFiles } from "./memory_files.ts";

const MODEL = { EXECUTIONKIT_BASE_URL: "https://example.com/v1", EXECUTIONKIT_MODEL: "m" };

async function doctor(config: string): Promise<CliOutcome> {
  return await cli(["doctor", "--config", "kit.jsonc"], {
    files: new MemoryFiles({ "kit.jsonc": config }),
  });
}

Deno.test("kit doctor lists what is wrong with a config and what is odd, each once", async () => {
  const { code, stdout } = await doctor(
    '{"providers": {"local": {"tiers": 3, "timeout_ms": "x"}}, "colour": "red"}',
  );
  assertEquals(code, 1);
  const lines = stdout.split("\n");
  assertEquals(lines.slice(0, 2), [
    "ERROR config kit.jsonc · layer=flag · active=-",
    '  error: Cannot use config "kit.jsonc": 2 problems, see "schema"',
  ]);
  assertEquals(lines[2], "ERROR schema kit.jsonc · 3 findings");
  assertStringIncludes(lines[3] ?? "", '  warning: unknown key "colour"');
  assertStringIncludes(stdout, '  error: "providers.local.tiers" is');
  assertStringIncludes(stdout, '  error: "providers.local.timeout_ms" ');
  assertEquals(stdout.match(/unknown key "colour"/g)?.length, 1);
});

Deno.test("kit doctor finds no schema in order that it could not look at", async () => {
  const { code, stdout } = await doctor('{"providers": ');
  assertEquals(code, 1);
  assertStringIncludes(stdout, '  error: Cannot read config "kit.jsonc": ');
  assertFalse(stdout.includes("schema"));
});

Deno.test("kit doctor says once which variable is no number", async () => {
  const { code, stderr } = await cli(["doctor"], { variables: { ...MODEL, KIT_MAX_RUNS: "many" } });
  assertEquals(code, 0);
  assertEquals(stderr, "warning: KIT_MAX_RUNS is no number from 1 on; it is ignored\n");
});

const odd: [variables: Record<string, string>, warning: string][] = [
  [
    { KIT_CONFIRM: "maybe" },
    'KIT_CONFIRM is "maybe", which counts as "elicitation": write "elicitation" or "all"',
  ],
  [{ KIT_FS_ROOT: "/nonexistent" }, 'workspace "/nonexistent" is not a directory that can be read'],
];
for (const [variables, warning] of odd) {
  Deno.test(`kit doctor warns of ${JSON.stringify(variables)}`, async () => {
    const { code, stdout } = await cli(["doctor"], { variables: { ...MODEL, ...variables } });
    assertEquals(code, 0);
    assertStringIncludes(stdout, `WARNING env files=-\n  warning: ${warning}\n`);
  });
}
