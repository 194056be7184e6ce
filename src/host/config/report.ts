/**
 * What configuration says, for the doctor.
 *
 * @module
 */
import { redactUrl } from "./redact_url.ts";
import type { HostCore } from "../core.ts";
import {
  chooseBackends,
  type HostToolOptions,
  openRoot,
  workspaceRoot,
} from "../tools/host_tools.ts";
import { type Config, NO_TOOLS, type ProviderConfig } from "./config.ts";
import { confirmation } from "./confirmation.ts";
import { SCRIPTED_PROVIDER } from "./load_config.ts";
import type { ConfigReport, ProviderReport } from "./outcome.ts";
import type { Secrets } from "./secrets.ts";

/**
 * Reports the configuration. Makes no request.
 *
 * @param core The host.
 * @returns Where it came from, what it names, and what is wrong with it; no keys.
 */
export async function reportConfiguration(core: HostCore): Promise<ConfigReport> {
  const { options } = core;
  const loaded = await core.config();
  const secrets = await core.secrets();
  const scripted = options.provider === SCRIPTED_PROVIDER;
  const config = loaded.config;
  const active = options.provider ?? config?.active;
  const asked = await core.models();
  const tools = config?.tools ?? NO_TOOLS;
  const backends = chooseBackends({ host: options, config: tools, secrets });
  return {
    layer: scripted ? "scripted" : loaded.layer,
    path: scripted ? undefined : loaded.path,
    active,
    providers: config === undefined ? [] : providers(config, secrets),
    problem: asked.kind === "problem" ? asked.problem : undefined,
    schema: scripted ? undefined : loaded.schema,
    environment: await environmentWarnings(core, { config: tools, secrets }),
    envFiles: secrets.files,
    backends: Object.values(backends),
    directories: loaded.directories,
  };
}

async function environmentWarnings(
  { options }: HostCore,
  tools: Omit<HostToolOptions, "host">,
): Promise<readonly string[]> {
  const { warnings } = confirmation(options.ports.env);
  const root = workspaceRoot({ host: options, ...tools });
  if (root === undefined) return warnings;
  const opened = await openRoot(root, options.ports);
  return typeof opened === "string" ? [...warnings, opened] : warnings;
}

function providers(config: Config, secrets: Secrets): readonly ProviderReport[] {
  return [...config.providers.values()].map((provider) => ({
    name: provider.name,
    baseUrl: redactUrl(provider.baseUrl),
    tiers: provider.tiers,
    judge: provider.judge,
    keyVariable: provider.keyVariable,
    key: keyState(provider, secrets),
  }));
}

function keyState(provider: ProviderConfig, secrets: Secrets): ProviderReport["key"] {
  if (provider.keyVariable === undefined) return "not-needed";
  if (secrets.get(provider.keyVariable) !== undefined) return "set";
  return provider.keyRequired ? "missing" : "not-needed";
}
