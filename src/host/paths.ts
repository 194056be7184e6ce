/**
 * Joins and takes apart paths as text, without a look at any disk and without `node:path`, which is slow to load.
 *
 * @module
 */

/**
 * Tells whether a path starts at a root: `/…`, `C:\…` or `\\server\…`.
 *
 * @param path The path.
 * @returns Whether it is absolute.
 */
export function isAbsolutePath(path: string): boolean {
  return /^(?:[\\/]|[A-Za-z]:[\\/])/.test(path);
}

/**
 * Appends names to a path.
 *
 * @param base What comes first.
 * @param names What follows; an absolute one starts over.
 * @returns The path, with `/` between the parts.
 */
export function joinPath(base: string, ...names: readonly string[]): string {
  let path = base;
  for (const name of names) {
    if (isAbsolutePath(name) || path === "") path = name;
    else if (name !== "") path = /[\\/]$/.test(path) ? path + name : `${path}/${name}`;
  }
  return path;
}

/**
 * Takes `.` and `..` out of a path as far as that is possible without asking the disk.
 *
 * @param path The path.
 * @returns The same place; `..` at a root stays at the root.
 */
export function normalizePath(path: string): string {
  const root = /^(?:[A-Za-z]:)?[\\/]+/.exec(path)?.[0] ?? "";
  const kept: string[] = [];
  for (const part of path.slice(root.length).split(/[\\/]+/)) {
    if (part === "" || part === ".") continue;
    if (part === ".." && kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (part !== ".." || root === "") kept.push(part);
  }
  const drive = root.replaceAll("\\", "/").replace(/\/+$/, "/");
  return kept.length === 0 ? (drive === "" ? "." : drive) : drive + kept.join("/");
}

/**
 * Gives the directory of a path.
 *
 * @param path The path.
 * @returns What is before the last separator; `.` if there is none.
 */
export function directoryOf(path: string): string {
  const normal = normalizePath(path);
  const end = normal.lastIndexOf("/");
  if (end < 0) return ".";
  return end === 0
    ? "/"
    : /^[A-Za-z]:$/.test(normal.slice(0, end))
    ? normal.slice(0, end + 1)
    : normal.slice(0, end);
}

/**
 * Gives the last name of a path.
 *
 * @param path The path.
 * @returns What is after the last separator.
 */
export function nameOf(path: string): string {
  const normal = normalizePath(path);
  return normal.slice(normal.lastIndexOf("/") + 1);
}

/**
 * Tells whether a path is a directory or below it. Both must be absolute, normal, and free of links.
 *
 * @param path The path.
 * @param directory The directory.
 * @returns Whether the path does not leave it.
 */
export function isWithin(path: string, directory: string): boolean {
  const inner = normalizePath(path);
  const outer = normalizePath(directory);
  return inner === outer || inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`);
}
