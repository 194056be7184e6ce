import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import type { Fetch } from "../../src/ports/mod.ts";
import { PLAIN, rig, type RigOptions } from "./harness.ts";

const TIERS = { fast: "small", balanced: "mid", reasoning: "big" };

function configured(provider: Record<string, unknown>, options: RigOptions = {}) {
  const config = {
    active: "mine",
    providers: { mine: { protocol: "openai_compat", tiers: TIERS, ...provider } },
  };
  return rig({ configPath: "/c.jsonc", files: { "/c.jsonc": JSON.stringify(config) }, ...options });
}

/** An endpoint that gives the same answer and remembers what it was sent. */
function endpoint() {
  const requests: { url: string; key: string | null; model: unknown }[] = [];
  const fetch: Fetch = async (url, init) => {
    const headers = new Headers(init?.headers);
    const body: unknown = JSON.parse(await new Response(init?.body ?? null).text());
    requests.push({
      url: String(url),
      key: headers.get("authorization"),
      model: Reflect.get(Object(body), "model"),
    });
    return Response.json({
      choices: [{ message: { content: "R" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 2 },
    });
  };
  return { fetch, requests };
}

Deno.test("Host.models() gives each tier its model and shares those of one name", async () => {
  const { host } = configured({
    base_url: "http://h/v1",
    tiers: { ...TIERS, reasoning: "small" },
    judge: "mid",
  });
  const outcome = await host.models();
  assert(outcome.kind === "ready");
  const { tiers, judge } = outcome.models;
  assertEquals([tiers.fast?.model, tiers.balanced?.model, judge?.model], ["small", "mid", "mid"]);
  assert(tiers.fast === tiers.reasoning);
  assert((await host.models("mine")).kind === "ready");
});

Deno.test("Host.models() names a missing key and never its value", async () => {
  const { host } = configured({ base_url: "http://h/v1", api_key_env: "MY_KEY" });
  const outcome = await host.models();
  assert(outcome.kind === "problem");
  assertEquals(outcome.problem.code, "key");
  assertStringIncludes(outcome.problem.message, "MY_KEY");
});

Deno.test("Host.models() picks only among what is configured", async () => {
  const { host } = configured({ base_url: "http://h/v1" });
  for (const name of ["other", "scripted", "__proto__", "http://evil/v1"]) {
    const outcome = await host.models(name);
    assert(outcome.kind === "problem");
    assertEquals(outcome.problem.code, "unknown-provider");
  }
});

Deno.test("Host.run() sends the key to the configured endpoint and nowhere else", async () => {
  const { fetch, requests } = endpoint();
  const { host, log } = configured({ base_url: "http://h/v1", api_key_env: "MY_KEY" }, {
    fetch,
    env: { MY_KEY: "sk-very-secret-key" },
  });
  const emitted = await host.run({ source: PLAIN });
  assertEquals(emitted.object["result"], "R");
  assertEquals(requests, [{
    url: "http://h/v1/chat/completions",
    key: "Bearer sk-very-secret-key",
    model: "mid",
  }]);
  assertFalse(JSON.stringify([emitted, log]).includes("very-secret"));
});

Deno.test("Host.run() picks up a configuration that was mended meanwhile", async () => {
  const { fetch } = endpoint();
  const { host, files } = rig({ configPath: "/c.jsonc", files: { "/c.jsonc": "{" }, fetch });
  assertEquals((await host.run({ source: PLAIN })).failure, "config");
  const config = { active: "local", providers: { local: { tiers: TIERS } } };
  files.put("/c.jsonc", JSON.stringify(config));
  assertEquals((await host.run({ source: PLAIN })).object["status"], "done");
});

Deno.test("Host.run() halts with provider-error and the kind config when the key is refused", async () => {
  const fetch: Fetch = () =>
    Promise.resolve(Response.json({ error: { message: "no" } }, { status: 401 }));
  const { host } = configured({ base_url: "http://h/v1" }, { fetch });
  const emitted = await host.run({ source: PLAIN });
  assertEquals(emitted.object["status"], "halt");
  assertStringIncludes(String(emitted.object["error"]), "provider-error: ");
  assertEquals(emitted.failure, "config");
});

Deno.test("Host.configuration() tells what is configured and shows no key", async () => {
  const { host } = configured({ base_url: "http://h/v1?x=1".slice(0, 11), api_key_env: "MY_KEY" }, {
    env: { MY_KEY: "sk-very-secret-key", KIT_SEARCH_BACKEND: "fake" },
  });
  const report = await host.configuration();
  assertEquals([report.layer, report.active, report.path], ["flag", "mine", "/c.jsonc"]);
  assertEquals(report.providers[0]?.key, "set");
  assertEquals(report.backends.map(({ tool, backend, source }) => `${tool} ${backend} ${source}`), [
    "search fake env",
    "kb stub default",
    "mail stub default",
    "fs local default",
  ]);
  assertFalse(JSON.stringify(report).includes("very-secret"));
});

Deno.test("Host.run() names a project's config at the command line", async () => {
  const { fetch } = endpoint();
  const config = JSON.stringify({ active: "local", providers: { local: { tiers: TIERS } } });
  const { host } = rig({ door: "cli", files: { "/project/kit.jsonc": config }, fetch });
  const emitted = await host.run({ source: PLAIN });
  assertStringIncludes(
    String(emitted.object["warnings"]),
    'the config "kit.jsonc" of the current directory',
  );
});

const scripts: readonly (readonly [string, string, string])[] = [
  ["a bare script", "produce: [one]\n", "one"],
  ["a scenario file", "scenarios: [ { llm: { produce: [two] }, expect: {} } ]\n", "two"],
  ["a conformance case", "case: x\nllm: { produce: [three] }\n", "three"],
  ["JSON", '{"produce": ["four"]}', "four"],
];
for (const [what, script, result] of scripts) {
  Deno.test(`Host.run() plays ${what} where the provider is scripted`, async () => {
    const { host } = rig({ provider: "scripted", scriptPath: "/s", files: { "/s": script } });
    const emitted = await host.run({ source: PLAIN });
    assertEquals(emitted.object["result"], result);
    assertStringIncludes(String(emitted.object["warnings"]), "no model was asked");
    const again = await host.run({ source: PLAIN });
    assertEquals(again.object["result"], result);
  });
}

for (const script of ["- 1", "a: [", "nothing: here", ""]) {
  Deno.test(`Host.run() refuses the script ${JSON.stringify(script)} and says why`, async () => {
    const { host } = rig({ provider: "scripted", scriptPath: "/s", files: { "/s": script } });
    const emitted = await host.run({ source: PLAIN });
    assertStringIncludes(emitted.text, 'Cannot use script "/s"');
    assertEquals(emitted.failure, "load");
  });
}

const unreadable: [path: string, why: string][] = [
  ["/gone", 'Cannot use script "/gone": there is no such file'],
  [
    "/s",
    'Cannot use script "/s": A bracket opened on line 1 is not closed here (line 2, column 1)',
  ],
];
for (const [scriptPath, why] of unreadable) {
  Deno.test(`Host.run() says where the script ${scriptPath} is wrong`, async () => {
    const { host } = rig({ provider: "scripted", scriptPath, files: { "/s": "a: [\n" } });
    assertStringIncludes((await host.run({ source: PLAIN })).text, why);
  });
}

Deno.test("Host.configuration(), unlike the reference, takes TAVILY_API_KEY from .env for a run too", async () => {
  const files = { "/home/ann/.config/kit/.env": "TAVILY_API_KEY=tvly-abcdefgh\n" };
  const sent: (string | null)[] = [];
  const fetch: Fetch = (_url, init) => {
    sent.push(new Headers(init?.headers).get("authorization"));
    return Promise.resolve(Response.json({ results: [] }));
  };
  const { host } = rig({ files, fetch, provider: "scripted" });
  const { backends } = await host.configuration();
  assertEquals(backends[0], { tool: "search", backend: "tavily", source: "default" });
  const source = "machine: m\nentry: a\nbudget: 1\nstates:\n" +
    "  a: { tool: search, input: { query: q }, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }\n";
  const emitted = await host.run({ source });
  assertStringIncludes(String(emitted.object["result"]), '"stub": false');
  assertEquals(sent, ["Bearer tvly-abcdefgh"]);
});

Deno.test("Host.models(), unlike the reference's example, knows where google is", async () => {
  const config = { active: "google", providers: { google: { tiers: TIERS } } };
  const { host } = rig({ configPath: "/c", files: { "/c": JSON.stringify(config) } });
  const { providers } = await host.configuration();
  assertEquals(
    providers[0]?.baseUrl,
    "https://generativelanguage.googleapis.com/v1beta/openai",
  );
});
