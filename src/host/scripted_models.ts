/**
 * The provider that needs no model: it plays a script, or makes short answers of its own, and says so.
 *
 * @module
 */
import { isJsonObject } from "../json/mod.ts";
import type { Script } from "../machine/mod.ts";
import { createScriptedProvider, type ProviderScript } from "../providers/mod.ts";
import { SCRIPTED_PROVIDER } from "./config/load_config.ts";
import type { ModelsOutcome } from "./config/outcome.ts";
import type { ModelSet } from "./models.ts";
import type { HostOptions } from "./options.ts";

/** No literal where it is imported: only a script needs what reads one. */
const SCRIPT_FILE: string = "./script_file.ts";

/**
 * Makes the scripted models.
 *
 * @param options What the host is made from; its `scriptPath` names a scenario file or a bare script.
 * @returns The models, or why the script cannot be used.
 */
export async function createScriptedModels(options: HostOptions): Promise<ModelsOutcome> {
  const script = await loadScript(options);
  if (typeof script === "string") {
    const message = `Cannot use script "${options.scriptPath}": ${script}`;
    return { kind: "problem", problem: { code: "script", message } };
  }
  const plain = createScriptedProvider(
    script === undefined ? {} : { script: providerScript(script) },
  );
  const provider = options.wrapProvider === undefined ? plain : options.wrapProvider(plain);
  const models: ModelSet = {
    name: SCRIPTED_PROVIDER,
    scripted: true,
    tiers: { fast: provider, balanced: provider, reasoning: provider },
    params: {},
    ...(script === undefined ? {} : { script }),
  };
  return { kind: "ready", models, warnings: [] };
}

/** The part of a script that serves calls which are no machines. */
function providerScript({ produce, judge }: Script): ProviderScript {
  return {
    ...(Array.isArray(produce) || isJsonObject(produce) ? { produce } : {}),
    ...(Array.isArray(judge) ? { judge } : {}),
  };
}

async function loadScript(options: HostOptions): Promise<Script | string | undefined> {
  if (options.scriptPath === undefined) return undefined;
  const { readScript }: typeof import("./script_file.ts") = await import(SCRIPT_FILE);
  return await readScript(options.scriptPath, options);
}
