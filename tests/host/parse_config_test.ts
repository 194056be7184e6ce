// deno-lint-ignore-file camelcase -- the keys of config files
import { assertEquals, assertFalse } from "@std/assert";
import { parseConfig } from "../../src/host/config/parse_config.ts";
import type { JsonValue } from "../../src/json/mod.ts";

const TIERS = { fast: "s", balanced: "m", reasoning: "l" };
const LOCAL = { base_url: "http://localhost:1/v1", tiers: TIERS };

const problems: readonly (readonly [string, JsonValue, readonly string[]])[] = [
  ["a list", [], ['the file holds a list, not an object with "providers"']],
  ["no providers", {}, ['"providers" is missing: write one entry for each endpoint']],
  ["empty providers", { providers: {} }, ['"providers" is empty: write at least one entry']],
  [
    "an active provider that is not there",
    { active: "x", providers: { local: LOCAL } },
    ['"active" names "x", which is not among the providers (local)'],
  ],
  [
    "missing and unknown tiers at once",
    { providers: { local: { base_url: "http://h/v1", tiers: { fast: " ", slow: "x" } } } },
    [
      '"providers.local.tiers.fast" is an empty text: write the name of a model',
      '"providers.local.tiers.balanced" is missing: write the name of a model',
      '"providers.local.tiers.reasoning" is missing: write the name of a model',
      '"providers.local.tiers.slow" is no tier: the tiers are fast, balanced, reasoning',
    ],
  ],
  [
    "a provider nobody knows",
    { providers: { mine: LOCAL } },
    ['provider "mine" is not registered: write "protocol": "openai_compat" and its "base_url"'],
  ],
  [
    "a URL without scheme",
    { providers: { local: { ...LOCAL, base_url: "api.example.com/v1" } } },
    [
      '"providers.local.base_url" is no URL: write one such as https://api.example.com/v1',
    ],
  ],
  [
    "a URL with a password",
    { providers: { local: { ...LOCAL, base_url: "https://ann:hunter2@h/v1" } } },
    [
      '"providers.local.base_url" has a user name or password: put keys into the environment instead',
    ],
  ],
  [
    "a URL with a fragment",
    { providers: { local: { ...LOCAL, base_url: "https://h/v1#x" } } },
    ['"providers.local.base_url" has a fragment: leave out what follows the #'],
  ],
  [
    "a URL with a key in its query",
    { providers: { local: { ...LOCAL, base_url: "https://h/v1?api-key=hunter2" } } },
    [
      '"providers.local.base_url" has "api-key" in its query: keys come from the environment, so name a variable in "api_key_env", or give the whole URL as EXECUTIONKIT_BASE_URL',
    ],
  ],
  [
    "a key in place of its variable's name",
    { providers: { local: { ...LOCAL, api_key_env: "sk-abc" } } },
    [
      '"providers.local.api_key_env" is no name of a variable: write the name, such as OPENAI_API_KEY, never the key',
    ],
  ],
  [
    "parameters of an unknown tier",
    { providers: { local: { ...LOCAL, params: { huge: {}, fast: 1 } } } },
    [
      '"providers.local.params.huge" is no tier: the tiers are fast, balanced, reasoning',
      '"providers.local.params.fast" is the number 1, not an object',
    ],
  ],
  [
    "a limit that is no number",
    { providers: { local: { ...LOCAL, limits: { concurrency: 0 } } } },
    ['"providers.local.limits.concurrency" is the number 0, not a number above 0'],
  ],
];
for (const [what, value, expected] of problems) {
  Deno.test(`parseConfig() names the problem of ${what}`, () => {
    assertEquals(parseConfig(value).problems, expected);
    assertEquals(parseConfig(value).config, undefined);
  });
}

Deno.test("parseConfig() keeps the query of a URL", () => {
  const base_url = "https://h/openai?api-version=2026-01";
  const { config, problems } = parseConfig({ providers: { local: { ...LOCAL, base_url } } });
  assertEquals(problems, []);
  assertEquals(config?.providers.get("local")?.baseUrl, base_url);
});

Deno.test("parseConfig() reads tiers, judge, key variable, parameters and limits", () => {
  const { config } = parseConfig({
    active: "local",
    providers: {
      local: {
        ...LOCAL,
        judge: "j",
        api_key_env: "MY_KEY",
        params: { reasoning: { reasoning_effort: "high" } },
        limits: { concurrency: 4, requests_per_second: 2, burst: 3 },
        timeout_ms: 5000,
        token_field: "max_completion_tokens",
      },
    },
    tools: { search: { backend: "fake" }, fs: { backend: "local", workspace: "./d", write: true } },
  });
  const provider = config?.providers.get("local");
  assertEquals(config?.active, "local");
  assertEquals({ ...provider }, {
    name: "local",
    protocol: "openai_compat",
    baseUrl: "http://localhost:1/v1",
    keyRequired: true,
    keyVariable: "MY_KEY",
    tiers: TIERS,
    judge: "j",
    params: { reasoning: { reasoning_effort: "high" } },
    limits: { concurrency: 4, requestsPerSecond: 2, burst: 3 },
    timeoutMs: 5000,
    tokenField: "max_completion_tokens",
  });
  assertEquals({ ...config?.tools }, {
    search: "fake",
    fs: "local",
    workspace: "./d",
    write: true,
  });
});

Deno.test("parseConfig() knows where named providers are", () => {
  const { config } = parseConfig({ providers: { mistral: { tiers: TIERS } } });
  assertEquals(config?.providers.get("mistral")?.baseUrl, "https://api.mistral.ai/v1");
  assertFalse(config?.providers.get("mistral")?.keyRequired);
});

Deno.test("parseConfig() reports unknown keys and bad tools without stopping", () => {
  const { findings } = parseConfig({
    extra: 1,
    providers: { local: { ...LOCAL, api_key: "sk-secret" } },
    tools: { search: 3, nope: {} },
  });
  assertEquals(findings.map((finding) => finding.split(" (known")[0]), [
    'unknown key "extra"',
    'unknown key "providers.local.api_key"',
    'unknown key "tools.nope"',
    '"tools.search" has no text "backend"; it is ignored',
  ]);
  assertFalse(JSON.stringify(findings).includes("sk-secret"));
});

Deno.test("parseConfig() takes a provider called __proto__ for what it is", () => {
  const value: JsonValue = JSON.parse(
    `{"providers":{"__proto__":{"protocol":"openai_compat","base_url":"http://h/v1","tiers":${
      JSON.stringify(TIERS)
    }}}}`,
  );
  assertEquals([...parseConfig(value).config?.providers.keys() ?? []], ["__proto__"]);
  assertFalse(Object.hasOwn(Object.prototype, "baseUrl"));
});
