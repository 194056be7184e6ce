import { assertEquals } from "@std/assert";
import { calculatorTool, echoTool } from "../../src/patterns/builtin_tools.ts";
import { reactLoop } from "../../src/patterns/react_loop.ts";
import { manualPorts, MockProvider, mockToolCall } from "../../src/testing/mod.ts";

const context = { signal: new AbortController().signal, toolCallId: "call_1" };

const rows: [expression: string, output: string][] = [
  ["17 * 83", "1411"],
  ["4/2", "2"],
  ["2**-1", "0.5"],
  ["7 % -3", "-2"],
  ["-2**2", "-4"],
  ["9007199254740993", "9007199254740993"],
  ["9**9**9", "Error: exponent over 1024"],
  ["1e308*10", "Error: result too large"],
  ["(-8)**0.5", "Error: result is not a real number"],
  ["1/0", "Error: division by zero"],
  ["__import__('os')", "Error: unexpected character at position 1"],
  ["1+".repeat(300), "Error: expression over 512 characters"],
];
for (const [expression, output] of rows) {
  Deno.test(`W48 calculatorTool gives ${output} for ${expression.slice(0, 20)}`, () => {
    assertEquals(calculatorTool.execute({ expression }, context), output);
  });
}

Deno.test("echoTool gives its text back, bounded by the loop", async () => {
  const text = "x".repeat(15_000);
  const model = new MockProvider([{ toolCalls: [mockToolCall("echo", { text })] }, "ok"]);
  const { metadata } = await reactLoop(model, "Q?", { tools: [echoTool], ports: manualPorts() });
  const told = metadata.messages[2];
  assertEquals(JSON.parse(told?.content ?? "").output, `${"x".repeat(11_988)}\n[truncated]`);
  assertEquals(metadata.truncatedObservations, 1);
});

Deno.test("calculatorTool and echoTool have closed schemas and five seconds", () => {
  assertEquals(
    [calculatorTool, echoTool].map(({ name, parameters, timeoutMs }) => ({
      name,
      required: parameters["required"],
      closed: parameters["additionalProperties"],
      timeoutMs,
    })),
    [
      { name: "calculator", required: ["expression"], closed: false, timeoutMs: 5000 },
      { name: "echo", required: ["text"], closed: false, timeoutMs: 5000 },
    ],
  );
});
