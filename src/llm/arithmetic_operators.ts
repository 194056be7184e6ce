/**
 * The operators of {@linkcode evaluateArithmetic}: exact on integers, IEEE 754 on the rest.
 *
 * @module
 */
/** Why an expression has no value. Fixed words. */
export type ArithmeticProblem =
  | "empty"
  | "too-long"
  | "too-many-tokens"
  | "too-deep"
  | "literal-too-long"
  | "exponent-too-large"
  | "unexpected-character"
  | "unexpected-token"
  | "unexpected-end"
  | "unbalanced-parenthesis"
  | "division-by-zero"
  | "result-too-large"
  | "not-real";

/** Ends an evaluation; caught by {@linkcode evaluateArithmetic} and nobody else. */
export class ArithmeticError extends Error {
  /** The class. */
  override readonly name = "ArithmeticError";
  /** Why. */
  readonly problem: ArithmeticProblem;
  /** Makes an error. */
  constructor(problem: ArithmeticProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** A value under evaluation: an exact integer, or a finite double. */
export type Numeric = bigint | number;

/** Largest absolute exponent, of `**` and of a literal. */
export const MAX_EXPONENT = 1024;
/** Most bits of an exact result. */
export const MAX_RESULT_BITS = 4096;

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);
/** Bits of a quotient kept before rounding: the 53 of a double, guard bits, and a sticky one. */
const QUOTIENT_BITS = 64;

/**
 * Applies a binary operator.
 *
 * @param operator One of `+ - * / // % **`.
 * @param left The left operand.
 * @param right The right operand.
 * @returns The value, an integer wherever it is exact.
 * @throws {ArithmeticError} If there is no finite real value within the bounds.
 */
export function applyOperator(operator: string, left: Numeric, right: Numeric): Numeric {
  if (operator === "**") return power(left, right);
  const divides = operator === "/" || operator === "//" || operator === "%";
  if (divides && Number(right) === 0) {
    throw new ArithmeticError("division-by-zero", "division by zero");
  }
  if (typeof left === "bigint" && typeof right === "bigint") {
    return bounded(onIntegers(operator, left, right));
  }
  return finite(onDoubles(operator, toDouble(left), toDouble(right)));
}

/**
 * Writes a number as JSON does: integers plainly, doubles in their shortest form, `-0` as `0`.
 *
 * @param value The number.
 * @returns Its text.
 */
export function printNumber(value: Numeric): string {
  return typeof value === "bigint" ? value.toString() : JSON.stringify(value === 0 ? 0 : value);
}

function onIntegers(operator: string, left: bigint, right: bigint): Numeric {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "//":
      return floorDivide(left, right);
    case "%":
      return left - right * floorDivide(left, right);
    default:
      return left % right === 0n ? left / right : divideToDouble(left, right);
  }
}

function onDoubles(operator: string, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "//":
      return Math.floor((left - floorModulo(left, right)) / right + 0.5);
    case "%":
      return floorModulo(left, right);
    default:
      return left / right;
  }
}

function power(base: Numeric, exponent: Numeric): Numeric {
  if (Math.abs(Number(exponent)) > MAX_EXPONENT) {
    throw new ArithmeticError("exponent-too-large", `exponent over ${MAX_EXPONENT}`);
  }
  if (Number(base) === 0 && Number(exponent) < 0) {
    throw new ArithmeticError("division-by-zero", "division by zero");
  }
  if (typeof base === "bigint" && typeof exponent === "bigint" && exponent >= 0n) {
    const bits = base === 0n || base === 1n || base === -1n ? 1 : bitLength(base);
    if (bits * Number(exponent) > MAX_RESULT_BITS) throw tooLarge();
    return base ** exponent;
  }
  const value = toDouble(base) ** toDouble(exponent);
  if (Number.isNaN(value)) throw new ArithmeticError("not-real", "result is not a real number");
  return finite(value);
}

function floorDivide(left: bigint, right: bigint): bigint {
  const quotient = left / right;
  return left % right !== 0n && (left < 0n) !== (right < 0n) ? quotient - 1n : quotient;
}

function floorModulo(left: number, right: number): number {
  const rest = left % right;
  return rest !== 0 && (rest < 0) !== (right < 0) ? rest + right : rest;
}

/** The double nearest to a quotient of integers, also where the operands exceed what doubles hold. */
function divideToDouble(left: bigint, right: bigint): number {
  if (magnitude(left) <= SAFE && magnitude(right) <= SAFE) return Number(left) / Number(right);
  const shift = QUOTIENT_BITS - (bitLength(left) - bitLength(right));
  const numerator = shift > 0 ? magnitude(left) << BigInt(shift) : magnitude(left);
  const denominator = shift < 0 ? magnitude(right) << BigInt(-shift) : magnitude(right);
  const sticky = numerator % denominator === 0n ? 0n : 1n;
  const quotient = (numerator / denominator) | sticky;
  const sign = (left < 0n) === (right < 0n) ? 1 : -1;
  // Two steps, because 2 ** -shift alone may leave the range of doubles while the product is within it.
  const half = Math.trunc(-shift / 2);
  return sign * Number(quotient) * 2 ** half * 2 ** (-shift - half);
}

function bounded(value: Numeric): Numeric {
  if (typeof value === "number") return finite(value);
  if (bitLength(value) > MAX_RESULT_BITS) throw tooLarge();
  return value;
}

function toDouble(value: Numeric): number {
  return finite(Number(value));
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw tooLarge();
  return value;
}

function tooLarge(): ArithmeticError {
  return new ArithmeticError("result-too-large", "result too large");
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function bitLength(value: bigint): number {
  const hex = magnitude(value).toString(16);
  return (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex.charAt(0), 16)));
}
