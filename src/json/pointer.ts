/**
 * JSON pointers ({@link https://www.rfc-editor.org/rfc/rfc6901 | RFC 6901}).
 *
 * @module
 */
import { isJsonObject, type JsonValue, member } from "./value.ts";

/**
 * Writes a pointer.
 *
 * @param path Keys and indexes from the root.
 * @returns The pointer; `""` for the root.
 */
export function formatPointer(path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join(
    "",
  );
}

/**
 * Reads a pointer.
 *
 * @param pointer The pointer.
 * @returns Its parts.
 * @throws {SyntaxError} If it is neither empty nor begins with `/`, or has a `~` that is not `~0` or `~1`.
 */
export function parsePointer(pointer: string): readonly string[] {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) {
    throw new SyntaxError(
      `Cannot read JSON pointer "${pointer}": write "" or "/key/0", "~1" for "/"`,
    );
  }
  return pointer.slice(1).split("/").map((part) =>
    part.replaceAll("~1", "/").replaceAll("~0", "~")
  );
}

/**
 * Finds the value that a pointer names.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readPointer({ "a/b": [10, 20] }, "/a~1b/1"), 20);
 * ```
 *
 * @param root Where it begins.
 * @param pointer The pointer.
 * @returns The value, or `undefined` if there is none.
 * @throws {SyntaxError} If the pointer cannot be read.
 */
export function readPointer(root: JsonValue, pointer: string): JsonValue | undefined {
  let value: JsonValue | undefined = root;
  for (const part of parsePointer(pointer)) {
    if (Array.isArray(value)) {
      value = /^(?:0|[1-9][0-9]*)$/.test(part) ? value[Number(part)] : undefined;
    } else if (isJsonObject(value)) value = member(value, part);
    else return undefined;
  }
  return value;
}
