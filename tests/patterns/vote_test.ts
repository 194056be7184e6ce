import { assert, assertEquals, assertLess, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ConfigError } from "../../src/llm/mod.ts";
import { castVote, tallyVotes, type VoteNormalization } from "../../src/patterns/vote.ts";

/** A hundred times what linear work takes here, and less than quadratic work would. */
const LINEAR_MS = 5000;

type Row = [
  what: string,
  normalize: VoteNormalization,
  texts: string[],
  groups: [value: string, count: number][],
];

const rows: Row[] = [
  ["case", "text", ["a", "A", "The"], [["a", 2], ["The", 1]]],
  ["signs, which are all there is", "text", ["-", "-", "+"], [["-", 2], ["+", 1]]],
  ["one accent written in two ways", "text", ["caf\u00e9", "cafe\u0301", "CAF\u00c9"], [[
    "caf\u00e9",
    3,
  ]]],
  ["full-width digits and a zero-width space", "text", ["\uff14\uff12", "42", "42\u200b"], [[
    "\uff14\uff12",
    3,
  ]]],
  ["accents, which count", "text", ["r\u00e9sum\u00e9", "resume"], [["r\u00e9sum\u00e9", 1], [
    "resume",
    1,
  ]]],
  ["kinds of quotes", "text", ["\u2018it\u2019s\u2019", "'it's'"], [["\u2018it\u2019s\u2019", 2]]],
  ["quotes, fences, emphasis and final marks", "text", [
    '"Yes"',
    "**yes!**",
    "```\nyes\n```",
    "`Yes`.",
    "yes",
  ], [['"Yes"', 5]]],
  ["the sharp s and its capitals", "text", ["Stra\u00dfe", "STRASSE"], [["Stra\u00dfe", 2]]],
  ["both small sigmas", "text", ["\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2"], [[
    "\u039f\u0394\u039f\u03a3",
    2,
  ]]],
  ["thinking, which is no answer", "text", [
    "I guess 7\n</think>\n12",
    "<think>maybe 7</think>12",
    "12",
  ], [["12", 3]]],
  ["only white space", "whitespace", ["a  b", "a\u00a0b\u2028", "A b"], [["a  b", 2], ["A b", 1]]],
  ["nothing", "exact", ["a b", "a  b", "a b"], [["a b", 2], ["a  b", 1]]],
  ["thousands and currency", "number", ["1,000", "1000", "1000.0", "$1,000", "999"], [
    ["1,000", 4],
    ["999", 1],
  ]],
  ["prose around a number", "number", ["The total is 72 clips, altogether.", "72", "72."], [[
    "The total is 72 clips, altogether.",
    3,
  ]]],
  ["groups that are not of three", "number", ["1,00", "100", "100"], [["100", 2]]],
  ["per cent, which is a unit", "number", ["50%", "0.5", ".5"], [["0.5", 2], ["50%", 1]]],
  ["signs of zero", "number", ["-0", "0", "+0"], [["-0", 3]]],
  ["integers beyond doubles", "number", ["9007199254740993", "9007199254740992"], [[
    "9007199254740993",
    1,
  ], ["9007199254740992", 1]]],
  ["exponents", "number", ["1e3", "1000", "0.1E+4"], [["1e3", 3]]],
  ["the minus of typographers", "number", ["\u22125", "-5"], [["\u22125", 2]]],
  ["several numbers, which are no vote", "number", [
    "10-5",
    "1.2.3",
    "2024-01-02",
    "3 or 4",
    "none",
  ], []],
  ["the same number twice", "number", ["42. So it is 42", "42"], [["42. So it is 42", 2]]],
  ["digits within words", "number", ["H2O has 3 atoms", "3"], [["H2O has 3 atoms", 2]]],
  ["order of members and form of numbers", "json", [
    '{"a":1,"b":2}',
    '```json\n{"b":2.0,"a":1}\n```',
    "[1]",
  ], [['{"a":1,"b":2}', 2], ["[1]", 1]]],
  ["texts without JSON", "json", ["nothing", "[1]"], [["[1]", 1]]],
  ["labels", { choice: ["accept", "equivalent", "reject"] }, [
    "label: accept",
    "Accept",
    "equal",
    "reject",
    "",
  ], [["accept", 2], ["reject", 1]]],
  ["two labels in one answer", { choice: ["accept", "reject"] }, [
    "not accept but reject",
    "accept",
    "accept",
  ], [["accept", 2]]],
  ["a label within a word", { choice: ["accept", "reject"] }, ["unacceptable", "reject"], [[
    "reject",
    1,
  ]]],
  ["a negated label", { choice: ["accept", "reject"] }, [
    "I would not accept it",
    "don't reject",
    "reject",
  ], [["reject", 1]]],
  ["a label that holds another", { choice: ["good", "very good"] }, ["It is very good.", "good"], [[
    "very good",
    1,
  ], ["good", 1]]],
  ["a label that holds a negation", { choice: ["not applicable", "applicable"] }, [
    "Not applicable.",
    "answer: not applicable",
  ], [["not applicable", 2]]],
  ["what the caller maps", { map: (text) => text === "\\frac{1}{2}" ? "0.5" : text }, [
    "0.5",
    "\\frac{1}{2}",
    "0.25",
  ], [["0.5", 2], ["0.25", 1]]],
  ["what the caller maps by a function alone", (text) => text.at(0), ["abc", "axe", "b"], [
    ["abc", 2],
    ["b", 1],
  ]],
  ["what the caller does not map", { map: () => undefined }, ["a"], []],
];
for (const [what, normalize, texts, groups] of rows) {
  const name = typeof normalize === "object" ? Object.keys(normalize)[0] : String(normalize);
  Deno.test(`tallyVotes() by ${name} looks at ${what}`, () => {
    const tally = tallyVotes(texts, { normalize });
    assertEquals(tally.groups.map(({ value, count }) => [value, count]), groups);
    assertEquals(tally.valid, groups.reduce((sum, [, count]) => sum + count, 0));
  });
}

Deno.test("castVote() by number gives the value", () => {
  assertEquals(castVote("about $1,234.50", "number")?.parsed, 1234.5);
  assertEquals(castVote("-1,234.50 in all", "number")?.parsed, -1234.5);
});

const blank = ["", " ", "\n\t", "\u200b", "\ufeff \u00a0", "<think>hm</think>", "<think>hm"];
for (const text of blank) {
  Deno.test(`castVote() takes ${JSON.stringify(text)} for no vote`, () => {
    for (const normalize of ["text", "whitespace", "exact", "number", "json"] as const) {
      assertEquals(castVote(text, normalize), undefined);
    }
  });
}

Deno.test("tallyVotes() gives a tie to the earliest sample and counts who shares it", () => {
  const tally = tallyVotes(["b", "a", "c", "a", "b"]);
  assertEquals(tally.groups.map(({ value }) => value), ["b", "a", "c"]);
  assertEquals(tally.tieCount, 2);
});

Deno.test("tallyVotes() counts answers named like members of every object", () => {
  const tally = tallyVotes(["__proto__", "constructor", "__proto__"]);
  assertEquals(tally.groups.map(({ value, count }) => [value, count]), [["__proto__", 2], [
    "constructor",
    1,
  ]]);
});

Deno.test("tallyVotes() refuses labels that cannot be told apart", () => {
  assertThrows(() => tallyVotes(["a"], { normalize: { choice: ["A", "a."] } }), ConfigError);
});

Deno.test("tallyVotes() takes a normalization with a member that is undefined", () => {
  const loose: unknown[] = [
    { choice: ["yes", "no"], map: undefined },
    { choice: undefined, map: () => "yes" },
  ];
  for (const normalize of loose) {
    const { groups } = tallyVotes(["Yes."], { normalize: normalize as VoteNormalization });
    assertEquals(groups.map(({ count }) => count), [1]);
  }
});

const NORMALIZATIONS = ["text", "whitespace", "exact", "number", "json"] as const;

Deno.test("tallyVotes() counts every answer once, for any texts", () => {
  fc.assert(fc.property(
    fc.array(
      fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.string({ unit: "binary" }),
        fc.float().map(String),
      ),
    ),
    fc.constantFrom(...NORMALIZATIONS),
    (texts, normalize) => {
      const { groups, valid, tieCount } = tallyVotes(texts, { normalize });
      const indexes = groups.flatMap((group) => group.indexes);
      assertEquals(new Set(indexes).size, indexes.length);
      assertEquals(indexes.length, valid);
      assert(groups.every(({ value }) => value.trim() !== ""));
      assert(groups.every((group, at) => group.count <= (groups[at - 1]?.count ?? Infinity)));
      assertEquals(tieCount, groups.filter(({ count }) => count === groups[0]?.count).length);
    },
  ));
});

Deno.test("castVote() by text gives its own key back, for any text", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme", maxLength: 12 }), (text) => {
    const vote = castVote(text);
    if (vote !== undefined) assert(castVote(vote.text)?.key === vote.key);
  }));
});

Deno.test("tallyVotes() does not depend on the order, but for ties", () => {
  fc.assert(fc.property(fc.array(fc.constantFrom("a", "b", "c", "A", "b.")), (texts) => {
    const count = (list: string[]) => tallyVotes(list).groups.map((group) => group.count);
    assertEquals(count(texts), count(texts.toReversed()));
  }));
});

const hostile: [what: string, text: string][] = [
  ["many full stops", `${".".repeat(200_000)}x`],
  ["many backticks", "`".repeat(200_000)],
  ["many digits and commas", "1,".repeat(100_000)],
  ["many opening quotes", '"'.repeat(200_000)],
  ["much white space", `a${" ".repeat(200_000)}b`],
];
for (const [what, text] of hostile) {
  Deno.test(`castVote() reads ${what} in linear time`, () => {
    const started = performance.now();
    for (const normalize of [...NORMALIZATIONS, { choice: ["yes", "no"] }]) {
      castVote(text, normalize);
    }
    assertLess(performance.now() - started, LINEAR_MS);
  });
}

for (const given of [3, null, Promise.resolve("a"), { key: "a" }]) {
  Deno.test(`castVote() refuses a function that gives ${Deno.inspect(given)} instead of a text`, () => {
    const map = () => given as unknown as string;
    for (const normalize of [map, { map }]) {
      const error = assertThrows(() => castVote("a", normalize), ConfigError);
      assertEquals(error.code, "argument");
    }
  });
}
