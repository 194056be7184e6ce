/**
 * Finds the configuration: `--config`, else `EXECUTIONKIT_*`, else `KIT_CONFIG`, else a project's `kit.jsonc` at the
 * command line, else `kit.jsonc` in Kit's user directory. The first hit is used whole; layers are never merged.
 *
 * @module
 */
import type { JsonValue } from "../../json/mod.ts";
import { FileError } from "../../ports/mod.ts";
import type { HostOptions } from "../options.ts";
import { joinPath } from "../paths.ts";
import { type Config, NO_TOOLS, type ProviderConfig } from "./config.ts";
import { type Directories, kitDirectories, kitVariable } from "./directories.ts";
import type { ConfigLayer, ConfigProblem, SchemaReport } from "./outcome.ts";
import { baseUrlProblem, parseConfig } from "./parse_config.ts";

/** The name of a config file in a directory. */
export const CONFIG_NAME = "kit.jsonc";
/** The provider that the environment variables make. */
export const ENVIRONMENT_PROVIDER = "environment";
/** The provider that needs no model. */
export const SCRIPTED_PROVIDER = "scripted";
/** Not literals where they are imported, so that they are read only where a file is. */
const JSONC: string = "../jsonc.ts";
const MACHINE: string = "../../machine/mod.ts";
/** Most bytes of a config file. */
const MAX_CONFIG_BYTES = 1_048_576;

/** What was found. */
export interface LoadedConfig {
  /** Where. */
  readonly layer: ConfigLayer;
  /** The file, if it is one. */
  readonly path?: string;
  /** The configuration, if it can be used. */
  readonly config?: Config;
  /** Why not. */
  readonly problem?: ConfigProblem;
  /** What the file says that cannot be used or is odd; absent where no file could be read. */
  readonly schema?: SchemaReport;
  /** Kit's directories. */
  readonly directories: Directories;
}

/**
 * Finds and reads the configuration.
 *
 * @param options What the host is made from.
 * @returns What was found; a problem is a value.
 */
export async function loadConfig(options: HostOptions): Promise<LoadedConfig> {
  const { env } = options.ports;
  const directories = kitDirectories(options.ports);
  if (options.configPath !== undefined) {
    return await readLayer("flag", options.configPath, { options, directories });
  }
  const fromEnvironment = environmentConfig(options);
  if (fromEnvironment !== undefined) return { ...fromEnvironment, directories };
  const named = kitVariable(env, "CONFIG");
  if (named !== undefined) return await readLayer("variable", named, { options, directories });
  for (const [layer, directory] of candidates(options, directories)) {
    const path = directory === "" ? CONFIG_NAME : joinPath(directory, CONFIG_NAME);
    if ((await options.ports.files.stat(path)) !== undefined) {
      return await readLayer(layer, path, { options, directories });
    }
  }
  return { layer: "none", problem: nothingConfigured(directories), directories };
}

function candidates(
  options: HostOptions,
  directories: Directories,
): readonly (readonly [ConfigLayer, string])[] {
  const found: [ConfigLayer, string][] = [];
  if (options.door === "cli") found.push(["project", ""]);
  if (directories.config !== undefined) found.push(["user", directories.config]);
  return found;
}

function nothingConfigured(directories: Directories): ConfigProblem {
  const file = directories.config === undefined
    ? CONFIG_NAME
    : joinPath(directories.config, CONFIG_NAME);
  return {
    code: "missing",
    message: "No model is configured: set EXECUTIONKIT_BASE_URL (such as " +
      "http://localhost:11434/v1) and EXECUTIONKIT_MODEL in the environment of the server, and " +
      `EXECUTIONKIT_API_KEY if the endpoint wants a key; or write "${file}" and name it with --config ` +
      "or KIT_CONFIG. To try Kit without a model, start it with --provider scripted",
  };
}

type Found = Omit<LoadedConfig, "directories">;

function environmentConfig(options: HostOptions): Found | undefined {
  const { env } = options.ports;
  const baseUrl = env.get("EXECUTIONKIT_BASE_URL") || undefined;
  const model = env.get("EXECUTIONKIT_MODEL") || undefined;
  if (baseUrl === undefined && model === undefined) return undefined;
  if (baseUrl === undefined || model === undefined) {
    const missing = baseUrl === undefined ? "EXECUTIONKIT_BASE_URL" : "EXECUTIONKIT_MODEL";
    const there = baseUrl === undefined ? "EXECUTIONKIT_MODEL" : "EXECUTIONKIT_BASE_URL";
    return environmentProblem("missing", `${there} is set but ${missing} is not: set both`);
  }
  const problem = baseUrlProblem(baseUrl);
  if (problem !== undefined) {
    return environmentProblem("invalid", `Cannot use EXECUTIONKIT_BASE_URL: it ${problem}`);
  }
  const timeout = env.get("EXECUTIONKIT_TIMEOUT_MS") || undefined;
  const timeoutMs = timeout === undefined ? undefined : Number(timeout);
  if (timeoutMs !== undefined && !(timeoutMs > 0 && Number.isFinite(timeoutMs))) {
    return environmentProblem("invalid", "EXECUTIONKIT_TIMEOUT_MS is no number above 0");
  }
  const tokenField = env.get("EXECUTIONKIT_TOKEN_FIELD") || undefined;
  const provider: ProviderConfig = {
    name: ENVIRONMENT_PROVIDER,
    protocol: "openai_compat",
    baseUrl,
    keyVariable: "EXECUTIONKIT_API_KEY",
    keyRequired: false,
    tiers: { fast: model, balanced: model, reasoning: model },
    params: {},
    limits: {},
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(tokenField === undefined ? {} : { tokenField }),
  };
  const providers = new Map([[ENVIRONMENT_PROVIDER, provider]]);
  const config = { active: ENVIRONMENT_PROVIDER, providers, tools: NO_TOOLS };
  return { layer: "environment", config };
}

function environmentProblem(code: ConfigProblem["code"], message: string): Found {
  return { layer: "environment", problem: { code, message } };
}

interface Reading {
  readonly options: HostOptions;
  readonly directories: Directories;
}

async function readLayer(
  layer: ConfigLayer,
  path: string,
  { options, directories }: Reading,
): Promise<LoadedConfig> {
  const found = { layer, path, directories };
  let value: JsonValue;
  try {
    const bytes = await options.ports.files.read(path, { maxBytes: MAX_CONFIG_BYTES + 1 });
    if (bytes.length > MAX_CONFIG_BYTES) throw new RangeError(`over ${MAX_CONFIG_BYTES} bytes`);
    value = await parseText(path, new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof FileError ? error.failure : reasonOf(error);
    return {
      ...found,
      problem: { code: "invalid", message: `Cannot read config "${path}": ${why}` },
    };
  }
  const { config, ...schema } = parseConfig(value);
  if (config !== undefined) return { ...found, config, schema };
  const message = `Cannot use config "${path}": ${schema.problems.join("; ")}`;
  return { ...found, problem: { code: "invalid", message }, schema };
}

async function parseText(path: string, text: string): Promise<JsonValue> {
  if (!/\.ya?ml$/i.test(path)) {
    const { parseJsonc }: typeof import("../jsonc.ts") = await import(JSONC);
    return parseJsonc(text.replace(/^\uFEFF/, ""));
  }
  const { loadReader }: typeof import("../../machine/mod.ts") = await import(MACHINE);
  const { value, diagnostics } = (await loadReader()).readYaml(text);
  const error = diagnostics.find(({ severity }) => severity === "error");
  if (error === undefined && value !== undefined) return value;
  const line = error?.position === undefined ? "" : ` (line ${error.position.line})`;
  throw new SyntaxError(`${error?.message ?? "the file is empty"}${line}`);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
