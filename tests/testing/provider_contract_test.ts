import { recordProvider, replayProvider } from "../../src/testing/mod.ts";
import { ManualClock, MockProvider, type MockReplyParts } from "../../src/testing/mod.ts";
import { type CreateProvider, testProvider } from "../contracts/provider.ts";

const GREETING: MockReplyParts = {
  content: "Hello there",
  usage: { inputTokens: 7, outputTokens: 3 },
};

function mock(behaviour: "answer" | "hang"): MockProvider {
  const delayMs = behaviour === "hang" ? 1_000_000 : 0;
  return new MockProvider([{ ...GREETING, delayMs }], { clock: new ManualClock() });
}

const createMock: CreateProvider = (behaviour) => {
  const provider = mock(behaviour);
  return { provider, requests: () => provider.callCount };
};
testProvider("MockProvider", createMock);

testProvider("recordProvider()", (behaviour) => {
  const behind = mock(behaviour);
  return { provider: recordProvider(behind), requests: () => behind.callCount };
});

const recorder = recordProvider(mock("answer"));
await recorder.complete([{ role: "user", content: "Greet me" }]);
testProvider(
  "replayProvider()",
  (behaviour) =>
    behaviour === "hang" ? undefined : { provider: replayProvider(recorder.recording()) },
);
