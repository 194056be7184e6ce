import { assert, assertEquals } from "@std/assert";
import type { JsonValue } from "../../src/json/mod.ts";
import { readYamlDocument } from "../../src/machine/yaml_document.ts";

/** Code, line and column of each problem. */
function found(text: string): string[] {
  return readYamlDocument(text).diagnostics.map(({ code, position }) =>
    `${code} ${position?.line}:${position?.column}`
  );
}

/** What JSON makes of the value: objects without prototype compare as ordinary ones. */
function valueOf(text: string): JsonValue {
  return JSON.parse(JSON.stringify(readYamlDocument(text).value ?? null));
}

const values: [what: string, text: string, value: JsonValue][] = [
  ["words of YAML 1.1 as text", "a: no\nb: off\nc: yes\nd: y\ne: true", {
    a: "no",
    b: "off",
    c: "yes",
    d: "y",
    e: true,
  }],
  ["integers of YAML 1.2", "a: 010\nb: 0o17\nc: 0x1F\nd: '010'\ne: -3", {
    a: 10,
    b: 15,
    c: 31,
    d: "010",
    e: -3,
  }],
  ["floats", "a: 1.5\nb: 1e3\nc: .5\nd: -0.0", { a: 1.5, b: 1000, c: 0.5, d: 0 }],
  ["the words for null", "a: null\nb: ~\nc:\nd: Null", { a: null, b: null, c: null, d: null }],
  ["dates as text", "a: 2026-01-01", { a: "2026-01-01" }],
  ["block scalars", "a: |\n  x # y\n  z\nb: >-\n  x\n  y\n", { a: "x # y\nz\n", b: "x y" }],
  ["CRLF as LF", "a: |\r\n  x\r\n  y\r\nb: 1\r\n", { a: "x\ny\n", b: 1 }],
  ["a byte order mark as nothing", "\ufeffa: 1", { a: 1 }],
  ["a document marker", "---\na: 1\n...\n", { a: 1 }],
  ["keys as they are written", "1: a\ntrue: b\nnull: c\n0x1: d", {
    "1": "a",
    "true": "b",
    "null": "c",
    "0x1": "d",
  }],
  ["anchors and aliases", "a: &x [1, 2]\nb: *x\nc: *x", { a: [1, 2], b: [1, 2], c: [1, 2] }],
  ["an alias as a key", "a: &x key\n*x : 1", { a: "key", key: 1 }],
  ["a merged mapping below its own keys", "a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3", {
    a: { p: 1, q: 2 },
    b: { p: 1, q: 3 },
  }],
  ["several merged mappings, the first of them first", "b:\n  <<: [{p: 1}, {p: 2, q: 2}]", {
    b: { p: 1, q: 2 },
  }],
  ["a quoted merge key as a key", 'b: {"<<": 1}', { b: { "<<": 1 } }],
  ["core tags", "a: !!str 5\nb: !!int '7'\nc: !!map {x: 1}\nd: ! 5", {
    a: "5",
    b: 7,
    c: { x: 1 },
    d: "5",
  }],
  ["a second anchor of the same name for what follows", "a: &x 1\nb: *x\nc: &x 2\nd: *x", {
    a: 1,
    b: 1,
    c: 2,
    d: 2,
  }],
];
for (const [what, text, value] of values) {
  Deno.test(`readYamlDocument() reads ${what}`, () => {
    assertEquals(valueOf(text), value);
    assertEquals(readYamlDocument(text).diagnostics.filter((d) => d.severity === "error"), []);
  });
}

Deno.test("readYamlDocument() keeps __proto__ as a key without touching any prototype", () => {
  const { value, diagnostics } = readYamlDocument(
    "c:\n  <<: { __proto__: { admin: true } }\n  a: 1\n__proto__: { admin: true }",
  );
  assertEquals(diagnostics, []);
  assertEquals(Reflect.get({}, "admin"), undefined);
  assert(typeof value === "object" && value !== null);
  assertEquals(Object.getPrototypeOf(value), null);
  assertEquals(Object.keys(value), ["c", "__proto__"]);
  assertEquals(Reflect.get(value, "admin"), undefined);
});

Deno.test("readYamlDocument() shares the value of an alias with its anchor", () => {
  const { value } = readYamlDocument(`g: &g {to: END}\nl: [${Array(150).fill("*g").join(", ")}]`);
  assert(typeof value === "object" && value !== null && !Array.isArray(value));
  const list = Reflect.get(value, "l");
  assertEquals(list.length, 150);
  assert(list.every((item: unknown) => item === Reflect.get(value, "g")));
});

const broken: [what: string, text: string, problems: string[]][] = [
  ["a duplicate key", 'a: 1\n"a": 2', ["duplicate-key 2:1"]],
  ["a duplicate key of a flow mapping", "a: {b: 1, b: 2}", ["duplicate-key 1:11"]],
  ["a tab as indentation", "a:\n\tb: 1\n\tc: 2", ["tab-indent 2:1", "tab-indent 3:1"]],
  ["a tab behind spaces", "a:\n  b: 1\n  \tc: 2", ["tab-indent 3:3"]],
  ["a no-break space as indentation", "a:\n\u00a0b: 1\nc: 2", ["nbsp-indent 2:1"]],
  ["an unquoted placeholder", "p: {{q}}", ["unquoted-placeholder 1:4"]],
  ["an unquoted placeholder with text behind", "p: {{q}} please", ["unquoted-placeholder 1:4"]],
  ["unquoted placeholders, one report a line", "p: [ {{a}}, {{b}} c ]", [
    "unquoted-placeholder 1:6",
  ]],
  ["an unquoted placeholder over two lines", "p: {{q}}\n  more", ["unquoted-placeholder 1:4"]],
  ["a second colon", "p: answer: maybe", ["colon-in-text 1:4"]],
  ["two lines with a second colon each", "p: a: b\nq: c: d", [
    "colon-in-text 1:4",
    "colon-in-text 2:4",
  ]],
  ["a line that is indented too far", "a: s\n  b: p", ["bad-indent 1:4"]],
  ["a line that is indented too little", "a:\n    b: 1\n  c: 2\n    d: 3", ["bad-indent 3:1"]],
  ["a missing colon", "a: 1\nprompt p\nb: 2", ["missing-colon 2:1"]],
  ["a colon without a space", "a: 1\nprompt:p\nb: 2", ["missing-colon 2:1"]],
  ["an open bracket", "a: {b: 1\nc: 2", ["unclosed-bracket 2:1"]],
  ["a closing bracket too many", "a: }", ["extra-bracket 1:4"]],
  ["a missing comma", "a: {when: x then: ok}", ["missing-comma 1:11"]],
  ["a comma too many", "a: {b: 1,, c: 2}", ["extra-comma 1:10"]],
  ["an open quotation, where it opens", 'a: 1\nb: "x\nc: 2\n', ["unclosed-quote 2:4"]],
  ["text behind a quotation", "a: 'it's'", ["text-after-value 1:8"]],
  ["text behind a list", "a: [x] tick", ["text-after-value 1:8"]],
  ["a bad escape", 'a: "x\\d"', ["bad-escape 1:6"]],
  ["a reserved character", "a: @x\nb: `y`", ["reserved-character 1:4", "reserved-character 2:4"]],
  ["text on the line of a block scalar", "a: > text\nb: 1", ["block-header 1:6"]],
  ["a list on the line of its key", "a: - x", ["list-on-key-line 1:4"]],
  ["a comment without a space", 'a: "b"#c', ["comment-space 1:7"]],
  ["an alias without an anchor", "a: *x", ["unknown-alias 1:4"]],
  ["an alias that was meant as text", "a: *very* much", ["unknown-alias 1:4"]],
  ["an alias inside its own anchor", "a: &x [*x]", ["alias-cycle 1:8"]],
  ["a tag of one's own", "a: !thing 5", ["custom-tag 1:11"]],
  ["a tag of YAML 1.1", "a: !!binary aGk=", ["custom-tag 1:13"]],
  ["a tag on a key", "!x a: 1", ["custom-tag 1:4"]],
  ["a number tag on a text", "a: !!int abc", ["bad-tag 1:10"]],
  ["an integer beyond 2^53", "a: 9007199254740993\nb: 9007199254740991", ["unsafe-integer 1:4"]],
  ["numbers that are none in JSON", "a: .nan\nb: .inf\nc: -.inf", [
    "not-finite 1:4",
    "not-finite 2:4",
    "not-finite 3:4",
  ]],
  ["an empty key", ": 1", ["bad-key 1:1"]],
  ["a list as a key", "[a]: 1", ["bad-key 1:1"]],
  ["a merge of something else", "a:\n  <<: 5", ["bad-merge 2:3"]],
  ["a star alone", "a: *", ["bad-alias 1:4"]],
  ["lines behind a document that ended", "{ a: 1 }\nb: 2\nc: 3", ["text-after-value 2:1"]],
  ["no comma between members in brackets", "a: { b: 1 { c: 2 } }", ["missing-comma 1:9"]],
  ["no comma between elements", "a: [x [y]]", ["missing-comma 1:7"]],
  ["an ampersand alone", "a: & b", ["bad-alias 1:4"]],
  ["a text that ends within brackets", "{ a: 1", ["unclosed-bracket 1:7"]],
  ["an anchor on an alias", "b: &x 1\na: &y *x", ["yaml-syntax 2:7"]],
  ["a second document", "a: 1\n---\nb: 2", ["several-documents 2:1"]],
  ["a second document that is empty", "a: 1\n---\n", ["several-documents 2:1"]],
  ["a control character", "a: 1\nb: x\0y", ["control-character 2:5"]],
  ["a carriage return alone", "a: 1\rb: 2", ["lone-return 1:5"]],
];
for (const [what, text, problems] of broken) {
  Deno.test(`readYamlDocument() reports ${what} as ${problems.join(", ")}`, () => {
    const { diagnostics } = readYamlDocument(text);
    assertEquals(found(text), problems);
    for (const { severity, message, excerpt, stage, position } of diagnostics) {
      assertEquals([severity, stage], ["error", "yaml"]);
      assert(message.length > 10 && !message.endsWith("."), message);
      assertEquals(excerpt, text.split(/\r?\n/)[(position?.line ?? 0) - 1]?.replace(/\r$/, ""));
    }
  });
}

Deno.test("readYamlDocument() names the line of the first of two equal keys", () => {
  const [problem] = readYamlDocument("a: 1\nb: 2\na: 3").diagnostics;
  assertEquals(
    problem?.hint,
    "Remove or rename one of them; the first is on line 1",
  );
});

const lost: [text: string, problems: string[]][] = [
  ["prompt: See issue #7 for details", ["lost-text 1:18"]],
  ["when: it is tagged #urgent", ["lost-text 1:19"]],
  ["- a note #1", ["lost-text 1:9"]],
  ["prompt: See it # a comment", []],
  ["tier: fast #cheap", []],
  ["when: otherwise #else", []],
  ["prompt: 'See issue' #7", []],
  ["prompt: C# and a#b", []],
  ["budget: 5 #five", []],
  ["prompt: &and more", ["lost-text 1:9"]],
  ["prompt: ! not that", ["lost-text 1:9"]],
  ["a: &x text\nb: *x", []],
  ["a: &x { b: 1 }", []],
  ['a: &x "text"', []],
];
for (const [text, problems] of lost) {
  Deno.test(`readYamlDocument() finds ${problems.length} lost texts in ${JSON.stringify(text)}`, () => {
    assertEquals(found(text), problems);
  });
}

Deno.test("readYamlDocument() says what to do beyond each of its limits", () => {
  const beyond = {
    "long-key": `${"k".repeat(1_030)}: 1`,
    "too-deep": "[".repeat(101),
    "too-large": "[" + "1,".repeat(1_100_000) + "]",
  };
  for (const [code, text] of Object.entries(beyond)) {
    const problem = readYamlDocument(text).diagnostics.find((found) => found.code === code);
    assert((problem?.hint ?? "") !== "", code);
  }
});

Deno.test("readYamlDocument() names the line of the bracket that is not closed", () => {
  const messages = (text: string) =>
    readYamlDocument(text).diagnostics.map(({ message }) => message);
  assertEquals(messages("gates:\n  - { when: x, then: ok\n  - { when: [y] }\n"), [
    "A bracket opened on line 2 is not closed here",
  ]);
  assertEquals(messages(`a: [${"\n  x,".repeat(5_000)}\nb: 1`), [
    "A bracket opened above is not closed here",
  ]);
});

Deno.test("readYamlDocument() gives one problem for a number that is none, and no other reading of it", () => {
  assertEquals(found("a: 1e400"), ["not-finite 1:4"]);
});

Deno.test("readYamlDocument() asks for the line that ends directives", () => {
  const [problem] = readYamlDocument("%YAML 1.2\na: 1").diagnostics;
  assertEquals(problem?.code, "missing-marker");
  assertEquals(problem?.hint, 'Write a line "---" after it, or remove the directive');
});

Deno.test("readYamlDocument() warns of a directive for YAML 1.1 and still reads YAML 1.2", () => {
  const { value, diagnostics } = readYamlDocument("%YAML 1.1\n---\na: 010");
  assertEquals(JSON.stringify(value), '{"a":10}');
  assertEquals(diagnostics.map(({ code }) => code), ["yaml-version", "yaml-octal"]);
});

Deno.test("readYamlDocument() finds members and keys by their path", () => {
  const { offsetOf, source } = readYamlDocument("a:\n  b: [x, yy]\n  cc: 1");
  const at = (path: (string | number)[], part?: "value" | "key") =>
    source.position(offsetOf(path, part));
  assertEquals(at(["a", "b", 1]), { line: 2, column: 10 });
  assertEquals(at(["a", "cc"]), { line: 3, column: 7 });
  assertEquals(at(["a", "cc"], "key"), { line: 3, column: 3 });
  assertEquals(at(["a", "none", 3]), { line: 2, column: 3 });
});

Deno.test("readYamlDocument() shows at most 200 problems, errors first, and counts the rest", () => {
  const text = Array.from({ length: 300 }, (_, i) => `a${i}: yes`).join("\n") + "\nz: *none";
  const { diagnostics } = readYamlDocument(text);
  assertEquals(diagnostics.length, 201);
  assertEquals(diagnostics.filter(({ code }) => code === "unknown-alias").length, 1);
  assertEquals(diagnostics.at(-1)?.message, "101 more problems are not shown");
});
