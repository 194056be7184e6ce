/**
 * What the parts of a host share, each made on first need and then kept.
 *
 * @module
 */
import type { Ledger } from "../llm/mod.ts";
import type { HostTool } from "../machine/mod.ts";
import type { Config, ToolsConfig } from "./config/config.ts";
import { NO_TOOLS } from "./config/config.ts";
import { kitDirectories } from "./config/directories.ts";
import { loadConfig, type LoadedConfig, SCRIPTED_PROVIDER } from "./config/load_config.ts";
import type { ModelsOutcome } from "./config/outcome.ts";
import { readSecrets, type Secrets } from "./config/secrets.ts";
import type { MachineCache } from "./machine_cache.ts";
import type { ModelSet } from "./models.ts";
import type { HostLimits, HostOptions } from "./options.ts";
import type { Registries } from "./registry/registries.ts";

/**
 * Not literals where they are imported: what a literal names is read with this file, reached or not, and a vote needs
 * neither machines nor their tools. `calls.ts` names them all for programs that must know their files.
 */
const REGISTRIES: string = "./registry/registries.ts";
const CACHE: string = "./machine_cache.ts";
const TOOLS: string = "./tools/host_tools.ts";
const MODELS: string = "./create_models.ts";
const SCRIPTED: string = "./scripted_models.ts";
const LLM: string = "../llm/mod.ts";

/** Tools, and what the config said of them when they were made. */
interface MadeTools {
  readonly config: ToolsConfig;
  readonly made: Promise<ReadonlyMap<string, HostTool>>;
}

/** What the parts of a host share. */
export class HostCore {
  /** What the host is made from. */
  readonly options: HostOptions;
  /** Its bounds. */
  readonly limits: HostLimits;
  #config: Promise<LoadedConfig> | undefined;
  #ledger: Promise<Ledger> | undefined;
  #secrets: Promise<Secrets> | undefined;
  #machines: Promise<MachineCache> | undefined;
  #registries: Promise<Registries> | undefined;
  #tools: MadeTools | undefined;
  readonly #models = new Map<string, ModelSet>();

  /** Makes the shared parts; reads nothing. */
  constructor(options: HostOptions, limits: HostLimits) {
    this.options = options;
    this.limits = limits;
  }

  /** The configuration. A problem is looked at again with the next call, so that it can be mended meanwhile. */
  async config(): Promise<LoadedConfig> {
    const loading = this.#config ??= loadConfig(this.options);
    const loaded = await loading.catch((error: unknown) => {
      this.#config = undefined;
      throw error;
    });
    if (loaded.problem !== undefined) this.#config = undefined;
    return loaded;
  }

  /** Where keys are looked up. */
  secrets(): Promise<Secrets> {
    const { ports, door } = this.options;
    const user = kitDirectories(ports).config;
    return this.#secrets ??= readSecrets(ports, door === "cli" ? [".", user] : [user]);
  }

  /** What was read last; loaded with the first machine. */
  machines(): Promise<MachineCache> {
    return this.#machines ??= this.#makeCache();
  }

  /** Which machines documents see. */
  registries(): Promise<Registries> {
    return this.#registries ??= this.#openRegistries();
  }

  /** What the config says of tools; nothing where there is no usable config. */
  async toolsConfig(): Promise<ToolsConfig> {
    return this.options.models === undefined
      ? (await this.config()).config?.tools ?? NO_TOOLS
      : NO_TOOLS;
  }

  /** The account of the process: every call's is below it. */
  ledger(): Promise<Ledger> {
    return this.#ledger ??= this.#openLedger();
  }

  /** The tools that machines find: the same ones as long as the config says the same of them. */
  async tools(): Promise<ReadonlyMap<string, HostTool>> {
    const config = await this.toolsConfig();
    if (this.#tools?.config !== config) this.#tools = { config, made: this.#makeTools(config) };
    return await this.#tools.made;
  }

  /**
   * The models of a configured provider.
   *
   * @param name The provider; by default `--provider`, then what the config says.
   * @returns The models, or what keeps them from being had.
   */
  async models(name?: string): Promise<ModelsOutcome> {
    const { options } = this;
    if (options.models !== undefined) {
      if (name === undefined || name === options.models.name) {
        return { kind: "ready", models: options.models, warnings: [] };
      }
      return unknownProvider(name, [options.models.name]);
    }
    const wanted = name ?? options.provider;
    if (wanted === SCRIPTED_PROVIDER && options.provider === SCRIPTED_PROVIDER) {
      return await this.#scripted();
    }
    const loaded = await this.config();
    if (loaded.config === undefined) {
      const problem = loaded.problem ?? { code: "missing", message: "No model is configured" };
      return { kind: "problem", problem };
    }
    const outcome = await this.#configured(loaded.config, { wanted, path: loaded.path });
    if (outcome.kind === "problem" || loaded.layer !== "project") return outcome;
    const named = `the config "${loaded.path}" of the current directory is used`;
    return { ...outcome, warnings: [...outcome.warnings, named] };
  }

  async #configured(
    config: Config,
    { wanted, path }: { readonly wanted: string | undefined; readonly path: string | undefined },
  ): Promise<ModelsOutcome> {
    const name = wanted ?? config.active;
    const names = [...config.providers.keys()];
    if (name === undefined) {
      const where = path === undefined ? "the config" : `"${path}"`;
      const message = `No provider is chosen: write "active" into ${where}, or name one with ` +
        `--provider (configured: ${names.join(", ")})`;
      return { kind: "problem", problem: { code: "invalid", message } };
    }
    const provider = config.providers.get(name);
    if (provider === undefined) return unknownProvider(name, names);
    const known = this.#models.get(name);
    if (known !== undefined) return { kind: "ready", models: known, warnings: [] };
    const { createModels }: typeof import("./create_models.ts") = await import(MODELS);
    const outcome = await createModels(provider, {
      ports: this.options.ports,
      secrets: await this.secrets(),
      wrap: this.options.wrapProvider,
    });
    if (outcome.kind === "ready") this.#models.set(name, outcome.models);
    return outcome;
  }

  async #makeCache(): Promise<MachineCache> {
    const { MachineCache }: typeof import("./machine_cache.ts") = await import(CACHE);
    return new MachineCache();
  }

  async #openRegistries(): Promise<Registries> {
    const { ports } = this.options;
    const { openRegistries }: typeof import("./registry/registries.ts") = await import(REGISTRIES);
    return await openRegistries(ports, kitDirectories(ports));
  }

  async #openLedger(): Promise<Ledger> {
    const { createLedger }: typeof import("../llm/mod.ts") = await import(LLM);
    const { maxProcessCalls, maxProcessTokens } = this.limits;
    return createLedger({
      ...(maxProcessCalls === undefined ? {} : { maxCalls: maxProcessCalls }),
      ...(maxProcessTokens === undefined ? {} : { maxTokens: maxProcessTokens }),
    }, { clock: this.options.ports.clock });
  }

  async #scripted(): Promise<ModelsOutcome> {
    const known = this.#models.get(SCRIPTED_PROVIDER);
    if (known !== undefined) return { kind: "ready", models: known, warnings: [] };
    const { createScriptedModels }: typeof import("./scripted_models.ts") = await import(SCRIPTED);
    const outcome = await createScriptedModels(this.options);
    if (outcome.kind === "ready") this.#models.set(SCRIPTED_PROVIDER, outcome.models);
    return outcome;
  }

  async #makeTools(config: ToolsConfig): Promise<ReadonlyMap<string, HostTool>> {
    const { hostTools }: typeof import("./tools/host_tools.ts") = await import(TOOLS);
    return hostTools({
      host: this.options,
      config,
      secrets: await this.secrets(),
    });
  }
}

function unknownProvider(name: string, names: readonly string[]): ModelsOutcome {
  const shown = Array.from(name).slice(0, 60).join("");
  const message = `No provider "${shown}" is configured (configured: ${names.join(", ")})`;
  return { kind: "problem", problem: { code: "unknown-provider", message } };
}
