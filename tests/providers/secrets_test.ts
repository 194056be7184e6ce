/** Attempts to make a key show: whatever an endpoint answers and wherever the key is configured. */
import { assert, assertFalse, assertRejects, assertThrows } from "@std/assert";
import {
  callModel,
  ConfigError,
  createLedger,
  KitError,
  type TraceEvent,
} from "../../src/llm/mod.ts";
import {
  createAnthropicProvider,
  createOpenAiProvider,
  type HttpProvider,
} from "../../src/providers/mod.ts";
import { SeededRandom } from "../../src/testing/mod.ts";
import { fakePorts, type FakeResponse, json } from "./fake_fetch.ts";

const KEY = "correct-horse-battery-7";
const messages = [{ role: "user", content: "hi" }] as const;

/** All that a program or a person can get to see of an error. */
function allOf(error: unknown): string {
  const fields = error instanceof KitError
    ? JSON.stringify([error.message, error.details, error.partial, error.stack])
    : "";
  return [Deno.inspect(error, { depth: 20, showHidden: true }), String(error), fields].join("\n");
}

function assertHidden(text: string, secret: string = KEY): void {
  const lower = text.toLowerCase();
  for (const form of [secret, encodeURIComponent(secret), btoa(secret).replace(/=+$/, "")]) {
    assertFalse(lower.includes(form.toLowerCase()), `"${form}" shows in ${text}`);
  }
}

const echoes: [where: string, answer: () => FakeResponse][] = [
  ["message", () => json({ error: { message: `bad key ${KEY}` } }, { status: 401 })],
  ["code", () => json({ error: { message: "no", code: `bad_${KEY}` } }, { status: 401 })],
  ["type", () => json({ error: { message: "no", type: `Key ${KEY}` } }, { status: 400 })],
  ["param", () => json({ error: { message: "no", param: `api_key=${KEY}` } }, { status: 400 })],
  [
    "inner error",
    () => json({ error: { message: "no", innererror: { code: KEY, key: KEY } } }, { status: 400 }),
  ],
  ["another shape", () => json({ detail: [{ loc: ["header"], msg: KEY }] }, { status: 422 })],
  ["a text", () => new Response(`denied for Bearer ${KEY}`, { status: 403 })],
  ["a 200 with an error", () => json({ error: { message: KEY, code: `x-${KEY}` } })],
  [
    "a 200 with an error of a status",
    () => json({ error: { message: KEY, code: 401, type: KEY } }),
  ],
  [
    "the address of a redirect",
    () =>
      new Response(null, { status: 307, headers: { location: `https://other.example/${KEY}/v1` } }),
  ],
  [
    "what the runtime throws",
    () => new TypeError(`error sending request for url (https://models.example/v1?key=${KEY})`),
  ],
  [
    "the cause of what it throws",
    () => new TypeError("failed", { cause: new Error(`with header Bearer ${KEY}`) }),
  ],
];
const flavours: [name: string, create: (fetch: ReturnType<typeof fakePorts>) => HttpProvider][] = [
  [
    "createOpenAiProvider()",
    (ports) =>
      createOpenAiProvider({
        baseUrl: "https://models.example/v1",
        model: "m",
        apiKey: KEY,
        ports,
      }),
  ],
  [
    "createAnthropicProvider()",
    (ports) =>
      createAnthropicProvider({
        baseUrl: "https://models.example",
        model: "m",
        apiKey: KEY,
        ports,
      }),
  ],
];
for (const [name, create] of flavours) {
  for (const [where, answer] of echoes) {
    Deno.test(`${name} hides a key that comes back in ${where}`, async () => {
      const ports = fakePorts(answer());
      const error = await assertRejects(() => create(ports).complete(messages), KitError);
      assertHidden(allOf(error));
    });
  }

  Deno.test(`${name} hides the key in the trace of a failed call`, async () => {
    const ports = fakePorts(
      json({ error: { message: KEY, type: KEY, code: KEY } }, { status: 401 }),
    );
    const seen: TraceEvent[] = [];
    await assertRejects(() =>
      callModel(create(ports), messages, {
        ledger: createLedger({}, ports),
        ports: { ...ports, random: new SeededRandom() },
        trace: { write: (event) => void seen.push(event), captureContent: "redacted" },
      })
    );
    assert(seen.length > 0);
    assertHidden(JSON.stringify(seen));
  });
}

const placed: [
  where: string,
  options: { headers?: Record<string, string>; query?: Record<string, string> },
][] = [
  ["a header of authorization", { headers: { Authorization: `Bearer ${KEY}` } }],
  ["a header of a gateway", { headers: { "x-gateway-key": KEY } }],
  ["a cookie", { headers: { cookie: `theme=dark; session=${KEY}` } }],
  ["the query", { query: { key: KEY } }],
];
for (const [where, options] of placed) {
  Deno.test(`createOpenAiProvider() hides a key that is configured in ${where}`, async () => {
    const ports = fakePorts(
      json({ error: { message: `unknown credential ${KEY}`, code: KEY } }, { status: 401 }),
    );
    const base = { baseUrl: "https://models.example/v1", model: "m", ports };
    const provider = createOpenAiProvider({ ...base, ...options });
    assertHidden(Deno.inspect(provider, { depth: 20, showHidden: true }));
    assertHidden(allOf(await assertRejects(() => provider.complete(messages), KitError)));
  });
}

const bases: [what: string, baseUrl: string][] = [
  ["a password", `https://user:${KEY}@models.example/v1`],
  ["a password with a slash", `https://user:pa/${KEY}@models.example/v1`],
  ["a password and no scheme", `user:${KEY}@models.example/v1`],
  ["a key in the query and no host", `https://?key=${KEY}`],
  ["a key in the place of the address", "sk-proj-0123456789abcdef"],
];
for (const [what, baseUrl] of bases) {
  Deno.test(`createOpenAiProvider() hides ${what} in the error of a bad base URL`, () => {
    const error = assertThrows(() => createOpenAiProvider({ baseUrl, model: "m" }), ConfigError);
    assertHidden(allOf(error));
    assertHidden(allOf(error), "sk-proj-0123456789abcdef");
  });
}

Deno.test("createOpenAiProvider() shows no control characters of an endpoint", async () => {
  const ports = fakePorts(
    json({ error: { message: "\x1b[2J\x07gone\u009b31m" } }, { status: 400 }),
  );
  const [, create] = flavours[0] ?? [];
  assert(create !== undefined);
  const error = await assertRejects(() => create(ports).complete(messages), KitError);
  // deno-lint-ignore no-control-regex -- these are what is looked for
  assertFalse(/[\x00-\x1f\x7f-\x9f]/.test(error.message));
});
