import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { loadConfig } from "../../src/host/config/load_config.ts";
import { rig, type RigOptions } from "./harness.ts";

const FILE = JSON.stringify({
  active: "local",
  providers: { local: { tiers: { fast: "a", balanced: "b", reasoning: "c" } } },
});
const ENV = { EXECUTIONKIT_BASE_URL: "http://h/v1", EXECUTIONKIT_MODEL: "m" };
const USER = "/home/ann/.config/kit/kit.jsonc";

async function load(options: RigOptions) {
  return await loadConfig(rig(options).host.options);
}

const layers: readonly (readonly [string, RigOptions, string, string | undefined])[] = [
  ["nothing", {}, "none", undefined],
  ["the environment", { env: ENV }, "environment", undefined],
  ["the user's file", { files: { [USER]: FILE } }, "user", USER],
  [
    "--config before the environment",
    { configPath: "/c.jsonc", env: ENV, files: { "/c.jsonc": FILE } },
    "flag",
    "/c.jsonc",
  ],
  [
    "the environment before KIT_CONFIG",
    { env: { ...ENV, KIT_CONFIG: "/c.jsonc" }, files: { "/c.jsonc": FILE } },
    "environment",
    undefined,
  ],
  [
    "KIT_CONFIG before the user's file",
    { env: { KIT_CONFIG: "/c.jsonc" }, files: { "/c.jsonc": FILE, [USER]: FILE } },
    "variable",
    "/c.jsonc",
  ],
  [
    "MKLANG_CONFIG where KIT_CONFIG is not set",
    { env: { KIT_CONFIG: "", MKLANG_CONFIG: "/c.jsonc" }, files: { "/c.jsonc": FILE } },
    "variable",
    "/c.jsonc",
  ],
  [
    "a project's file at the command line",
    { door: "cli", files: { "/project/kit.jsonc": FILE, [USER]: FILE } },
    "project",
    "kit.jsonc",
  ],
  [
    "no project's file over MCP",
    { door: "mcp", files: { "/project/kit.jsonc": FILE, [USER]: FILE } },
    "user",
    USER,
  ],
  [
    "the directory that KIT_CONFIG_DIR names",
    { env: { KIT_CONFIG_DIR: "/etc/k" }, files: { "/etc/k/kit.jsonc": FILE } },
    "user",
    "/etc/k/kit.jsonc",
  ],
];
for (const [what, options, layer, path] of layers) {
  Deno.test(`loadConfig() finds ${what}`, async () => {
    const loaded = await load(options);
    assertEquals([loaded.layer, loaded.path], [layer, path]);
    assertEquals(loaded.config === undefined, layer === "none");
  });
}

Deno.test("loadConfig() says what to set where nothing is configured", async () => {
  const { problem } = await load({});
  assertEquals(problem?.code, "missing");
  for (
    const part of ["EXECUTIONKIT_BASE_URL", "EXECUTIONKIT_MODEL", "EXECUTIONKIT_API_KEY", USER]
  ) {
    assertStringIncludes(problem?.message ?? "", part);
  }
});

Deno.test("loadConfig() fills all tiers with the one model of the environment", async () => {
  const { config } = await load({ env: ENV });
  const provider = config?.providers.get("environment");
  assertEquals(provider?.tiers, { fast: "m", balanced: "m", reasoning: "m" });
  assertFalse(provider?.keyRequired);
});

const broken: readonly (readonly [string, RigOptions, string])[] = [
  [
    "one of the two variables",
    { env: { EXECUTIONKIT_MODEL: "m" } },
    "EXECUTIONKIT_BASE_URL is not",
  ],
  [
    "a URL that is none",
    { env: { ...ENV, EXECUTIONKIT_BASE_URL: "localhost" } },
    "Cannot use EXECUTIONKIT_BASE_URL: it is no URL",
  ],
  [
    "a file that is missing",
    { configPath: "/no.jsonc" },
    'Cannot read config "/no.jsonc": not-found',
  ],
  [
    "a file that is no JSON",
    { configPath: "/c.jsonc", files: { "/c.jsonc": "{ nope" } },
    'Cannot read config "/c.jsonc"',
  ],
  [
    "a YAML file that is none",
    { configPath: "/c.yaml", files: { "/c.yaml": "a: [" } },
    'Cannot read config "/c.yaml"',
  ],
];
for (const [what, options, text] of broken) {
  Deno.test(`loadConfig() refuses ${what} and says why`, async () => {
    const loaded = await load(options);
    assertEquals(loaded.config, undefined);
    assertStringIncludes(loaded.problem?.message ?? "", text);
  });
}

Deno.test("loadConfig() reads comments, trailing commas, a byte order mark, and YAML when named", async () => {
  const jsonc = `\uFEFF// mine\n${FILE.slice(0, -1)}, /* end */ }`;
  assertEquals((await load({ configPath: "/c", files: { "/c": jsonc } })).config?.active, "local");
  const yaml =
    "active: local\nproviders:\n  local: { tiers: { fast: a, balanced: b, reasoning: c } }\n";
  const loaded = await load({ configPath: "/c.yml", files: { "/c.yml": yaml } });
  assertEquals(loaded.config?.providers.get("local")?.tiers.reasoning, "c");
});
