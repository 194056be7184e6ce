/** Holds the layout of `src/` as data: rooms, import directions, who may touch the outside, and a few rules of style. */
import { assert, assertEquals } from "@std/assert";
import { lazyModules } from "../scripts/compile.ts";

/** Every room, and what it may import beyond `json` and `ports`, which everyone may. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  json: [],
  ports: [],
  jsonrpc: [],
  mcp: ["jsonrpc"],
  llm: [],
  patterns: ["llm"],
  machine: ["llm"],
  providers: ["llm"],
  host: ["llm", "patterns", "machine", "providers"],
  tools: ["host", "llm", "patterns", "machine", "mcp"],
  cli: ["host", "llm", "patterns", "machine", "platform"],
  platform: [],
  stores: ["host", "machine"],
  testing: ["llm", "jsonrpc"],
};

/** Rooms at the bottom import no other room, not even each other. */
const FOUNDATIONS = ["json", "ports"];

/**
 * Files that other rooms may import beside `mod.ts`. Before the first answer of the server each module costs 0.1 to
 * 0.2 ms (src/mcp/README.md, "What waits for the first answer"); later each costs 30 to 60 KiB of memory for good
 * (src/patterns/README.md, "A tool loads the pattern that it runs"). Checks and listings run nothing (src/host/README.md,
 * "What looks does not load what runs").
 */
const SIDE_DOORS: Readonly<Record<string, readonly string[]>> = {
  "src/json/value.ts": ["jsonrpc", "mcp"],
  "src/jsonrpc/codec.ts": ["mcp"],
  "src/jsonrpc/line_writer.ts": ["mcp"],
  "src/jsonrpc/message.ts": ["mcp"],
  "src/jsonrpc/read_lines.ts": ["mcp"],
  "src/machine/estimate.ts": ["cli"],
  "src/machine/examine.ts": ["host"],
  "src/machine/format.ts": ["host"],
  "src/machine/load_reader.ts": ["host"],
  "src/machine/registry.ts": ["cli", "host"],
  "src/machine/values.ts": ["host"],
  "src/patterns/builtin_tools.ts": ["tools"],
  "src/patterns/consensus.ts": ["tools"],
  "src/patterns/create_telemetry.ts": ["tools"],
  "src/patterns/react_loop.ts": ["tools"],
  "src/providers/anthropic_provider.ts": ["host"],
  "src/providers/openai_provider.ts": ["host"],
};

/** The one file that names each package from outside; `@std/assert` and `fast-check` stay in `tests/`. */
const PACKAGES: Readonly<Record<string, string>> = {
  "@cfworker/json-schema": "src/json/schema.ts",
  "yaml": "src/machine/yaml.ts",
  "@std/jsonc": "src/host/jsonc.ts",
  "@std/streams/text-line-stream": "src/jsonrpc/framing.ts",
  "@opentelemetry/api": "src/patterns/telemetry.ts",
  "postgres": "src/stores/postgres.ts",
  "node:sqlite": "src/stores/sqlite.ts",
  "node:process": "src/machine/yaml.ts",
  "node:util": "src/cli/node_util.ts",
};

/** Names of the platform that only the room `platform` may use. */
const PLATFORM_NAMES: readonly [name: string, pattern: RegExp][] = [
  ["Deno", /(?<![\w.$"'`])Deno\b/],
  ["fetch", /(?<![\w.$])fetch\s*\(/],
  ["globalThis.fetch", /\bglobalThis\.(fetch|Deno|setTimeout|setInterval|performance|process)\b/],
  ["setTimeout", /(?<![\w.$])set(Timeout|Interval|Immediate)\s*\(/],
  ["AbortSignal.timeout", /\bAbortSignal\.timeout\b/],
  ["Date.now", /\bDate\.now\b/],
  ["new Date()", /\bnew Date\(\s*\)/],
  ["performance", /(?<![\w.$])performance\./],
  ["Math.random", /\bMath\.random\b/],
  ["crypto.getRandomValues", /\bcrypto\.(getRandomValues|randomUUID)\b/],
  ["process", /(?<![\w.$])process\.(env|exit|argv|stdout|stdin|stderr)\b/],
  ["console", /(?<![\w.$])console\./],
];

const MAX_PARAMETERS = 3;
/** Well above what a file should be (400): where a reader is certainly lost. */
const MAX_LINES = 700;

interface SourceFile {
  readonly path: string;
  readonly room: string;
  readonly text: string;
  /** `text` with comments, and the inside of strings, blanked out. */
  readonly code: string;
  readonly imports: readonly string[];
}

const files = await sourceFiles("src");

Deno.test("every folder of src is a room of the table, and every room has a mod.ts and a README.md", async () => {
  const folders: string[] = [];
  const missing: string[] = [];
  for await (const entry of Deno.readDir("src")) {
    if (!entry.isDirectory) continue;
    folders.push(entry.name);
    for (const name of ["mod.ts", "README.md"]) {
      if (!(await exists(`src/${entry.name}/${name}`))) missing.push(`${entry.name}/${name}`);
    }
  }
  assertEquals(folders.toSorted(), Object.keys(ROOMS).toSorted());
  assertEquals(missing.toSorted(), []);
});

Deno.test("every room's README.md has its three headings", async () => {
  const wrong: string[] = [];
  for (const room of Object.keys(ROOMS)) {
    const text = await readIfThere(`src/${room}/README.md`);
    for (const heading of ["## What it does", "## Reading order", "## Decisions"]) {
      if (!text.includes(heading)) wrong.push(`${room}: ${heading}`);
    }
  }
  assertEquals(wrong, []);
});

for (const room of Object.keys(ROOMS)) {
  Deno.test(`the room ${room} imports only the rooms that the table allows, by their mod.ts`, () => {
    const wrong: string[] = [];
    for (const file of files.filter((file) => file.room === room)) {
      for (const specifier of file.imports.filter((specifier) => specifier.startsWith("."))) {
        const problem = importProblem(file, specifier);
        if (problem !== undefined) wrong.push(`${file.path}: ${problem}`);
      }
    }
    assertEquals(wrong, []);
  });
}

Deno.test("no module imports itself by a chain of imports", () => {
  assertEquals(cycles(files), []);
});

Deno.test("each package from outside is named by one file of src", () => {
  const wrong: string[] = [];
  for (const file of files) {
    for (const specifier of file.imports.filter((specifier) => !specifier.startsWith("."))) {
      const owner = PACKAGES[specifier];
      if (owner === file.path) continue;
      wrong.push(`${file.path} imports ${specifier}, which belongs to ${owner ?? "no file"}`);
    }
  }
  assertEquals(wrong, []);
});

for (const [name, pattern] of PLATFORM_NAMES) {
  Deno.test(`only the room platform uses ${name}`, () => {
    const wrong = files
      .filter(({ room }) => room !== "platform")
      .flatMap((file) => linesMatching(file, pattern));
    assertEquals(wrong, []);
  });
}

Deno.test(`no function takes more than ${MAX_PARAMETERS} parameters`, () => {
  const wrong = files.flatMap((file) =>
    functionParameters(file.code)
      .filter(({ parameters }) => parameters > MAX_PARAMETERS)
      .map(({ name, parameters }) => `${file.path}: ${name} takes ${parameters}`)
  );
  assertEquals(wrong, []);
});

Deno.test("no function takes a boolean by position", () => {
  const wrong = files.flatMap((file) =>
    linesMatching(file, /^(export )?(async )?function\*? \w+[^{]*\(([^{}]*, )?\w+: boolean[,)]/)
  );
  assertEquals(wrong, []);
});

Deno.test(`no file is longer than ${MAX_LINES} lines`, () => {
  const wrong = files
    .map(({ path, text }) => [path, text.split("\n").length] as const)
    .filter(([, lines]) => lines > MAX_LINES);
  assertEquals(wrong, []);
});

Deno.test("file names are snake_case", () => {
  const wrong = files.filter(({ path }) => !/^[a-z0-9_/]+\.ts$/.test(path)).map(({ path }) => path);
  assertEquals(wrong, []);
});

Deno.test("no file is called utils, common, misc, helpers or manager", () => {
  const wrong = files.filter(({ path }) =>
    /\/(utils?|common|misc|helpers?|managers?)\.ts$/.test(path)
  );
  assertEquals(wrong.map(({ path }) => path), []);
});

Deno.test("every TODO names its issue", () => {
  const wrong = files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) =>
      /\b(TODO|FIXME|XXX)\b(?!\(#\d+\): )/.test(line) ? [`${path}:${index + 1}`] : []
    )
  );
  assertEquals(wrong, []);
});

Deno.test("every suppression of a lint rule says why", () => {
  const wrong = files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) =>
      /deno-lint-ignore/.test(line) && !/ -- \S/.test(line) ? [`${path}:${index + 1}`] : []
    )
  );
  assertEquals(wrong, []);
});

Deno.test("whoever has mod.ts in a cache has every module of the program", async () => {
  const reached = new Set<string>();
  const visit = async (path: string): Promise<void> => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const name of importsOf(withoutTypeImports(await Deno.readTextFile(path)))) {
      if (name.startsWith(".")) await visit(resolve(path, name));
    }
  };
  await visit("mod.ts");
  const lazy = await lazyModules(new URL("../", import.meta.url));
  assert(lazy.length > 0);
  assertEquals(lazy.filter((path) => !reached.has(path)), []);
});

Deno.test("an import by a name that is no literal states the module's type, so that tools find it", () => {
  const wrong = files.filter(({ code, text }) =>
    (code.match(/\bawait import\(\w/g) ?? []).length >
      (text.match(/\btypeof import\("\./g) ?? []).length
  );
  assertEquals(wrong.map(({ path }) => path), []);
});

Deno.test("what src imports beside modules is published", async () => {
  const { publish } = JSON.parse(await Deno.readTextFile("deno.json"));
  const assets = files.flatMap(({ text }) =>
    [...text.matchAll(/from "[^"]+\.(\w+)" with \{/g)].map(([, suffix = ""]) => suffix)
  );
  for (const suffix of new Set(assets)) {
    assert(publish.include.includes(`src/**/*.${suffix}`), suffix);
  }
});

Deno.test("the table of rooms has no cycle", () => {
  const order: string[] = [];
  const visit = (room: string, path: readonly string[]): void => {
    assert(!path.includes(room), `cycle: ${[...path, room].join(" -> ")}`);
    for (const next of ROOMS[room] ?? []) visit(next, [...path, room]);
    if (!order.includes(room)) order.push(room);
  };
  for (const room of Object.keys(ROOMS)) visit(room, []);
  assertEquals(order.length, Object.keys(ROOMS).length);
});

function importProblem(file: SourceFile, specifier: string): string | undefined {
  const target = resolve(file.path, specifier);
  if (!target.startsWith("src/")) return `${specifier} leaves src/`;
  const [, room = ""] = target.split("/");
  if (room === file.room) return undefined;
  const allowed = FOUNDATIONS.includes(file.room)
    ? []
    : [...FOUNDATIONS, ...(ROOMS[file.room] ?? [])];
  if (!allowed.includes(room)) return `${specifier} is in ${room}, which is not allowed`;
  if (target === `src/${room}/mod.ts` || SIDE_DOORS[target]?.includes(file.room)) return undefined;
  return `${specifier} bypasses src/${room}/mod.ts`;
}

function cycles(files: readonly SourceFile[]): string[] {
  const graph = new Map(
    files.map((file) => [
      file.path,
      file.imports.filter((name) => name.startsWith(".")).map((name) => resolve(file.path, name)),
    ]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

function linesMatching(file: SourceFile, pattern: RegExp): string[] {
  return file.code.split("\n").flatMap((line, index) =>
    pattern.test(line) ? [`${file.path}:${index + 1}: ${line.trim()}`] : []
  );
}

function functionParameters(code: string): { name: string; parameters: number }[] {
  const found: { name: string; parameters: number }[] = [];
  const heads =
    /(?:\bfunction\*?\s+(\w+)\s*(?:<[^(]*>)?|\n {2}(?:static |async |override |readonly )*(#?\w+)\s*(?:<[^(\n]*>)?)\(/g;
  for (const match of code.matchAll(heads)) {
    const name = match[1] ?? match[2] ?? "";
    if (["if", "for", "while", "switch", "catch", "return", "await", "using"].includes(name)) {
      continue;
    }
    const inside = balanced(code, match.index + match[0].length);
    // Calls look like method heads; a head is followed by a type or a body.
    const isHead = match[1] !== undefined || /^\)\s*(:|\{)/.test(code.slice(inside.end));
    if (isHead) found.push({ name, parameters: inside.commas });
  }
  return found;
}

function balanced(code: string, start: number): { commas: number; end: number } {
  let depth = 0;
  let count = 0;
  let seen = false;
  for (let index = start; index < code.length; index++) {
    const char = code.charAt(index);
    if (char === ")" && depth === 0) return { commas: seen ? count + 1 : count, end: index };
    if ("([{<".includes(char)) depth += 1;
    if (")]}".includes(char) || (char === ">" && code.charAt(index - 1) !== "=")) depth -= 1;
    if (char === "," && depth === 0) {
      count += 1;
      seen = false;
    } else if (/\S/.test(char)) seen = true;
  }
  return { commas: count, end: code.length };
}

function resolve(from: string, specifier: string): string {
  return new URL(specifier, `file:///${from}`).pathname.slice(1);
}

async function sourceFiles(folder: string): Promise<SourceFile[]> {
  const found: SourceFile[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) found.push(...await sourceFiles(path));
    else if (entry.name.endsWith(".ts")) {
      found.push(sourceFile(path, await Deno.readTextFile(path)));
    }
  }
  return found.toSorted((left, right) => left.path < right.path ? -1 : 1);
}

function sourceFile(path: string, text: string): SourceFile {
  const [, room = ""] = path.split("/");
  return { path, room, text, code: blanked(text), imports: importsOf(text) };
}

function importsOf(text: string): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/^\s*\/\/.*$/gm, "");
  const found = code.matchAll(
    /^\s*(?:import|export)\b[^;"'`]*?\bfrom\s*"([^"]+)"|^\s*import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"\s*[,)]/gm,
  );
  return [...found].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? "")
    .filter((specifier) => !/\.(mk|json|txt)$/.test(specifier));
}

function withoutTypeImports(text: string): string {
  return text.replace(/^(import|export) type [^;]*;/gm, "").replace(/typeof import\([^)]*\)/g, "");
}

/** Blanks comments and the inside of strings, so that patterns see code alone. Template holes are code. */
function blanked(text: string): string {
  let out = "";
  let index = 0;
  const holes: number[] = [];
  let depth = 0;
  const copyUntil = (end: number): void => {
    out += text.slice(index, end).replace(/[^\n]/g, " ");
    index = end;
  };
  const template = (): void => {
    while (index < text.length) {
      if (text[index] === "\\") copyUntil(index + 2);
      else if (text[index] === "`") {
        copyUntil(index + 1);
        return;
      } else if (text.startsWith("${", index)) {
        copyUntil(index + 2);
        holes.push(depth);
        depth = 0;
        return;
      } else copyUntil(index + 1);
    }
  };
  while (index < text.length) {
    const char = text.charAt(index);
    if (text.startsWith("//", index)) copyUntil(endOf(text, "\n", index));
    else if (text.startsWith("/*", index)) copyUntil(endOf(text, "*/", index + 2) + 2);
    else if (char === '"' || char === "'") copyUntil(endOfString(text, index));
    else if (char === "/" && regexMayStart(out)) copyUntil(endOfRegex(text, index));
    else if (char === "`") {
      copyUntil(index + 1);
      template();
    } else if (char === "}" && depth === 0 && holes.length > 0) {
      depth = holes.pop() ?? 0;
      copyUntil(index + 1);
      template();
    } else {
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      out += char;
      index += 1;
    }
  }
  return out;
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found;
}

function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== text[start] && text[index] !== "\n") {
    index += text[index] === "\\" ? 2 : 1;
  }
  return index + 1;
}

function regexMayStart(before: string): boolean {
  return /(?:[(,=:[!&|?{};\n]|\breturn|=>)\s*$/.test(before.slice(-40));
}

function endOfRegex(text: string, start: number): number {
  let inClass = false;
  let index = start + 1;
  while (index < text.length && text[index] !== "\n") {
    const char = text[index];
    if (char === "\\") index += 1;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) break;
    index += 1;
  }
  return index + 1;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function readIfThere(path: string): Promise<string> {
  return await exists(path) ? await Deno.readTextFile(path) : "";
}
