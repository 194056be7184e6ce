/**
 * What is measured against what.
 *
 * @module
 */
import {
  ensureNode,
  ensureNpm,
  ensurePython,
  MissingPeer,
  NPM_SETS,
  placeScript,
  ROOT,
} from "../../peers/install.ts";
import type { Contestant } from "./server_process.ts";

/** The yardstick: the ratios of every row are to this one. */
export const BARE: Contestant = {
  name: "bare Deno",
  command: ["deno", "run", "-A", "--no-config", `${ROOT}/tests/bench/servers/bare.ts`],
  cwd: ROOT,
  modern: true,
};

/** Kit from source, as a host would start it. */
export const KIT: Contestant = {
  name: "Kit",
  command: ["deno", "run", "-A", `${ROOT}/mcp.ts`],
  cwd: ROOT,
  modern: true,
};

/** Kit by the module that is its library, which hands over to the program when it is run. */
export const KIT_BY_LIBRARY: Contestant = {
  ...KIT,
  name: "Kit by mod.ts",
  command: ["deno", "run", "-A", `${ROOT}/mod.ts`],
};

/**
 * Everything that can be measured here: the bare program, Kit, and the peers that could be installed.
 *
 * @param warn Told of each that could not.
 */
export async function findContestants(
  warn: (message: string) => void,
): Promise<readonly Contestant[]> {
  const makers = [sdk("1", "node"), sdk("1", "deno"), sdk("2", "node"), sdk("2", "deno"), original];
  const found: Contestant[] = [BARE, KIT];
  for (const make of makers) {
    try {
      found.push(await make());
    } catch (error) {
      if (!(error instanceof MissingPeer)) throw error;
      warn(error.message);
    }
  }
  return found;
}

function sdk(generation: "1" | "2", runtime: "node" | "deno"): () => Promise<Contestant> {
  return async () => {
    const cwd = await ensureNpm(NPM_SETS.sdk);
    const script = await placeScript("bench/servers/sdk.mjs", cwd);
    const program = runtime === "node" ? [await ensureNode()] : ["deno", "run", "-A"];
    const name = `SDK ${generation} on ${runtime === "node" ? "Node" : "Deno"}`;
    return { name, command: [...program, script, generation], cwd, modern: generation === "2" };
  };
}

async function original(): Promise<Contestant> {
  const command = [await ensurePython(), `${ROOT}/tests/bench/servers/execution_kit.py`];
  return { name: "executionkit", command, cwd: ROOT, modern: false };
}
