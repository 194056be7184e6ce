/**
 * The published revisions of the {@link https://modelcontextprotocol.io/specification | Model Context Protocol}, and
 * what each of them has words for.
 *
 * @module
 */

/** Revisions that begin with `initialize`, oldest first. */
export const LEGACY_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;
/** The revision without a handshake: every request says what it speaks. */
export const MODERN_REVISION = "2026-07-28";
/** What a client is offered that asks for a revision nobody serves. */
export const LATEST_LEGACY_REVISION = "2025-11-25";

/** A revision that begins with `initialize`. */
export type LegacyRevision = typeof LEGACY_REVISIONS[number];
/** Any revision that is served. */
export type Revision = LegacyRevision | typeof MODERN_REVISION;

/** Which fields a revision has. A peer is never sent what its revision has no word for. */
export interface Vocabulary {
  /** Results say `resultType`, lists say how long they may be kept, `_meta` names the server. */
  readonly isModern: boolean;
  /** `title` of the server. */
  readonly serverTitle: boolean;
  /** `description` of the server. */
  readonly serverDescription: boolean;
  /** `annotations` of tools. */
  readonly toolAnnotations: boolean;
  /** `title` and `outputSchema` of tools, `structuredContent` of results. */
  readonly structuredOutput: boolean;
  /** Blocks of audio. */
  readonly audio: boolean;
  /** Blocks that link to a resource, and `_meta` of blocks. */
  readonly resourceLinks: boolean;
  /** `message` of progress. */
  readonly progressMessage: boolean;
  /** Arrays of messages. */
  readonly batches: boolean;
  /** Questions to a person in the middle of a call. */
  readonly elicitation: "none" | "unnamed-form" | "form" | "multi-round-trip";
}

const OLDEST: Vocabulary = {
  isModern: false,
  serverTitle: false,
  serverDescription: false,
  toolAnnotations: false,
  structuredOutput: false,
  audio: false,
  resourceLinks: false,
  progressMessage: false,
  batches: false,
  elicitation: "none",
};
const MARCH_2025: Vocabulary = {
  ...OLDEST,
  toolAnnotations: true,
  audio: true,
  progressMessage: true,
  batches: true,
};
const JUNE_2025: Vocabulary = {
  ...MARCH_2025,
  serverTitle: true,
  structuredOutput: true,
  resourceLinks: true,
  batches: false,
  elicitation: "unnamed-form",
};
const NOVEMBER_2025: Vocabulary = { ...JUNE_2025, serverDescription: true, elicitation: "form" };
const MODERN: Vocabulary = { ...NOVEMBER_2025, isModern: true, elicitation: "multi-round-trip" };

const VOCABULARIES: Readonly<Record<Revision, Vocabulary>> = {
  "2024-11-05": OLDEST,
  "2025-03-26": MARCH_2025,
  "2025-06-18": JUNE_2025,
  "2025-11-25": NOVEMBER_2025,
  "2026-07-28": MODERN,
};

/**
 * What a revision has words for.
 *
 * @param revision The revision.
 * @returns Its vocabulary.
 */
export function vocabularyOf(revision: Revision): Vocabulary {
  return VOCABULARIES[revision];
}

/**
 * Tells whether a version is one that begins with `initialize`.
 *
 * @param version As a client wrote it.
 * @returns Whether it is served after a handshake.
 */
export function isLegacyRevision(version: string): version is LegacyRevision {
  return LEGACY_REVISIONS.some((revision) => revision === version);
}
