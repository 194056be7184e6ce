/**
 * Who the server says it is, and the results that say it.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import { SERVER_INFO_KEY } from "./meta.ts";
import { type LegacyRevision, MODERN_REVISION, vocabularyOf } from "./revisions.ts";

/** How long a client may keep what does not change while the process lives: an hour, in milliseconds. */
export const CACHE_MS = 3_600_000;

/** Who the server is. */
export interface ServerInfo {
  /** For programs. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** Version of the program. */
  readonly version: string;
  /** What the program is, in a sentence. */
  readonly description: string;
  /** What a model should know before it uses the tools; left out where empty. */
  readonly instructions?: string;
}

/**
 * The result of `initialize`.
 *
 * @param info Who the server is.
 * @param revision The revision that is agreed on.
 * @returns The result in the shape of that revision.
 */
export function initializeResult(info: ServerInfo, revision: LegacyRevision): JsonObject {
  const { serverTitle, serverDescription } = vocabularyOf(revision);
  return {
    protocolVersion: revision,
    capabilities: { tools: {} },
    serverInfo: {
      name: info.name,
      ...(serverTitle ? { title: info.title } : {}),
      version: info.version,
      ...(serverDescription ? { description: info.description } : {}),
    },
    ...instructions(info),
  };
}

/**
 * The result of `server/discover`.
 *
 * @param info Who the server is.
 * @returns The result.
 */
export function discoverResult(info: ServerInfo): JsonObject {
  return {
    resultType: "complete",
    supportedVersions: [MODERN_REVISION],
    capabilities: { tools: {} },
    ...instructions(info),
    ttlMs: CACHE_MS,
    cacheScope: "public",
    _meta: serverMeta(info),
  };
}

/**
 * `_meta` of every modern result.
 *
 * @param info Who the server is.
 * @returns An object that names it.
 */
export function serverMeta(info: ServerInfo): JsonObject {
  const { name, title, version } = info;
  return { [SERVER_INFO_KEY]: { name, title, version } };
}

function instructions(info: ServerInfo): JsonObject {
  return info.instructions ? { instructions: info.instructions } : {};
}
