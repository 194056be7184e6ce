/**
 * What configuration can come to.
 *
 * @module
 */
import type { ModelSet } from "../models.ts";

/** Where the configuration in use came from. */
export type ConfigLayer =
  | "flag"
  | "environment"
  | "variable"
  | "project"
  | "user"
  | "scripted"
  | "none";

/** What keeps a model from being asked, in words that say how to mend it. */
export interface ConfigProblem {
  /**
   * `missing`: nothing is configured. `key`: the variable of a key is not set. `invalid`: something is written that
   * cannot be used. `unknown-provider`: a name that is not configured. `script`: the script of the scripted provider
   * cannot be loaded.
   */
  readonly code: "missing" | "key" | "invalid" | "unknown-provider" | "script";
  /** What is missing and how to set it; no secrets. */
  readonly message: string;
}

/** The models of a call, or what keeps them from being had. */
export type ModelsOutcome =
  | {
    /** They can be asked. */
    readonly kind: "ready";
    /** The models. */
    readonly models: ModelSet;
    /** What was odd in the configuration. */
    readonly warnings: readonly string[];
  }
  | {
    /** They cannot. */
    readonly kind: "problem";
    /** Why. */
    readonly problem: ConfigProblem;
  };

/** One configured provider, for the doctor. */
export interface ProviderReport {
  /** Its name. */
  readonly name: string;
  /** Where it is asked, without query and userinfo; `undefined` for the scripted one. */
  readonly baseUrl: string | undefined;
  /** The models by tier. */
  readonly tiers: Readonly<Record<string, string>>;
  /** Who judges, if one model judges everything. */
  readonly judge: string | undefined;
  /** The variable of its key; `undefined` where none is needed. */
  readonly keyVariable: string | undefined;
  /** Whether the key is there. */
  readonly key: "set" | "missing" | "not-needed";
}

/** Where a tool's backend was chosen, for the doctor. */
export interface BackendReport {
  /** `search`, `kb`, `mail` or `fs`. */
  readonly tool: string;
  /** The backend in use. */
  readonly backend: string;
  /** Who chose it. */
  readonly source: "flag" | "env" | "config" | "default";
}

/** What a config file says that is wrong or odd, one sentence each. */
export interface SchemaReport {
  /** What keeps the file from being used. */
  readonly problems: readonly string[];
  /** What harms nothing: unknown keys and the like. */
  readonly findings: readonly string[];
}

/** What configuration says, for the doctor. */
export interface ConfigReport {
  /** Where it came from. */
  readonly layer: ConfigLayer;
  /** The file, if it is one. */
  readonly path: string | undefined;
  /** The provider that is used unless a call names another. */
  readonly active: string | undefined;
  /** All of them. */
  readonly providers: readonly ProviderReport[];
  /** What keeps the active one from being used. */
  readonly problem: ConfigProblem | undefined;
  /** What the config file says that is wrong or odd; `undefined` where there is none or it could not be read. */
  readonly schema: SchemaReport | undefined;
  /** What is odd about variables: words that are not known, a workspace that is not there. */
  readonly environment: readonly string[];
  /** The `.env` files in use. */
  readonly envFiles: readonly string[];
  /** Backends of the host tools. */
  readonly backends: readonly BackendReport[];
  /** Kit's directories. */
  readonly directories: {
    /** Where `kit.jsonc` is looked for. */
    readonly config: string | undefined;
    /** Where user machines are. */
    readonly data: string | undefined;
    /** Where checkpoints go by default. */
    readonly state: string | undefined;
  };
}
