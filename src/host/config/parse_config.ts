/**
 * Reads the value of a config file: every problem at once, each with the key and what to write instead.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json/mod.ts";
import type { Tier } from "../../machine/mod.ts";
import {
  type Config,
  NO_TOOLS,
  type ProviderConfig,
  type RequestLimits,
  TIERS,
  type ToolsConfig,
} from "./config.ts";

/** Where providers with a name of their own are asked, unless a config says otherwise. */
const KNOWN_BASE_URLS: ReadonlyMap<string, string> = new Map([
  ["anthropic", "https://api.anthropic.com/v1"],
  ["deepseek", "https://api.deepseek.com/v1"],
  ["openai", "https://api.openai.com/v1"],
  ["google", "https://generativelanguage.googleapis.com/v1beta/openai"],
  ["openrouter", "https://openrouter.ai/api/v1"],
  ["xai", "https://api.x.ai/v1"],
  ["mistral", "https://api.mistral.ai/v1"],
  ["local", "http://localhost:11434/v1"],
]);

const TOP_KEYS = ["active", "providers", "tools", "$schema"];
const PROVIDER_KEYS = [
  "protocol",
  "base_url",
  "api_key_env",
  "tiers",
  "judge",
  "params",
  "limits",
  "timeout_ms",
  "token_field",
];
const LIMIT_KEYS = ["concurrency", "requests_per_second", "burst"];
const TOOL_KEYS = ["search", "kb", "mail", "fs"];
const PROTOCOLS = ["auto", "openai_compat", "anthropic"];
/** Most providers of one file. */
const MAX_PROVIDERS = 100;
/** Most problems that are named; beyond, the reader has enough to do. */
const MAX_PROBLEMS = 50;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What came of reading. */
export interface ParsedConfig {
  /** The configuration, if there is no problem. */
  readonly config?: Config;
  /** What cannot be used, one sentence each. */
  readonly problems: readonly string[];
  /** What is odd but harms nothing, whether or not there is a problem. */
  readonly findings: readonly string[];
}

interface Notes {
  readonly problems: string[];
  readonly findings: string[];
}

/**
 * Reads the value of a config file.
 *
 * @param value The parsed text.
 * @returns The configuration, or every problem.
 */
export function parseConfig(value: JsonValue): ParsedConfig {
  const notes: Notes = { problems: [], findings: [] };
  if (!isJsonObject(value)) {
    const problem = `the file holds ${kindOf(value)}, not an object with "providers"`;
    return { problems: [problem], findings: [] };
  }
  noteUnknown(value, { keys: TOP_KEYS, at: "" }, notes);
  const active = readText(value, { key: "active", at: "" }, notes);
  const providers = readProviders(member(value, "providers"), notes);
  if (active !== undefined && providers.size > 0 && !providers.has(active)) {
    notes.problems.push(
      `"active" names "${active}", which is not among the providers (${list(providers.keys())})`,
    );
  }
  const tools = readTools(member(value, "tools"), notes);
  const { findings } = notes;
  if (notes.problems.length > 0) {
    return { problems: notes.problems.slice(0, MAX_PROBLEMS), findings };
  }
  return { config: { active, providers, tools }, problems: [], findings };
}

function readProviders(
  value: JsonValue | undefined,
  notes: Notes,
): ReadonlyMap<string, ProviderConfig> {
  const providers = new Map<string, ProviderConfig>();
  if (!isJsonObject(value)) {
    notes.problems.push(
      value === undefined
        ? '"providers" is missing: write one entry for each endpoint'
        : `"providers" is ${kindOf(value)}, not an object`,
    );
    return providers;
  }
  const names = Object.keys(value);
  if (names.length === 0) notes.problems.push('"providers" is empty: write at least one entry');
  for (const name of names.slice(0, MAX_PROVIDERS)) {
    const provider = readProvider(name, value[name], notes);
    if (provider !== undefined) providers.set(name, provider);
  }
  if (names.length > MAX_PROVIDERS) {
    notes.problems.push(`"providers" has ${names.length} entries, over ${MAX_PROVIDERS}`);
  }
  return providers;
}

function readProvider(
  name: string,
  value: JsonValue | undefined,
  notes: Notes,
): ProviderConfig | undefined {
  const at = `providers.${name}`;
  if (!isJsonObject(value)) {
    notes.problems.push(`"${at}" is ${kindOf(value)}, not an object`);
    return undefined;
  }
  noteUnknown(value, { keys: PROVIDER_KEYS, at: `${at}.` }, notes);
  const before = notes.problems.length;
  const protocol = readProtocol(name, value, notes);
  const baseUrl = readBaseUrl(name, value, notes);
  const keyVariable = readKeyVariable(value, at, notes);
  const judge = readText(value, { key: "judge", at: `${at}.` }, notes);
  const tokenField = readText(value, { key: "token_field", at: `${at}.` }, notes);
  const timeoutMs = readPositive(value, { key: "timeout_ms", at: `${at}.` }, notes);
  const tiers = readTiers(member(value, "tiers"), `${at}.tiers`, notes);
  const params = readParams(member(value, "params"), `${at}.params`, notes);
  const limits = readLimits(member(value, "limits"), `${at}.limits`, notes);
  if (notes.problems.length > before || tiers === undefined || baseUrl === undefined) {
    return undefined;
  }
  return {
    name,
    protocol,
    baseUrl,
    keyRequired: keyVariable !== undefined,
    tiers,
    params,
    limits,
    ...(keyVariable === undefined ? {} : { keyVariable }),
    ...(judge === undefined ? {} : { judge }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(tokenField === undefined ? {} : { tokenField }),
  };
}

function readProtocol(
  name: string,
  value: JsonObject,
  notes: Notes,
): "openai_compat" | "anthropic" {
  const written = readText(value, { key: "protocol", at: `providers.${name}.` }, notes) ?? "auto";
  if (!PROTOCOLS.includes(written)) {
    notes.problems.push(
      `"providers.${name}.protocol" is "${cut(written)}": write one of ${list(PROTOCOLS)}`,
    );
  }
  if (written === "anthropic") return "anthropic";
  const own = member(value, "base_url") === undefined;
  if (written === "auto" && name === "anthropic" && own) return "anthropic";
  if (written === "auto" && !KNOWN_BASE_URLS.has(name)) {
    notes.problems.push(
      `provider "${name}" is not registered: write "protocol": "openai_compat" and its "base_url"`,
    );
  }
  return "openai_compat";
}

/** Parameters of a query that carry a key, by their names. */
const SECRET_NAME = /key|auth|token|secret|password|signature|credential|^sig$/i;

function readBaseUrl(name: string, value: JsonObject, notes: Notes): string | undefined {
  const at = `providers.${name}.base_url`;
  const written = readText(value, { key: "base_url", at: `providers.${name}.` }, notes) ??
    KNOWN_BASE_URLS.get(name);
  if (written === undefined) {
    if (member(value, "base_url") === undefined) {
      notes.problems.push(`"${at}" is missing: write the URL before "/chat/completions"`);
    }
    return undefined;
  }
  const problem = baseUrlProblem(written) ?? keyInQuery(written);
  if (problem === undefined) return written;
  notes.problems.push(`"${at}" ${problem}`);
  return undefined;
}

/**
 * Tells what is wrong with a base URL.
 *
 * @param url The URL as written.
 * @returns A clause without the URL's query and userinfo, or `undefined` if nothing is wrong.
 */
export function baseUrlProblem(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return "is no URL: write one such as https://api.example.com/v1";
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    return `has the scheme "${cut(parsed.protocol)}": write http:// or https:// before the host`;
  }
  if (parsed.username !== "" || parsed.password !== "") {
    return "has a user name or password: put keys into the environment instead";
  }
  return parsed.hash === "" ? undefined : "has a fragment: leave out what follows the #";
}

/** A query belongs to an address (`?api-version=…`), but a file holds no keys, there neither. */
function keyInQuery(url: string): string | undefined {
  const named = [...new URL(url).searchParams.keys()].find((name) => SECRET_NAME.test(name));
  return named === undefined
    ? undefined
    : `has "${cut(named)}" in its query: keys come from the environment, so name a variable in ` +
      '"api_key_env", or give the whole URL as EXECUTIONKIT_BASE_URL';
}

function readKeyVariable(value: JsonObject, at: string, notes: Notes): string | undefined {
  const variable = readText(value, { key: "api_key_env", at: `${at}.` }, notes);
  if (variable === undefined || VARIABLE_NAME.test(variable)) return variable;
  notes.problems.push(
    `"${at}.api_key_env" is no name of a variable: write the name, such as OPENAI_API_KEY, never the key`,
  );
  return undefined;
}

function readTiers(
  value: JsonValue | undefined,
  at: string,
  notes: Notes,
): Record<Tier, string> | undefined {
  if (!isJsonObject(value)) {
    notes.problems.push(
      `"${at}" is ${kindOf(value)}: write {"fast": …, "balanced": …, "reasoning": …}`,
    );
    return undefined;
  }
  const read: Partial<Record<Tier, string>> = {};
  for (const tier of TIERS) {
    const model = member(value, tier);
    if (typeof model === "string" && model.trim() !== "") read[tier] = model;
    else notes.problems.push(`"${at}.${tier}" is ${kindOf(model)}: write the name of a model`);
  }
  for (const key of Object.keys(value)) {
    if (!TIERS.some((tier) => tier === key)) {
      notes.problems.push(`"${at}.${cut(key)}" is no tier: the tiers are ${list(TIERS)}`);
    }
  }
  const { fast, balanced, reasoning } = read;
  if (fast === undefined || balanced === undefined || reasoning === undefined) return undefined;
  return { fast, balanced, reasoning };
}

function readParams(
  value: JsonValue | undefined,
  at: string,
  notes: Notes,
): Partial<Record<Tier, JsonObject>> {
  const params: Partial<Record<Tier, JsonObject>> = {};
  if (value === undefined) return params;
  if (!isJsonObject(value)) {
    notes.problems.push(`"${at}" is ${kindOf(value)}, not an object with tiers`);
    return params;
  }
  for (const [key, entry] of Object.entries(value)) {
    const tier = TIERS.find((known) => known === key);
    if (tier === undefined) {
      notes.problems.push(`"${at}.${cut(key)}" is no tier: the tiers are ${list(TIERS)}`);
    } else if (!isJsonObject(entry)) {
      notes.problems.push(`"${at}.${tier}" is ${kindOf(entry)}, not an object`);
    } else params[tier] = entry;
  }
  return params;
}

function readLimits(value: JsonValue | undefined, at: string, notes: Notes): RequestLimits {
  if (value === undefined) return {};
  if (!isJsonObject(value)) {
    notes.problems.push(`"${at}" is ${kindOf(value)}, not an object`);
    return {};
  }
  noteUnknown(value, { keys: LIMIT_KEYS, at: `${at}.` }, notes);
  const concurrency = readPositive(value, { key: "concurrency", at: `${at}.` }, notes);
  const perSecond = readPositive(value, { key: "requests_per_second", at: `${at}.` }, notes);
  const burst = readPositive(value, { key: "burst", at: `${at}.` }, notes);
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(perSecond === undefined ? {} : { requestsPerSecond: perSecond }),
    ...(burst === undefined ? {} : { burst }),
  };
}

/** Bad shapes under `tools` are findings: a tool then works as if nothing were written. */
function readTools(value: JsonValue | undefined, notes: Notes): ToolsConfig {
  if (value === undefined) return NO_TOOLS;
  if (!isJsonObject(value)) {
    notes.findings.push(`"tools" is ${kindOf(value)}, not an object; it is ignored`);
    return NO_TOOLS;
  }
  noteUnknown(value, { keys: TOOL_KEYS, at: "tools." }, notes);
  const fs = member(value, "fs");
  const workspace = isJsonObject(fs) ? member(fs, "workspace") : undefined;
  const write = isJsonObject(fs) ? member(fs, "write") : undefined;
  return {
    ...backend(value, "search", notes),
    ...backend(value, "kb", notes),
    ...backend(value, "mail", notes),
    ...backend(value, "fs", notes),
    ...(typeof workspace === "string" && workspace !== "" ? { workspace } : {}),
    ...(typeof write === "boolean" ? { write } : {}),
  };
}

function backend(value: JsonObject, tool: string, notes: Notes): Record<string, string> {
  const entry = member(value, tool);
  if (entry === undefined) return {};
  const chosen = isJsonObject(entry) ? member(entry, "backend") : undefined;
  if (typeof chosen === "string") return { [tool]: chosen };
  if (!isJsonObject(entry) || chosen !== undefined) {
    notes.findings.push(`"tools.${tool}" has no text "backend"; it is ignored`);
  }
  return {};
}

interface Place {
  readonly key: string;
  readonly at: string;
}

function readText(value: JsonObject, place: Place, notes: Notes): string | undefined {
  const found = member(value, place.key);
  if (found === undefined) return undefined;
  if (typeof found === "string" && found.trim() !== "") return found;
  notes.problems.push(`"${place.at}${place.key}" is ${kindOf(found)}, not a text`);
  return undefined;
}

function readPositive(value: JsonObject, place: Place, notes: Notes): number | undefined {
  const found = member(value, place.key);
  if (found === undefined) return undefined;
  if (typeof found === "number" && Number.isFinite(found) && found > 0) return found;
  notes.problems.push(`"${place.at}${place.key}" is ${kindOf(found)}, not a number above 0`);
  return undefined;
}

function noteUnknown(
  value: JsonObject,
  known: { readonly keys: readonly string[]; readonly at: string },
  notes: Notes,
): void {
  for (const key of Object.keys(value)) {
    if (!known.keys.includes(key)) {
      notes.findings.push(`unknown key "${known.at}${cut(key)}" (known: ${list(known.keys)})`);
    }
  }
}

function kindOf(value: JsonValue | undefined): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return value.trim() === "" ? "an empty text" : "a text";
  return typeof value === "boolean" ? "a boolean" : `the number ${value}`;
}

function list(names: Iterable<string>): string {
  return [...names].map(cut).join(", ");
}

function cut(text: string): string {
  const points = Array.from(text);
  return points.length > 60 ? points.slice(0, 59).join("") + "…" : text;
}
