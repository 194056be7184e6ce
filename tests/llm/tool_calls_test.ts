import { assert, assertEquals } from "@std/assert";
import { readToolArguments, toolCallsInText } from "../../src/llm/tool_calls.ts";

type Raw = Parameters<typeof readToolArguments>[0];

const usable: [what: string, raw: Raw, json: string, repaired: boolean][] = [
  ["nothing as an empty object", undefined, "{}", false],
  ["null as an empty object", null, "{}", false],
  ["blanks as an empty object", " \n", "{}", false],
  ["an object as it is", { a: 1 }, '{"a":1}', false],
  ["a text of an object", '{"a": 1}', '{"a":1}', false],
  ["a text of null as an empty object", "null", "{}", false],
  ["a text of a text of an object", '"{\\"a\\": 1}"', '{"a":1}', true],
  ["the same object twice", '{"a": 1}{"a": 1}', '{"a":1}', true],
  ["an object after an empty one", '{} {"a": 1}', '{"a":1}', true],
  ["a brace too many", '{"a": 1}}', '{"a":1}', true],
  ["a comma too many", '{"a": 1,}', '{"a":1}', true],
  ["Python", "{'a': True}", '{"a":true}', true],
  ["a line break within a text", '{"a": "x\ny"}', '{"a":"x\\ny"}', true],
];
for (const [what, raw, json, repaired] of usable) {
  Deno.test(`readToolArguments() takes ${what}`, () => {
    const read = readToolArguments(raw);
    assert(read.kind === "ok");
    assertEquals([JSON.stringify(read.arguments), read.repaired], [json, repaired]);
  });
}

const unusable: [what: string, raw: Raw][] = [
  ["a list", "[1]"],
  ["a list that is no text", [1]],
  ["a number", "3"],
  ["a text of words", '"hello"'],
  ["two different objects", '{"a": 1}{"a": 2}'],
  ["an object that ends too early", '{"a": "x'],
  ["a word without quotes", '{"a": listt"}'],
  ["an integer that loses digits", '{"a": 9007199254740993}'],
  ["words", "do it"],
  ["an object with words behind", '{"a": 1} please'],
];
for (const [what, raw] of unusable) {
  Deno.test(`readToolArguments() cannot use ${what}`, () => {
    assertEquals(readToolArguments(raw).kind, "invalid");
  });
}

Deno.test("readToolArguments() mends nothing of an answer that was cut off", () => {
  assertEquals(readToolArguments('{"a": 1,}', { truncated: true }).kind, "invalid");
  assertEquals(readToolArguments('{"a": 1}', { truncated: true }).kind, "ok");
});

const calls: [what: string, text: string, names: string[]][] = [
  ["an object", '{"name": "add", "arguments": {"a": 1}}', ["add"]],
  ["other words for arguments", '{"name": "add", "parameters": {}}', ["add"]],
  ["a list", '[{"name": "add", "args": {}}, {"name": "sub", "args": {}}]', ["add", "sub"]],
  ["a fence", '```json\n{"name": "add", "arguments": {}}\n```', ["add"]],
  ["tags", '<tool_call>\n{"name": "add", "arguments": {}}\n</tool_call>', ["add"]],
  ["the wire's own shape", '{"type": "function", "function": {"name": "add", "arguments": "{}"}}', [
    "add",
  ]],
];
for (const [what, text, names] of calls) {
  Deno.test(`toolCallsInText() takes ${what} for calls`, () => {
    const found = toolCallsInText(text, ["add", "sub"]) ?? [];
    assertEquals(found.map((call) => call.name), names);
    assertEquals(new Set(found.map((call) => call.id)).size, names.length);
    assert(found.every((call) => call.kind === "ok" && call.repaired === true));
  });
}

const answers: [what: string, text: string][] = [
  ["a call within prose", 'Sure: {"name": "add", "arguments": {}}'],
  ["prose behind a call", '{"name": "add", "arguments": {}} does it'],
  ["a tool that was not offered", '{"name": "rm", "arguments": {}}'],
  ["an object with more in it", '{"name": "add", "arguments": {}, "note": 1}'],
  ["an object without arguments", '{"name": "add"}'],
  ["a list with something else in it", '[{"name": "add", "args": {}}, 1]'],
  ["an empty list", "[]"],
  ["a name that every object inherits", '{"name": "toString", "arguments": {}}'],
];
for (const [what, text] of answers) {
  Deno.test(`toolCallsInText() takes ${what} for an answer`, () => {
    assertEquals(toolCallsInText(text, ["add", "sub"]), undefined);
  });
}

Deno.test("toolCallsInText() looks for nothing where no tool was offered", () => {
  assertEquals(toolCallsInText('{"name": "add", "arguments": {}}', []), undefined);
});
