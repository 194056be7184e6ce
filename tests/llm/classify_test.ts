import { assertEquals, assertStrictEquals } from "@std/assert";
import { classifyFetchError } from "../../src/llm/classify.ts";
import { type KitErrorCode, LlmError } from "../../src/llm/errors.ts";

function named(name: string, message: string, code?: string): Error {
  return Object.assign(new Error(message), { name }, code === undefined ? {} : { code });
}

const classes: [what: string, thrown: unknown, code: KitErrorCode, retryable: boolean][] = [
  ["an abort", new DOMException("The signal has been aborted", "AbortError"), "aborted", false],
  [
    "a time-out of a signal",
    new DOMException("Signal timed out.", "TimeoutError"),
    "timeout",
    true,
  ],
  [
    "a time-out beneath",
    new TypeError("fetch failed", {
      cause: named("ConnectTimeoutError", "", "UND_ERR_CONNECT_TIMEOUT"),
    }),
    "timeout",
    true,
  ],
  [
    "a refused connection beneath",
    new TypeError("fetch failed", { cause: named("Error", "connect", "ECONNREFUSED") }),
    "network",
    true,
  ],
  [
    "a failed connection in words",
    new TypeError(
      "error sending request for url (http://h/): client error (Connect): tcp connect error",
    ),
    "network",
    true,
  ],
  [
    "a name that does not resolve",
    new TypeError("dns error: failed to lookup address"),
    "network",
    true,
  ],
  [
    "a port that fetch never connects to",
    new TypeError("Fetch failed: Requests to port 6000 are blocked"),
    "config",
    false,
  ],
  ["a reset", named("Error", "read ECONNRESET", "ECONNRESET"), "network", true],
  ["a reset by name", named("ConnectionReset", "Connection reset by peer"), "network", true],
  [
    "a body that breaks off",
    new TypeError("error reading a body from connection"),
    "network",
    true,
  ],
  ["a socket that hangs up", named("Error", "socket hang up"), "network", true],
  ["a fault of the program", new RangeError("out of range"), "server", false],
  ["a text", "just a text", "server", false],
  ["nothing", undefined, "server", false],
  [
    "a number of tokens in an innocent text",
    new Error("timeout of overloaded network 429"),
    "server",
    false,
  ],
];
for (const [what, thrown, code, retryable] of classes) {
  Deno.test(`classifyFetchError() takes ${what} for ${code}`, () => {
    const error = classifyFetchError(thrown);
    assertEquals([error.code, error.retryable], [code, retryable]);
    assertStrictEquals(error.cause, thrown);
  });
}

Deno.test("classifyFetchError() leaves an error of Kit as it is", () => {
  const error = new LlmError("quota", "x");
  assertStrictEquals(classifyFetchError(error), error);
});

Deno.test("classifyFetchError() tells what never left", () => {
  assertEquals(classifyFetchError(named("Error", "", "ENOTFOUND")).details, { sent: false });
  assertEquals(classifyFetchError(named("Error", "", "ECONNRESET")).details, {});
});

Deno.test("classifyFetchError() ends where causes go in a circle", () => {
  const one = new Error("one");
  const other = new Error("other", { cause: one });
  one.cause = other;
  assertEquals(classifyFetchError(one).code, "server");
});

Deno.test("classifyFetchError() survives an object whose members throw", () => {
  const hostile = new Proxy({}, {
    get: () => {
      throw new Error("no");
    },
  });
  assertEquals(classifyFetchError(hostile).code, "server");
});
