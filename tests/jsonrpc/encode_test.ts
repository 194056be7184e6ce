import { assertEquals } from "@std/assert";
import { encodeLine, failure, notification, success } from "../../src/jsonrpc/mod.ts";

const cases: [what: string, text: string, encoded: string][] = [
  ["line feeds", "a\nb", "a\\nb"],
  ["carriage returns", "a\rb", "a\\rb"],
  ["U+2028 and U+2029", "a\u2028\u2029b", "a\\u2028\\u2029b"],
  ["U+0085", "a\u0085b", "a\\u0085b"],
  ["a lone high surrogate", "a\ud83db", "a\\ud83db"],
  ["a lone low surrogate", "a\ude00b", "a\\ude00b"],
];
for (const [what, text, encoded] of cases) {
  Deno.test(`encodeLine() escapes ${what}`, () => {
    const line = encodeLine(success(1, { text }));
    assertEquals(line, `{"jsonrpc":"2.0","id":1,"result":{"text":"${encoded}"}}`);
    assertEquals(JSON.parse(line).result.text, text);
  });
}

Deno.test("encodeLine() leaves a whole emoji as it is", () => {
  assertEquals(
    encodeLine(success("é", { t: "😀" })),
    '{"jsonrpc":"2.0","id":"é","result":{"t":"😀"}}',
  );
});

Deno.test("failure() leaves out an id that could not be read", () => {
  assertEquals(failure(undefined, { code: -32700, message: "m" }), {
    jsonrpc: "2.0",
    error: { code: -32700, message: "m" },
  });
});

Deno.test("encodeLine() writes the answers to a batch as one array", () => {
  const line = encodeLine([success(1, {}), notification("a", {})]);
  assertEquals(
    line,
    '[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"a","params":{}}]',
  );
});
