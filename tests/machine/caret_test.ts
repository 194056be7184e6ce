import { assert, assertEquals } from "@std/assert";
import { placeholderOffset } from "../../src/machine/caret.ts";
import { checkMachine, loadReader } from "../../src/machine/mod.ts";

const { parseMachine } = await loadReader();

/** Where a check points in a prompt that is written in some way: the source from there on. */
function pointsAt(written: string): string {
  const source = `machine: m
entry: a
budget: 3
context: { known: 1 }
states:
  a:
    prompt: ${written}
    structure: s
    output: o
    gates: [{ when: otherwise, then: ok, to: END }]
`;
  const { machine } = parseMachine(source);
  assert(machine !== undefined);
  const [finding] = checkMachine(machine);
  assertEquals(finding?.code, "unresolved-root");
  const { line = 1, column = 1 } = finding?.position ?? {};
  const lines = source.split(/\r?\n/);
  return Array.from(lines[line - 1] ?? "").slice(column - 1).join("").slice(0, 12);
}

const layouts: [what: string, written: string, found: string][] = [
  ["a plain text", "about {{known}} and {{lost}} things", "{{lost}} thi"],
  ["a plain text over lines", "about\n      {{known}} and\n      one {{lost}}", "{{lost}}"],
  ["a text in single quotes", "'it''s {{ lost }} here'", "{{ lost }} h"],
  ["a text in double quotes", '"\\"a\\" \\\\ \\n{{lost}} \\x41"', "{{lost}} \\x4"],
  ["a text after wide characters", "'😀 é {{lost}}'", "{{lost}}'"],
  ["a literal block", "|\n      # one {{known}}\n      two {{lost}}", "{{lost}}"],
  ["a folded block with a comment", ">- # {{lost}}\n      one\n      two {{lost}} x", "{{lost}} x"],
  ["a placeholder over lines", "'one {{\n      lost}}'", "{{"],
  ["a text with an anchor", '&here "{{lost}}"', '{{lost}}"'],
  ["a path of the same start", "'{{known}} {{lost.one}} {{lost}}'", "{{lost.one}}"],
];
for (const [what, written, found] of layouts) {
  Deno.test(`checkMachine() points at the placeholder in ${what}`, () => {
    assertEquals(pointsAt(written), found);
  });
}

const hidden: [what: string, written: string, found: string][] = [
  ["an escape may stand for a part of it", '"\\u00e9 {{lost}}"', '"\\u00e9 {{lo'],
];
for (const [what, written, found] of hidden) {
  Deno.test(`checkMachine() points at the start of the text where ${what}`, () => {
    assertEquals(pointsAt(written), found);
  });
}

Deno.test("placeholderOffset() finds none where the text is written elsewhere", () => {
  const place = { text: "go {{x}}", path: "x" };
  assertEquals(placeholderOffset("a: *go\nb: go {{x}}", 3, place), undefined);
  assertEquals(placeholderOffset("a: go", 3, place), undefined);
  assertEquals(placeholderOffset("a: go {{x}}", 3, { ...place, text: "go" }), undefined);
  assertEquals(placeholderOffset("a: go {{x}}", 3, place), 6);
});
