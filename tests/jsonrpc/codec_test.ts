import { assertEquals } from "@std/assert";
import {
  byteLength,
  decodeLine,
  encodeLine,
  failure,
  type Incoming,
  success,
} from "../../src/jsonrpc/mod.ts";

function codeOf(incoming: Incoming): number | undefined {
  return incoming.kind === "invalid" ? incoming.error.code : undefined;
}

function nested(levels: number, open: string, close: string): string {
  const meta = `${open.repeat(levels)}1${close.repeat(levels)}`;
  return `{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":${meta}}}`;
}

const cases: [what: string, line: string, code: number | undefined][] = [
  ["takes 510 arrays within an object within params", nested(510, "[", "]"), undefined],
  ["refuses 20,000 arrays", nested(20_000, "[", "]"), -32700],
  ["refuses 20,000 objects", nested(20_000, '{"a":', "}"), -32700],
  [
    "counts no bracket within a text",
    `{"jsonrpc":"2.0","method":"${"[{".repeat(2_000)}"}`,
    undefined,
  ],
  [
    "sees through an escaped quote",
    `{"jsonrpc":"2.0","method":"\\"${"[".repeat(2_000)}\\\\"}`,
    undefined,
  ],
  [
    "takes many arrays side by side",
    `{"jsonrpc":"2.0","method":"a","params":{"a":[${"[],".repeat(2_000)}[]]}}`,
    undefined,
  ],
  ["refuses a NUL within a line", `{"jsonrpc":"2.0",\u0000"method":"ping"}`, -32700],
  ["refuses what is not JSON", "not json", -32700],
  ["refuses a text that ends early", '{"jsonrpc":"2.0",', -32700],
  ["takes blanks around a message", ' \t{"jsonrpc":"2.0","method":"ping"} \r', undefined],
];
for (const [what, line, code] of cases) {
  Deno.test(`decodeLine() ${what}`, () => {
    assertEquals(codeOf(decodeLine(line)), code);
  });
}

Deno.test("decodeLine() lets the last of equal keys win", () => {
  const incoming = decodeLine('{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}');
  assertEquals(incoming.kind === "request" && incoming.id, 2);
});

const escapes: [what: string, text: string, encoded: string][] = [
  ["line feeds", "a\nb", "a\\nb"],
  ["carriage returns", "a\rb", "a\\rb"],
  ["U+2028 and U+2029", "a\u2028\u2029b", "a\\u2028\\u2029b"],
  ["U+0085", "a\u0085b", "a\\u0085b"],
  ["a lone high surrogate", "a\ud83db", "a\\ud83db"],
  ["a lone low surrogate", "a\ude00b", "a\\ude00b"],
];
for (const [what, text, encoded] of escapes) {
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

Deno.test("byteLength() counts bytes, not characters", () => {
  assertEquals(["a", "é", "€", "😀"].map(byteLength), [1, 2, 3, 4]);
});
