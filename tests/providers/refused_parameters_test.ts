import { assertEquals } from "@std/assert";
import type { JsonObject } from "../../src/json/mod.ts";
import { LlmError } from "../../src/llm/mod.ts";
import { type Adjustments, adjustTo } from "../../src/providers/refused_parameters.ts";

function fresh(): Adjustments {
  return {
    dropped: new Set(),
    tokenLimitField: "max_tokens",
    replayReasoning: false,
    shortToolCallIds: false,
  };
}

function refusal(message: string, details: Readonly<Record<string, unknown>> = {}): LlmError {
  return new LlmError("bad_request", message, { details: { status: 400, ...details } });
}

const WITH_CALL = { messages: [{ role: "assistant", tool_calls: [{}] }] };

const known: [says: string, body: JsonObject, name: string, details?: Record<string, unknown>][] = [
  ["Unsupported parameter: 'stream_options'", { stream_options: {} }, "stream_options"],
  ["tool_choice is not supported by this model", { tool_choice: "none" }, "tool_choice"],
  ["Unrecognized request argument supplied: seed", { seed: 1 }, "seed"],
  [
    "Extra inputs are not permitted: reasoning_effort",
    { reasoning_effort: "low" },
    "reasoning_effort",
  ],
  ["json_schema is not supported", { response_format: {} }, "response_format"],
  ["Unsupported parameter", { temperature: 1 }, "temperature", { param: "temperature" }],
  ["Use 'max_completion_tokens' instead", { max_tokens: 1 }, "max_tokens"],
  ["Unknown field max_completion_tokens", { max_completion_tokens: 1 }, "max_completion_tokens"],
  ["Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9.", WITH_CALL, "tool_call_id"],
  [
    "The reasoning_content in the thinking mode must be passed back",
    WITH_CALL,
    "reasoning_content",
  ],
];
for (const [says, body, name, details] of known) {
  Deno.test(`adjustTo() knows "${says}"`, () => {
    assertEquals(adjustTo(refusal(says, details), body, fresh()), name);
  });
}

const unknown: [what: string, error: LlmError, body: JsonObject][] = [
  ["a field that was not sent", refusal("Unsupported parameter: seed"), {}],
  ["a limit that the caller broke", refusal("max_tokens must be <= 5000"), { max_tokens: 9 }],
  ["a temperature out of range", refusal("temperature must be <= 2"), { temperature: 3 }],
  ["another status", refusal("Unsupported parameter: seed", { status: 401 }), { seed: 1 }],
  [
    "another code",
    new LlmError("content_filter", "seed is not supported", {
      details: { status: 400 },
    }),
    { seed: 1 },
  ],
];
for (const [what, error, body] of unknown) {
  Deno.test(`adjustTo() leaves alone ${what}`, () => {
    const adjustments = fresh();
    assertEquals(adjustTo(error, body, adjustments), undefined);
    assertEquals(adjustments, fresh());
  });
}
