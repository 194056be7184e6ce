import { assertEquals, assertThrows } from "@std/assert";
import { checkPattern, patternSubjectLimit } from "../../src/json/schema_pattern.ts";

function check(pattern: string): void {
  checkPattern(pattern, (problem) => new TypeError(problem));
}

const refused: [what: string, pattern: string][] = [
  ["a repeated group that repeats", "^(a+)+$"],
  ["a repeated group of alternatives that repeat", "^(?:a|b*)*$"],
  ["a repeated group whose separator may be left out", "^[a-z]+(?:-?[a-z]+)*$"],
  ["a repeated group whose rest matches the separator", "^a+(?:-[a-z-]+)*$"],
  ["a repeated group whose rest is a dot", "^(?:,.+)*$"],
  ["a large count as a repetition", "^(?:a+){1000}$"],
  ["a back-reference", "(a)\\1"],
  ["a named back-reference", "(?<n>a)\\k<n>"],
  ["a look ahead", "(?=a)b"],
  ["a look behind", "(?<!a)b"],
  ["eleven repetitions", "a*".repeat(11)],
  ["257 characters", "a".repeat(257)],
  ["a broken expression", "[a"],
];
for (const [what, pattern] of refused) {
  Deno.test(`checkPattern() refuses ${what}`, () => {
    assertThrows(() => check(pattern), TypeError);
  });
}

const admitted: [what: string, pattern: string][] = [
  ["words with a separator", "^[a-z0-9]+(?:-[a-z0-9]+)*$"],
  ["numbers with dots", "^\\d+(\\.\\d+)*$"],
  ["a repeated group without a repetition", "^(?:ab)+$"],
  ["a class that holds a bracket", "^[()+*]+$"],
  ["escaped brackets", "^\\(a+\\)+$"],
  ["ten repetitions", "a*".repeat(10)],
  ["an address", "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$"],
];
for (const [what, pattern] of admitted) {
  Deno.test(`checkPattern() admits ${what}`, () => check(pattern));
}

Deno.test("patternSubjectLimit() is 4096, and 512 from three repetitions on", () => {
  assertEquals(patternSubjectLimit("^a*b+$"), 4096);
  assertEquals(patternSubjectLimit("^a*b+c{2,}$"), 512);
});
