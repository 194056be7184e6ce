import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { KitError, type Message } from "../../src/llm/mod.ts";
import { reactLoop } from "../../src/patterns/react_loop.ts";
import { chooseWindow } from "../../src/patterns/react_window.ts";
import { copyTranscript } from "../../src/patterns/transcript.ts";
import { manualPorts, MockProvider, type MockReply, mockToolCall } from "../../src/testing/mod.ts";

type Turn = { readonly kind: "user" | "assistant" } | {
  readonly kind: "tools";
  readonly count: number;
};

const turns = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom("user" as const, "assistant" as const) }),
    fc.record({ kind: fc.constant("tools" as const), count: fc.integer({ min: 1, max: 4 }) }),
  ),
  { minLength: 1, maxLength: 12 },
);

/** A conversation in which every message is one of its kind. */
function conversation(systems: number, list: readonly Turn[]): Message[] {
  const messages: Message[] = Array.from({ length: systems }, (_, index) => ({
    role: "system",
    content: `s${index}`,
  }));
  for (const [index, turn] of list.entries()) {
    if (turn.kind !== "tools") messages.push({ role: turn.kind, content: `${turn.kind} ${index}` });
    else {
      const ids = Array.from({ length: turn.count }, (_, call) => `t${index}-${call}`);
      messages.push({
        role: "assistant",
        content: null,
        toolCalls: ids.map((id) => mockToolCall("t", {}, id)),
      });
      for (const id of ids) {
        messages.push({ role: "tool", toolCallId: id, content: id.repeat(100) });
      }
    }
  }
  return messages;
}

function identity(message: Message): string {
  return message.role === "tool" ? message.toolCallId : JSON.stringify(message);
}

Deno.test("chooseWindow() shows whole blocks in order, the pinned ones always, within the limit where it can", () => {
  fc.assert(fc.property(
    fc.integer({ min: 0, max: 2 }),
    turns,
    fc.integer({ min: 1, max: 30 }),
    (systems, list, limit) => {
      const history = conversation(systems, list);
      const { messages, dropped } = chooseWindow(history, limit);
      copyTranscript(messages, undefined);
      const shown = messages.map(identity);
      assertEquals(shown, history.map(identity).filter((id) => shown.includes(id)));
      assertEquals(shown.length + dropped.length, history.length);
      assertEquals(
        messages.slice(0, systems).map(({ role }) => role),
        Array(systems).fill("system"),
      );
      const lastUser = history.findLast(({ role }) => role === "user");
      if (lastUser !== undefined) assert(shown.includes(identity(lastUser)));
      const lastTool = history.findLast(({ role }) => role === "tool");
      if (lastTool !== undefined) assert(shown.includes(identity(lastTool)));
      const lastCalls = history.findLast((message) =>
        message.role === "assistant" && message.toolCalls
      );
      const pinned = systems + (lastUser === undefined ? 0 : 1) +
        (lastCalls?.role === "assistant" ? 1 + (lastCalls.toolCalls?.length ?? 0) : 0);
      assert(messages.length <= Math.max(limit, pinned), `${messages.length} of ${limit}`);
    },
  ));
});

Deno.test("chooseWindow() shortens the oldest results of a block that is beyond the limit, not the newest", () => {
  const history = conversation(1, [{ kind: "user" }, { kind: "tools", count: 4 }]);
  const { messages } = chooseWindow(history, 4);
  const lengths = messages.filter(({ role }) => role === "tool").map(({ content }) =>
    content?.length
  );
  assertEquals(lengths, [200, 200, 200, 400]);
});

const replies = fc.array(
  fc.oneof(
    fc.integer({ min: 1, max: 3 }).map((count): MockReply => ({
      toolCalls: Array.from(
        { length: count },
        (_, index) =>
          mockToolCall(["good", "bad", "nope"][index] ?? "good", { n: index }, `c${index}`),
      ),
    })),
    fc.constant<MockReply>({
      content: "thinking aloud",
      toolCalls: [mockToolCall("good", {}, "c9")],
    }),
    fc.constant<MockReply>({
      toolCalls: [{
        kind: "invalid",
        id: "c0",
        name: "good",
        rawArguments: "{",
        problem: "not JSON",
      }],
    }),
    fc.constant<MockReply>("an answer"),
  ),
  { minLength: 1, maxLength: 8 },
);

Deno.test("reactLoop() never sends a conversation with a call unanswered, whatever the model does", async () => {
  await fc.assert(
    fc.asyncProperty(
      replies,
      fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
      fc.integer({ min: 1, max: 3 }),
      async (script, maxHistoryMessages, maxToolCallsPerRound) => {
        const parameters = { type: "object" };
        const model = new MockProvider(script, { cycle: true });
        const work = reactLoop(model, "Q?", {
          ports: manualPorts(),
          maxToolCallsPerRound,
          maxToolCalls: 6,
          system: "S",
          tools: [
            { name: "good", description: "", parameters, execute: () => "x".repeat(500) },
            {
              name: "bad",
              description: "",
              parameters,
              execute: () => Promise.reject(new Error("no")),
            },
          ],
          ...(maxHistoryMessages === undefined ? {} : { maxHistoryMessages }),
        });
        const messages = await work.then(
          ({ metadata }) => metadata.messages,
          (error) => {
            assert(error instanceof KitError, String(error));
            return (error.partial as { messages: readonly Message[] }).messages;
          },
        );
        copyTranscript(messages, undefined);
        for (const call of model.calls) {
          copyTranscript(call.messages, undefined);
          assert(call.messages.some(({ content }) => content === "Q?"));
          assert(
            call.messages.every((message) =>
              message.content !== "" && (message.content !== null || message.role === "assistant")
            ),
          );
        }
      },
    ),
    { numRuns: 60 },
  );
});

Deno.test("copyTranscript() refuses a call that is answered late or twice", () => {
  const call: Message = {
    role: "assistant",
    content: null,
    toolCalls: [mockToolCall("t", {}, "a")],
  };
  const result: Message = { role: "tool", toolCallId: "a", content: "x" };
  const user: Message = { role: "user", content: "u" };
  for (const messages of [[call, user, result], [call, result, result], [call]]) {
    assertThrows(() => copyTranscript(messages, undefined), KitError);
  }
  assertEquals(copyTranscript([call, result, user], "S").map(({ role }) => role), [
    "system",
    "assistant",
    "tool",
    "user",
  ]);
});
