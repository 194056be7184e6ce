import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { calcTool } from "../../src/host/tools/calc.ts";
import { searchTool } from "../../src/host/tools/search.ts";
import { searchKbTool } from "../../src/host/tools/search_kb.ts";
import { sendReplyTool } from "../../src/host/tools/send_reply.ts";
import type { JsonObject } from "../../src/json/mod.ts";
import type { HostTool } from "../../src/machine/mod.ts";
import type { Fetch } from "../../src/ports/mod.ts";
import { ManualClock } from "../../src/testing/mod.ts";

const CALL = { signal: new AbortController().signal, machine: "m", state: "s", path: "s" };

async function observe(tool: HostTool, input: JsonObject): Promise<JsonObject> {
  const value: unknown = JSON.parse(await tool.run(input, CALL));
  return value as JsonObject;
}

const sums: readonly (readonly [JsonObject, string])[] = [
  [{ expr: "17 * 83" }, "1411"],
  [{ query: "4/2" }, "2"],
  [{ expr: " -7//2 " }, "-4"],
  [{ expr: "0x10 + 1_000" }, "1016"],
  [{ expr: "1/0" }, "error: could not evaluate '1/0' (division by zero)"],
  [{}, "error: could not evaluate '' "],
  [{ expr: "__import__('os')" }, "error: could not evaluate '__import__('os')' "],
];
for (const [input, text] of sums) {
  Deno.test(`calc gives ${text} for ${JSON.stringify(input)}`, async () => {
    const given = await calcTool().run(input, CALL);
    assert(given === text || (text.endsWith(" ") && given.startsWith(text)), given);
  });
}

Deno.test("calc quotes no more than 80 characters of an expression", async () => {
  const given = await calcTool().run({ expr: `${"9".repeat(5000)}\n` }, CALL);
  assert(given.length < 220, `${given.length}`);
  assertFalse(given.includes("\n"));
});

Deno.test("search_kb gives its demonstration facts and says what they are", async () => {
  const seen = await observe(searchKbTool(), { q: "refund" });
  assertEquals(Object.keys(seen), [
    "tool",
    "stub",
    "error",
    "status",
    "retryable",
    "untrusted",
    "query",
    "facts",
    "note",
  ]);
  assertEquals([seen["stub"], seen["query"]], [true, "refund"]);
});

const replies: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ["stub", { body: "hi" }, {
    to: "customer",
    chars: 2,
    preview: "hi",
    sent: false,
    recorded: true,
    delivery: "stub",
  }],
  ["fake", { draft: "hi", to: "ann" }, { to: "ann", sent: true, delivery: "fake", stub: true }],
  ["stub", { body: "  " }, { error: "empty body", status: "error", sent: false, recorded: false }],
  ["stub", { body: "😀".repeat(200) }, { chars: 200, preview: `${"😀".repeat(117)}...` }],
];
for (const [backend, input, expected] of replies) {
  Deno.test(`send_reply (${backend}) records ${JSON.stringify(input).slice(0, 40)}`, async () => {
    const seen = await observe(sendReplyTool({ backend }), input);
    for (const [key, value] of Object.entries(expected)) assertEquals(seen[key], value);
  });
}

function search(options: { backend?: string; key?: string; fetch?: Fetch }) {
  const clock = new ManualClock();
  const offline: Fetch = () => Promise.reject(new TypeError("offline"));
  const ports = { clock, fetch: options.fetch ?? offline };
  const tool = searchTool({ backend: options.backend ?? "stub", key: options.key, ports });
  return { tool, clock };
}

Deno.test("search says that nothing is bound, and how to bind it", async () => {
  const seen = await observe(search({}).tool, { query: "q" });
  assertEquals([seen["stub"], seen["status"]], [true, "error"]);
  assertStringIncludes(String(seen["error"]), "no external search bound");
  assertEquals(seen["results"], []);
});

const badQueries: readonly (readonly [JsonObject, string])[] = [
  [{ query: " " }, "empty query"],
  [{}, "empty query"],
  [{ query: "q", max_results: "many" }, "max_results is not a whole number"],
  [{ query: "q", max_results: 1.5 }, "max_results is not a whole number"],
  [{ query: "q", days: [] }, "days is not a whole number"],
];
for (const [input, error] of badQueries) {
  Deno.test(`search answers "${error}" for ${JSON.stringify(input)}`, async () => {
    assertEquals((await observe(search({}).tool, input))["error"], error);
  });
}

Deno.test("search asks Tavily once, with a key in the header only, and bounds what comes back", async () => {
  const seen: { url: string; init: RequestInit | undefined }[] = [];
  const fetch: Fetch = (url, init) => {
    seen.push({ url: String(url), init });
    const result = { title: "t".repeat(400), url: "https://x/", content: "c".repeat(900) };
    return Promise.resolve(Response.json({ results: Array.from({ length: 20 }, () => result) }));
  };
  const { tool, clock } = search({ backend: "tavily", key: "tvly-secret-key", fetch });
  const found = await observe(tool, { query: "q", max_results: 99, days: 9999, topic: "x" });
  assertEquals(seen.map(({ url }) => url), ["https://api.tavily.com/search"]);
  const body = await new Response(seen[0]?.init?.body ?? null).text();
  assertEquals(body, '{"query":"q","max_results":10,"days":365}');
  const results = found["results"];
  assert(Array.isArray(results) && results.length === 10);
  assertEquals(String(Reflect.get(Object(results[0]), "title")).length, 300);
  assertEquals(String(Reflect.get(Object(results[0]), "snippet")).length, 800);
  assertEquals([found["stub"], found["untrusted"]], [false, true]);
  assertFalse(JSON.stringify(found).includes("tvly-secret-key"));
  assertEquals(clock.pending, 0);
});

const failures: readonly (readonly [string, Fetch, string])[] = [
  ["a refusal", () => Promise.resolve(new Response("no", { status: 401 })), "status 401"],
  ["an HTML page", () => Promise.resolve(new Response("<html>")), "sent no JSON"],
  ["no results", () => Promise.resolve(Response.json({ a: 1 })), "sent no JSON"],
  ["a broken connection", () => Promise.reject(new TypeError("x")), "could not be reached"],
];
for (const [what, fetch, text] of failures) {
  Deno.test(`search turns ${what} into an observation`, async () => {
    const { tool } = search({ backend: "tavily", key: "k", fetch });
    const seen = await observe(tool, { query: "q" });
    assertEquals(seen["status"], "error");
    assertStringIncludes(String(seen["error"]), text);
  });
}

Deno.test("search gives up after fifteen seconds", async () => {
  const fetch: Fetch = (_url, init) =>
    new Promise((_go, fail) => {
      init?.signal?.addEventListener("abort", () => fail(new DOMException("x", "AbortError")));
    });
  const { tool, clock } = search({ backend: "tavily", key: "k", fetch });
  const seen = await clock.run(observe(tool, { query: "q" }));
  assertStringIncludes(String(seen["error"]), "timed out");
  assertEquals([clock.monotonic(), clock.pending], [15_000, 0]);
});
