/**
 * URLs as people may see them.
 *
 * @module
 */

/**
 * Takes query, fragment and userinfo off a URL.
 *
 * @param url The URL.
 * @returns The rest; `"(no URL)"` if it is none.
 */
export function redactUrl(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? "(no URL)" : parsed.origin + parsed.pathname;
}
