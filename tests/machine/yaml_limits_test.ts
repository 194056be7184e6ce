import { assert, assertEquals } from "@std/assert";
import { parseMachine } from "../../src/machine/reader.ts";
import { readYamlDocument } from "../../src/machine/yaml_document.ts";

function codes(text: string): string[] {
  return readYamlDocument(text).diagnostics.filter(({ severity }) => severity === "error")
    .map(({ code }) => code);
}

const hostile: [what: string, text: () => string, code: string][] = [
  ["lists nested a million deep", () => "[".repeat(1_000_000), "too-deep"],
  ["mappings nested a million deep", () => "{a: ".repeat(1_000_000), "too-deep"],
  ["block lists nested on one line", () => "- ".repeat(1_000_000), "too-deep"],
  ["keys nested on one line", () => "a: ".repeat(200_000), "too-deep"],
  ["more text than is read", () => "x".repeat(16 * 1024 * 1024 + 1), "too-long"],
  ["more tokens than are read", () => "[" + "1,".repeat(1_100_000) + "]", "too-large"],
  ["aliases of aliases", laughs, "alias-limit"],
  ["a huge number of documents", () => "---\n".repeat(50_000), "several-documents"],
];
for (const [what, text, code] of hostile) {
  Deno.test(`readYamlDocument() ends ${what} in ${code}`, () => {
    assert(codes(text()).includes(code));
  });
}

/** Nine lists of nine aliases each: 9^9 strings if they were expanded. */
function laughs(): string {
  const lines = ["a: &a [x, x, x, x, x, x, x, x, x]"];
  const names = "abcdefghi";
  for (let i = 1; i < names.length; i++) {
    lines.push(`${names[i]}: &${names[i]} [${Array(9).fill(`*${names[i - 1]}`).join(", ")}]`);
  }
  return lines.join("\n");
}

Deno.test("readYamlDocument() reads lists nested 100 deep and refuses 101", () => {
  assertEquals(codes("[".repeat(100) + "]".repeat(100)), []);
  assertEquals(codes("[".repeat(101) + "]".repeat(101)), ["too-deep"]);
});

Deno.test("readYamlDocument() reports a line of 100,000 errors without growing its report", () => {
  const { diagnostics } = readYamlDocument(`a: [${"*x, ".repeat(100_000)}]`);
  assertEquals(diagnostics.length, 201);
});

const endless: [what: string, text: string][] = [
  ["headers of block scalars", "- when: " + "|\n".repeat(100_000)],
  ["list items within brackets", "a: [" + "- b\n".repeat(100_000)],
  ["brackets that close nothing", "} ".repeat(100_000)],
];
for (const [what, text] of endless) {
  Deno.test(`readYamlDocument() gives up after 1,000 problems with ${what}`, () => {
    const { value, broken, diagnostics } = readYamlDocument(text);
    assertEquals([value === undefined, broken], [true, true]);
    assert(diagnostics.length <= 201);
  });
}

Deno.test("parseMachine() counts the problems it does not show behind those it shows", () => {
  const keys = Array.from({ length: 300 }, (_, index) => `k${index}: *none`).join("\n");
  const { diagnostics } = parseMachine(keys);
  const shown = diagnostics.findIndex(({ code }) => code === "more-problems");
  assert(shown >= 200);
  assert(diagnostics.slice(shown).every(({ code }) => code === "more-problems"));
});

Deno.test("readYamlDocument() reads a scalar of ten million characters", () => {
  const { value } = readYamlDocument(`a: "${"x".repeat(10_000_000)}"`);
  assert(typeof value === "object" && value !== null);
  assertEquals(String(Reflect.get(value, "a")).length, 10_000_000);
});
