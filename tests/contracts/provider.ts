/** What every provider does, whatever is behind it. */
import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { AbortedError, KitError, type LlmProvider, type StreamEvent } from "../../src/llm/mod.ts";

/** A key that must not show up anywhere. */
export const CONTRACT_KEY = "sk-contract-0123456789";

/** A provider as the contract wants it. */
export interface ProviderUnderTest {
  /** The provider, made with {@linkcode CONTRACT_KEY} if it takes a key. */
  readonly provider: LlmProvider;
  /** How many requests were sent so far, or `undefined` if nothing is ever sent. */
  readonly requests?: () => number;
}

/**
 * Makes the provider: `answer` answers "Hello there" with counts of 7 and 3 tokens, in several parts if streamed; `hang`
 * never answers, or `undefined` if it cannot be made to.
 */
export type CreateProvider = (behaviour: "answer" | "hang") => ProviderUnderTest | undefined;

const MESSAGES = [{ role: "user", content: "Greet me" }] as const;

/**
 * Registers the tests of the contract.
 *
 * @param name The provider's name, for the names of the tests.
 * @param create Makes one.
 */
export function testProvider(name: string, create: CreateProvider): void {
  const answering = (): ProviderUnderTest => {
    const made = create("answer");
    assert(made !== undefined);
    return made;
  };

  Deno.test(`${name} answers with text, calls, a reason, counts and warnings`, async () => {
    const response = await answering().provider.complete(MESSAGES);
    assertEquals([response.content, response.toolCalls, response.finishReason], [
      "Hello there",
      [],
      "stop",
    ]);
    assert(Number.isInteger(response.usage.inputTokens) && response.usage.known);
    assert(Array.isArray(response.warnings));
  });

  Deno.test(`${name} makes one request for each complete()`, async () => {
    const { provider, requests } = answering();
    await provider.complete(MESSAGES);
    if (requests !== undefined) assertEquals(requests(), 1);
  });

  Deno.test(`${name} gives the same answer in parts`, async () => {
    const { provider } = answering();
    const events: StreamEvent[] = [];
    for await (const event of provider.stream?.(MESSAGES) ?? []) events.push(event);
    if (provider.stream === undefined) return;
    const text = events.map((event) => event.type === "text" ? event.text : "").join("");
    const done = events.at(-1);
    assert(done?.type === "done");
    assertEquals([text, done.response.content], ["Hello there", "Hello there"]);
    assertEquals(events.filter((event) => event.type === "done").length, 1);
  });

  Deno.test(`${name} sends nothing where the signal has fired`, async () => {
    const { provider, requests } = answering();
    const signal = AbortSignal.abort("before");
    const error = await assertRejects(
      () => provider.complete(MESSAGES, { signal }),
      AbortedError,
    );
    assertEquals([error.code, error.cause], ["aborted", "before"]);
    if (requests !== undefined) assertEquals(requests(), 0);
  });

  Deno.test(`${name} stops in the middle of a request when the signal fires`, async () => {
    const hanging = create("hang");
    if (hanging === undefined) return;
    const controller = new AbortController();
    const answer = hanging.provider.complete(MESSAGES, { signal: controller.signal });
    await Promise.resolve();
    controller.abort("enough");
    assertEquals((await assertRejects(() => answer, AbortedError)).cause, "enough");
  });

  Deno.test(`${name} refuses a conversation without a message, with an error of Kit`, async () => {
    const error = await assertRejects(() => answering().provider.complete([]), KitError);
    assertFalse(error.retryable);
  });

  Deno.test(`${name} does not change the messages it is given`, async () => {
    const messages = Object.freeze([Object.freeze({ role: "user", content: "Greet me" } as const)]);
    await answering().provider.complete(messages);
  });

  Deno.test(`${name} shows no key in any text form`, () => {
    const { provider } = answering();
    for (const text of [Deno.inspect(provider), String(provider), JSON.stringify(provider)]) {
      assertFalse((text ?? "").includes(CONTRACT_KEY));
    }
  });

  Deno.test(`${name} has capability flags that are booleans`, () => {
    const { provider } = answering();
    for (
      const flag of ["supportsTools", "supportsReasoning", "supportsResponseFormat"] as const
    ) {
      assert([true, false, undefined].includes(provider[flag]));
    }
  });
}
