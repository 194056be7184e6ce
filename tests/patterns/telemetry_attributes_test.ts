import { assertEquals } from "@std/assert";
import {
  describeEnd,
  describePoint,
  describeStart,
} from "../../src/patterns/telemetry_attributes.ts";

const moment = { traceId: "0".repeat(32), spanId: "1".repeat(16), time: 0 };
const usage = { inputTokens: 7, outputTokens: 3, llmCalls: 2, uncertainTokens: 4 };

Deno.test("describeStart() names a call of a model by the conventions", () => {
  assertEquals(
    describeStart({
      ...moment,
      kind: "llm-call-start",
      provider: "anthropic",
      model: "m",
      temperature: 0.5,
      maxTokens: 9,
      seed: 1,
      streamed: true,
      sampleIndex: 2,
    }),
    {
      name: "chat m",
      isClient: true,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "m",
        "gen_ai.request.max_tokens": 9,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.seed": 1,
        "gen_ai.request.stream": true,
        "kit.sample.index": 2,
      },
    },
  );
});

Deno.test("describeStart() tells where an endpoint is and what its answer is read as", () => {
  const { attributes } = describeStart({
    ...moment,
    kind: "llm-call-start",
    streamed: false,
    outputType: "json",
    serverAddress: "models.example",
    serverPort: 8443,
  });
  assertEquals(
    [attributes["gen_ai.output.type"], attributes["server.address"], attributes["server.port"]],
    ["json", "models.example", 8443],
  );
});

Deno.test("describeStart() names tools, patterns, workflows and steps", () => {
  assertEquals(
    [
      describeStart({
        ...moment,
        kind: "tool-call-start",
        tool: "echo",
        toolCallId: "c1",
        arguments: "{}",
      }),
      describeStart({ ...moment, kind: "pattern-start", pattern: "consensus" }),
      describeStart({ ...moment, kind: "pattern-start", pattern: "workflow" }),
      describeStart({ ...moment, kind: "step-start", step: "fetch" }),
    ].map(({ name, attributes }) => [name, attributes]),
    [
      ["execute_tool echo", {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": "{}",
      }],
      ["invoke_agent consensus", {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "consensus",
      }],
      ["invoke_workflow workflow", {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.agent.name": "workflow",
      }],
      ["step fetch", { "kit.step.name": "fetch" }],
    ],
  );
});

Deno.test("describeEnd() tells what the endpoint reported, else what was charged", () => {
  const end = {
    ...moment,
    kind: "llm-call-end",
    status: "ok",
    durationMs: 5,
    attempts: 2,
    usage,
  } as const;
  const reported = { inputTokens: 5, outputTokens: 2, known: true };
  const attributes = describeEnd({ ...end, reported, finishReason: "stop", responseId: "r" });
  assertEquals(attributes, {
    "kit.attempts": 2,
    "gen_ai.response.id": "r",
    "gen_ai.response.finish_reasons": ["stop"],
    "gen_ai.usage.input_tokens": 5,
    "gen_ai.usage.output_tokens": 2,
    "kit.usage.uncertain_tokens": 4,
  });
  const unknown = describeEnd({ ...end, reported: { ...reported, known: Boolean(0) } });
  assertEquals(unknown["gen_ai.usage.input_tokens"], 7);
});

Deno.test("describeEnd() gives every end that is no success an error.type, an abandoned stream none", () => {
  const end = { ...moment, kind: "pattern-end", durationMs: 1 } as const;
  assertEquals(
    describeEnd({ ...end, status: "error", errorCode: "budget" })["error.type"],
    "budget",
  );
  assertEquals(describeEnd({ ...end, status: "aborted" })["error.type"], "aborted");
  assertEquals(describeEnd({ ...end, status: "abandoned" }), { "kit.abandoned": true });
});

Deno.test("describePoint() keeps what happened within a span", () => {
  assertEquals(
    [
      describePoint({
        ...moment,
        kind: "llm-attempt",
        attempt: 1,
        errorCode: "server",
        httpStatus: 503,
        retryInMs: 9,
      }),
      describePoint({
        ...moment,
        kind: "approval-decide",
        action: "tool_call",
        subject: "t",
        approved: false,
      }),
      describePoint({ ...moment, kind: "route-select", route: "large" }),
      describePoint({ ...moment, kind: "checkpoint", name: "round 1", stored: true }),
    ],
    [
      {
        name: "kit.llm-attempt",
        attributes: {
          "kit.attempt": 1,
          "error.type": "server",
          "http.response.status_code": 503,
          "kit.retry_in_ms": 9,
        },
      },
      {
        name: "kit.approval-decide",
        attributes: {
          "kit.approval.action": "tool_call",
          "kit.approval.subject": "t",
          "kit.approval.approved": false,
        },
      },
      { name: "kit.route-select", attributes: { "kit.route": "large" } },
      {
        name: "kit.checkpoint",
        attributes: { "kit.checkpoint.name": "round 1", "kit.checkpoint.stored": true },
      },
    ],
  );
});
