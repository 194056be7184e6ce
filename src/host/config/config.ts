/**
 * Configuration after it was read: typed, and sound as far as can be told without asking anybody.
 *
 * @module
 */
import type { JsonObject } from "../../json/mod.ts";
import type { Tier } from "../../machine/mod.ts";

/** Bounds on the requests of one provider. */
export interface RequestLimits {
  /** Most requests at once. */
  readonly concurrency?: number;
  /** Requests a second, sustained. */
  readonly requestsPerSecond?: number;
  /** How many may leave at once after a pause. */
  readonly burst?: number;
}

/** One configured provider. */
export interface ProviderConfig {
  /** Its name. */
  readonly name: string;
  /** How it is spoken to. */
  readonly protocol: "openai_compat" | "anthropic";
  /** Where. */
  readonly baseUrl: string;
  /** The variable that holds its key; absent: it needs none. */
  readonly keyVariable?: string;
  /** Whether an unset key is an error; false for `EXECUTIONKIT_API_KEY`, which is optional. */
  readonly keyRequired: boolean;
  /** Model names by tier. */
  readonly tiers: Readonly<Record<Tier, string>>;
  /** The model that judges every gate; absent: that of the state's tier. */
  readonly judge?: string;
  /** Parameters by tier. */
  readonly params: Readonly<Partial<Record<Tier, JsonObject>>>;
  /** Bounds on its requests. */
  readonly limits: RequestLimits;
  /** Most milliseconds of one request; absent: the adapter's default. */
  readonly timeoutMs?: number;
  /** The wire name of the output limit; absent: the adapter's default. */
  readonly tokenField?: string;
}

/** Which backends the host tools use. */
export interface ToolsConfig {
  /** Web search. */
  readonly search?: string;
  /** The knowledge base. */
  readonly kb?: string;
  /** Replies. */
  readonly mail?: string;
  /** Files: `local` or `stub`. */
  readonly fs?: string;
  /** The directory that file tools work in, as written. */
  readonly workspace?: string;
  /** Whether file tools may write. */
  readonly write?: boolean;
}

/** A configuration. */
export interface Config {
  /** The provider that is used unless a call names another. */
  readonly active: string | undefined;
  /** All of them, by name. */
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** Backends. */
  readonly tools: ToolsConfig;
}

/** The three tiers, weakest first. */
export const TIERS: readonly Tier[] = ["fast", "balanced", "reasoning"];

/** No tools configured, for configurations that are no file. */
export const NO_TOOLS: ToolsConfig = Object.freeze({});
