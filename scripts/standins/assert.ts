// deno-lint-ignore-file no-external-import default-param-last -- the signatures of the real package, over Node
/**
 * Stand-in for `@std/assert`, over `node:assert/strict`: the assertions that the tests use.
 *
 * As in the real package, an object without a prototype equals an ordinary one with the same members.
 *
 * @module
 */
import nodeAssert from "node:assert/strict";

/** What every failed assertion throws. */
export class AssertionError extends Error {
  override name = "AssertionError";
}

// deno-lint-ignore no-explicit-any -- the signature of the real package
type AnyConstructor = abstract new (...args: any[]) => any;

function failWith(message: string, detail?: string): never {
  throw new AssertionError(detail === undefined ? message : `${message}: ${detail}`);
}

function ordinary(value: unknown, seen: Map<object, unknown> = new Map()): unknown {
  if (typeof value !== "object" || value === null) return value;
  const known = seen.get(value);
  if (known !== undefined) return known;
  const prototype = Object.getPrototypeOf(value);
  if (Array.isArray(value)) {
    const copy: unknown[] = [];
    seen.set(value, copy);
    for (const item of value) copy.push(ordinary(item, seen));
    return copy;
  }
  if (prototype !== null && prototype !== Object.prototype) return value;
  const copy: Record<string, unknown> = {};
  seen.set(value, copy);
  for (const key of Object.keys(value)) {
    Object.defineProperty(copy, key, {
      value: ordinary((value as Record<string, unknown>)[key], seen),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}

function attempt(check: () => void, message?: string): void {
  try {
    check();
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    failWith(message === undefined ? detail : `${message}: ${detail}`);
  }
}

/** Asserts that `condition` is truthy. */
export function assert(condition: unknown, message = "Expected a truthy value"): asserts condition {
  if (!condition) failWith(message);
}

/** Asserts that `condition` is falsy. */
export function assertFalse(condition: unknown, message = "Expected a falsy value"): void {
  if (condition) failWith(message);
}

/** Asserts deep equality. */
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  attempt(() => nodeAssert.deepStrictEqual(ordinary(actual), ordinary(expected)), message);
}

/** Asserts that two values are not deeply equal. */
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  attempt(() => nodeAssert.notDeepStrictEqual(ordinary(actual), ordinary(expected)), message);
}

/** Asserts identity. */
export function assertStrictEquals<T>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is T {
  if (!Object.is(actual, expected)) {
    failWith(
      message ?? "Values are not strictly equal",
      `${Deno.inspect(actual)} is not ${Deno.inspect(expected)}`,
    );
  }
}

/** Asserts that two values are not identical. */
export function assertNotStrictEquals<T>(actual: T, expected: T, message?: string): void {
  if (Object.is(actual, expected)) failWith(message ?? "Expected two different values");
}

/** Asserts that a value is neither null nor undefined. */
export function assertExists<T>(
  actual: T,
  message = "Expected a value",
): asserts actual is NonNullable<T> {
  if (actual === undefined || actual === null) failWith(message, String(actual));
}

/** Asserts that a text contains another. */
export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  if (!actual.includes(expected)) {
    failWith(
      message ?? "Expected text to contain",
      `${JSON.stringify(actual)} lacks ${JSON.stringify(expected)}`,
    );
  }
}

/** Asserts that a text matches. */
export function assertMatch(actual: string, expected: RegExp, message?: string): void {
  if (!expected.test(actual)) {
    failWith(message ?? "Expected a match", `${JSON.stringify(actual)} against ${expected}`);
  }
}

/** Asserts that a text does not match. */
export function assertNotMatch(actual: string, expected: RegExp, message?: string): void {
  if (expected.test(actual)) {
    failWith(message ?? "Expected no match", `${JSON.stringify(actual)} against ${expected}`);
  }
}

/** Asserts that an array contains all of some values. */
export function assertArrayIncludes<T>(
  actual: ArrayLike<T>,
  expected: ArrayLike<T>,
  message?: string,
): void {
  for (const wanted of Array.from(expected)) {
    const found = Array.from(actual).some((item) => {
      try {
        assertEquals(item, wanted);
        return true;
      } catch {
        return false;
      }
    });
    if (!found) failWith(message ?? "Expected array to include", Deno.inspect(wanted));
  }
}

/** Asserts that an object has the members of another, deeply. */
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- the signature of the real package
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  message?: string,
): void {
  attempt(() => nodeAssert.deepStrictEqual(pick(actual, expected), ordinary(expected)), message);
}

function pick(actual: unknown, expected: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return expected.map((item, index) => pick(actual[index], item));
  }
  if (typeof actual !== "object" || actual === null) return actual;
  if (typeof expected !== "object" || expected === null) return actual;
  const picked: Record<string, unknown> = {};
  for (const key of Object.keys(expected)) {
    if (!Object.hasOwn(actual, key)) continue;
    picked[key] = pick(
      (actual as Record<string, unknown>)[key],
      (expected as Record<string, unknown>)[key],
    );
  }
  return picked;
}

/** Asserts that a value is an instance of a class. */
export function assertInstanceOf<T extends AnyConstructor>(
  actual: unknown,
  expected: T,
  message?: string,
): asserts actual is InstanceType<T> {
  if (!(actual instanceof expected)) {
    failWith(message ?? `Expected an instance of ${expected.name}`, Deno.inspect(actual));
  }
}

/** Asserts that two numbers differ by at most `tolerance`. */
export function assertAlmostEquals(
  actual: number,
  expected: number,
  tolerance = 1e-7,
  message?: string,
): void {
  if (Object.is(actual, expected)) return;
  if (!(Math.abs(actual - expected) <= tolerance)) {
    failWith(message ?? "Not close", `${actual} and ${expected}`);
  }
}

/** Asserts `actual > expected`. */
export function assertGreater<T>(actual: T, expected: T, message?: string): void {
  if (!(actual > expected)) failWith(message ?? "Not greater", `${actual} and ${expected}`);
}

/** Asserts `actual >= expected`. */
export function assertGreaterOrEqual<T>(actual: T, expected: T, message?: string): void {
  if (!(actual >= expected)) {
    failWith(message ?? "Not greater or equal", `${actual} and ${expected}`);
  }
}

/** Asserts `actual < expected`. */
export function assertLess<T>(actual: T, expected: T, message?: string): void {
  if (!(actual < expected)) failWith(message ?? "Not less", `${actual} and ${expected}`);
}

/** Asserts `actual <= expected`. */
export function assertLessOrEqual<T>(actual: T, expected: T, message?: string): void {
  if (!(actual <= expected)) failWith(message ?? "Not less or equal", `${actual} and ${expected}`);
}

function matchesError(error: unknown, wanted?: AnyConstructor, includes?: string): void {
  if (wanted !== undefined) assertInstanceOf(error, wanted);
  if (includes !== undefined) {
    assertStringIncludes(error instanceof Error ? error.message : String(error), includes);
  }
}

/** Asserts that `run` throws, and returns what it threw. */
export function assertThrows<E extends Error = Error>(
  run: () => unknown,
  // deno-lint-ignore no-explicit-any -- the signature of the real package
  errorClass?: (abstract new (...args: any[]) => E) | string,
  includes?: string,
  message?: string,
): E {
  const wanted = typeof errorClass === "string" ? undefined : errorClass;
  let thrown: unknown;
  let threw = false;
  try {
    run();
  } catch (error) {
    thrown = error;
    threw = true;
  }
  if (!threw) failWith(message ?? "Expected function to throw");
  matchesError(thrown, wanted, includes);
  return thrown as E;
}

/** Asserts that `run` rejects, and resolves to what it threw. */
export async function assertRejects<E extends Error = Error>(
  run: () => PromiseLike<unknown>,
  // deno-lint-ignore no-explicit-any -- the signature of the real package
  errorClass?: (abstract new (...args: any[]) => E) | string,
  includes?: string,
  message?: string,
): Promise<E> {
  const wanted = typeof errorClass === "string" ? undefined : errorClass;
  let thrown: unknown;
  let threw = false;
  try {
    await run();
  } catch (error) {
    thrown = error;
    threw = true;
  }
  if (!threw) failWith(message ?? "Expected promise to reject");
  matchesError(thrown, wanted, includes);
  return thrown as E;
}

/** Fails always. */
export function fail(message = "Failed"): never {
  failWith(message);
}

/** Marks what cannot be reached. */
export function unreachable(message = "Unreachable"): never {
  failWith(message);
}
