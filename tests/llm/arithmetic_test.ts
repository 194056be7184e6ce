import { assert, assertEquals } from "@std/assert";
import { evaluateArithmetic } from "../../src/llm/arithmetic.ts";

const values: [expression: string, text: string][] = [
  ["17 * 83", "1411"],
  ["4/2", "2"],
  ["1/4", "0.25"],
  ["-2**2", "-4"],
  ["2**-1", "0.5"],
  ["2**3**2", "512"],
  ["7 % -3", "-2"],
  ["-7 % 3", "2"],
  ["-7.5 % 2", "0.5"],
  ["9007199254740993", "9007199254740993"],
  ["9007199254740993 + 0", "9007199254740993"],
  ["99999999999999999999999999999999 * 10", "999999999999999999999999999999990"],
  ["90071992547409930 / 10", "9007199254740993"],
  ["1e3", "1000"],
  ["1e21", "1e+21"],
  [" 1 ", "1"],
  ["1.", "1"],
  [".5", "0.5"],
  ["0.1 + 0.2", "0.30000000000000004"],
  ["0 * -1.0", "0"],
  ["-0.0", "0"],
  ["--1", "1"],
  ["(1 + 2) * 3", "9"],
  ["2**1024", (2n ** 1024n).toString()],
  ["15**1024", (15n ** 1024n).toString()],
  ["0**0", "1"],
  ["1**1024", "1"],
  ["(-8) ** 3", "-512"],
  ["10**22 / 3", "3.3333333333333335e+21"],
  ["1\t+\n2", "3"],
];
for (const [expression, text] of values) {
  Deno.test(`evaluateArithmetic() of ${JSON.stringify(expression)} is ${text.slice(0, 24)}`, () => {
    assertEquals(evaluateArithmetic(expression), { ok: true, text });
  });
}

const failures: [what: string, expression: string, problem: string, message: string][] = [
  ["an empty text", "", "empty", "empty expression"],
  ["a division by zero", "1/0", "division-by-zero", "division by zero"],
  ["a remainder by zero", "1 % 0", "division-by-zero", "division by zero"],
  ["a division by a zero double", "1/0.0", "division-by-zero", "division by zero"],
  ["a negative power of zero", "0**-1", "division-by-zero", "division by zero"],
  ["a tower of powers", "9**9**9", "exponent-too-large", "exponent over 1024"],
  ["an exponent just over the bound", "2**1025", "exponent-too-large", "exponent over 1024"],
  ["a literal's exponent over the bound", "1e1025", "exponent-too-large", "exponent over 1024"],
  ["a power over 4096 bits", "16**1024", "result-too-large", "result too large"],
  ["an overflowing product", "1e308*10", "result-too-large", "result too large"],
  ["an infinite literal", "1e400-1e400", "result-too-large", "result too large"],
  ["a fractional power of a negative", "(-8)**0.5", "not-real", "result is not a real number"],
  ["33 digits", "1".repeat(33), "literal-too-long", "number over 32 digits"],
  ["a name", "True", "unexpected-character", "unexpected character at position 1"],
  ["an underscore", "1_000", "unexpected-character", "unexpected character at position 2"],
  ["hexadecimal", "0x10", "unexpected-character", "unexpected character at position 2"],
  ["a comment", "1 # one", "unexpected-character", "unexpected character at position 3"],
  ["a full-width digit", "\uff11", "unexpected-character", "unexpected character at position 1"],
  ["floor division", "7//2", "unexpected-token", "unexpected token at position 3"],
  ["a call", "f(1)", "unexpected-character", "unexpected character at position 1"],
  ["two numbers", "1 2", "unexpected-token", "unexpected token at position 3"],
  ["an operator at the end", "1 +", "unexpected-end", "expression ends where a number is due"],
  ["an open parenthesis", "(1", "unbalanced-parenthesis", "unbalanced parenthesis"],
  ["a closing parenthesis", "1)", "unbalanced-parenthesis", "unbalanced parenthesis"],
];
for (const [what, expression, problem, message] of failures) {
  Deno.test(`evaluateArithmetic() refuses ${what} as ${problem}`, () => {
    assertEquals(evaluateArithmetic(expression), { ok: false, problem, message } as never);
  });
}

const bounds: [what: string, within: string, over: string, problem: string][] = [
  ["512 characters", `1${" ".repeat(511)}`, `1${" ".repeat(512)}`, "too-long"],
  ["256 tokens", `${"1+".repeat(127)}-1`, `${"1+".repeat(128)}1`, "too-many-tokens"],
  [
    "64 parentheses",
    `${"(".repeat(64)}1${")".repeat(64)}`,
    `${"(".repeat(65)}1${")".repeat(65)}`,
    "too-deep",
  ],
  ["64 signs", `${"-".repeat(64)}1`, `${"-".repeat(65)}1`, "too-deep"],
  ["32 digits", "1".repeat(32), "1".repeat(33), "literal-too-long"],
  ["an exponent of 1024", "1.001**1024", "1.001**1025", "exponent-too-large"],
];
for (const [what, within, over, problem] of bounds) {
  Deno.test(`evaluateArithmetic() takes ${what} and not one more`, () => {
    assert(evaluateArithmetic(within).ok);
    const refused = evaluateArithmetic(over);
    assertEquals(refused.ok ? "ok" : refused.problem, problem);
  });
}

const extended: [expression: string, text: string][] = [
  ["-7//2", "-4"],
  ["7//2", "3"],
  ["7.5//2", "3"],
  ["-7.5//2", "-4"],
  ["0x1F + 0o17 + 0b11", "49"],
  ["1_000", "1000"],
  ["1_0.5_0", "10.5"],
  ["True + True", "2"],
  ["False", "0"],
  ["4/2", "2"],
];
for (const [expression, text] of extended) {
  Deno.test(`evaluateArithmetic() in dialect calc reads ${expression} as ${text}`, () => {
    assertEquals(evaluateArithmetic(expression, { dialect: "calc" }), { ok: true, text });
  });
}

for (const expression of ["01", "1+0_1", "007"]) {
  Deno.test(`evaluateArithmetic() in dialect calc refuses the zero before ${expression}, as its language does`, () => {
    const result = evaluateArithmetic(expression, { dialect: "calc" });
    assertEquals(result.ok ? result.text : result.problem, "unexpected-character");
  });
}

Deno.test("evaluateArithmetic() in dialect calc reads zeros alone, and before a fraction", () => {
  const zeros = { "00": "0", "0_0": "0", "01.5": "1.5", "01e2": "100" };
  for (const [expression, text] of Object.entries(zeros)) {
    assertEquals(evaluateArithmetic(expression, { dialect: "calc" }), { ok: true, text });
  }
});

Deno.test("evaluateArithmetic() never repeats its input in a message", () => {
  for (const expression of ["secret", "1+secret", "0xsecret", "(secret", "1e5000", "🂡"]) {
    const result = evaluateArithmetic(expression, { dialect: "calc" });
    assert(!result.ok && !result.message.includes("secret") && !result.message.includes("🂡"));
  }
});

Deno.test("W48 evaluateArithmetic() gives a finite number or an error for any text of its alphabet", () => {
  const alphabet = "0123456789.+-*/%()e *";
  let seed = 1;
  function next(limit: number): number {
    seed = (seed * 48271) % 2147483647;
    return seed % limit;
  }
  for (let round = 0; round < 10_000; round += 1) {
    let text = "";
    for (let left = next(40); left >= 0; left -= 1) text += alphabet.charAt(next(alphabet.length));
    const result = evaluateArithmetic(text);
    if (result.ok) {
      assert(/^-?\d+(\.\d+)?(e[+-]\d+)?$/.test(result.text), `${text} gave ${result.text}`);
    }
  }
});
