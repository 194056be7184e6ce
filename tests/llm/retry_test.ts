import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError, LlmError } from "../../src/llm/errors.ts";
import { parseRetryAfter, resolveRetry, retryDelay } from "../../src/llm/retry.ts";

const random = { float: () => 0.5, bytes: (length: number) => new Uint8Array(length) };
const policy = resolveRetry();

function server(retryAfterMs?: number): LlmError {
  const asked = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new LlmError("server", "x", { retryable: true, ...asked });
}

Deno.test("resolveRetry() has three attempts, from one second to one minute", () => {
  assertEquals(resolveRetry(), {
    maxAttempts: 3,
    baseDelayMs: 1000,
    maxDelayMs: 60000,
    factor: 2,
    maxRetryAfterMs: 60000,
  });
});

const bad: [field: string, policy: Parameters<typeof resolveRetry>[0]][] = [
  ["maxAttempts", { maxAttempts: 0 }],
  ["maxAttempts", { maxAttempts: 1.5 }],
  ["factor", { factor: 0.5 }],
  ["baseDelayMs", { baseDelayMs: -1 }],
  ["maxDelayMs", { maxDelayMs: Infinity }],
  ["maxRetryAfterMs", { maxRetryAfterMs: NaN }],
];
for (const [field, wrong] of bad) {
  Deno.test(`W14b resolveRetry() refuses ${field} ${Object.values(wrong ?? {})}`, () => {
    const error = assertThrows(() => resolveRetry(wrong), ConfigError, field);
    assertEquals(error.code, "argument");
  });
}

type State = Parameters<typeof retryDelay>[1];
const first: State = { attempt: 1, malformed: 0, leftMs: undefined };
const delays: [what: string, error: LlmError, state: State, delay: number | undefined][] = [
  ["half of the longest wait at half of the chance", server(), first, 500],
  ["a longest wait that doubles", server(), { ...first, attempt: 2 }, 1000],
  ["nothing after the last attempt", server(), { ...first, attempt: 3 }, undefined],
  ["what the endpoint asked, if longer", server(7000), first, 7000],
  ["the jitter, if longer than asked", server(10), first, 500],
  ["nothing beyond the cap of what may be asked", server(60_001), first, undefined],
  ["nothing that ends after the deadline", server(), { ...first, leftMs: 500 }, undefined],
  ["a wait that ends before the deadline", server(), { ...first, leftMs: 501 }, 500],
  [
    "a second after a refusal for rate",
    new LlmError("rate_limit", "x", { retryable: true }),
    first,
    1000,
  ],
  ["nothing for what is permanent", new LlmError("auth", "x"), first, undefined],
  ["one more try of an unreadable answer", new LlmError("bad_response", "x", { retryable: true }), {
    ...first,
    malformed: 1,
  }, 500],
  ["no third try of an unreadable answer", new LlmError("bad_response", "x", { retryable: true }), {
    ...first,
    malformed: 2,
  }, undefined],
];
for (const [what, error, state, delay] of delays) {
  Deno.test(`retryDelay() gives ${what}`, () => {
    assertEquals(retryDelay(error, state, { policy, random }), delay);
  });
}

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
const headers: [what: string, headers: Record<string, string>, ms: number | undefined][] = [
  ["seconds", { "retry-after": "7" }, 7000],
  ["parts of a second", { "retry-after": " 0.25 " }, 250],
  ["milliseconds before seconds", { "retry-after": "7", "retry-after-ms": "120" }, 120],
  ["a negative number as no wait", { "retry-after": "-5" }, 0],
  ["a date", { "retry-after": "Thu, 01 Jan 2026 12:00:09 GMT" }, 9000],
  ["a date by the endpoint's own clock", {
    "retry-after": "Thu, 01 Jan 2026 14:00:05 GMT",
    "date": "Thu, 01 Jan 2026 14:00:00 GMT",
  }, 5000],
  ["a date in the past as no wait", { "retry-after": "Thu, 01 Jan 2026 11:00:00 GMT" }, 0],
  ["a very large number", { "retry-after": "9999999999" }, 9999999999000],
  ["nothing for words", { "retry-after": "soon" }, undefined],
  ["nothing for an empty header", { "retry-after": "" }, undefined],
  ["nothing for no header", {}, undefined],
  ["seconds where the milliseconds are words", { "retry-after-ms": "x", "retry-after": "2" }, 2000],
];
for (const [what, fields, ms] of headers) {
  Deno.test(`parseRetryAfter() reads ${what}`, () => {
    assertEquals(parseRetryAfter(new Headers(fields), NOW), ms);
  });
}
