/**
 * The models of one call: who produces at which tier, who judges.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { LlmProvider } from "../llm/mod.ts";
import type { Script, Tier } from "../machine/mod.ts";

/** Models by tier, from one configured provider. */
export interface ModelSet {
  /** The name in the configuration; `environment` for the variables, `scripted` for the one built in. */
  readonly name: string;
  /** Whether the answers are made without a model; every result says so then. */
  readonly scripted: boolean;
  /** Who produces; a missing tier is a preparation error where a machine needs it. */
  readonly tiers: Readonly<Partial<Record<Tier, LlmProvider>>>;
  /** Who decides every gate, instead of the model of the state's tier. */
  readonly judge?: LlmProvider;
  /** What every run is answered with instead of the providers, where a script was given. */
  readonly script?: Script;
  /** Parameters of each tier as the provider takes them, such as `reasoning_effort`. */
  readonly params: Readonly<Partial<Record<Tier, JsonObject>>>;
}
