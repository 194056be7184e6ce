/**
 * Tools and their results in the shape of each revision.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import { CACHE_MS, serverMeta } from "./meta.ts";
import { type Revision, type Vocabulary, vocabularyOf } from "./revisions.ts";
import type { ServerInfo } from "./server_info.ts";
import type { ContentBlock, Tool, ToolOutcome } from "./tool.ts";

/** What came of a call in the end. */
export type ToolResult = Extract<ToolOutcome, { kind: "result" }>;

/**
 * The result of `tools/list`.
 *
 * @param tools All tools, in the order in which they are listed.
 * @param revision Whose shape it has.
 * @param info Who the server is.
 * @returns One page.
 */
export function listResult(
  tools: readonly Tool[],
  revision: Revision,
  info: ServerInfo,
): JsonObject {
  const vocabulary = vocabularyOf(revision);
  const list = tools.map((tool) => encodeTool(tool, vocabulary));
  if (!vocabulary.isModern) return { tools: list };
  return {
    resultType: "complete",
    tools: list,
    ttlMs: CACHE_MS,
    cacheScope: "public",
    _meta: serverMeta(info),
  };
}

function encodeTool(tool: Tool, vocabulary: Vocabulary): JsonObject {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool;
  return {
    name,
    ...(vocabulary.structuredOutput ? { title } : {}),
    description,
    inputSchema,
    ...(vocabulary.structuredOutput && outputSchema !== undefined ? { outputSchema } : {}),
    ...(vocabulary.toolAnnotations ? { annotations: { ...annotations } } : {}),
  };
}

/**
 * The result of `tools/call`.
 *
 * @param result What the tool gave.
 * @param revision Whose shape it has.
 * @param info Who the server is.
 * @returns The result. That of a failed tool has no `structuredContent`.
 */
export function callResult(result: ToolResult, revision: Revision, info: ServerInfo): JsonObject {
  const vocabulary = vocabularyOf(revision);
  const { isError = false, structuredContent, meta } = result;
  const structured = isError ? undefined : structuredContent;
  const content: JsonValue[] = result.content.map((block) => encodeBlock(block, vocabulary));
  if (structured !== undefined && !result.content.some(isJsonText)) {
    content.push({ type: "text", text: JSON.stringify(structured) });
  }
  const allMeta = { ...meta, ...(vocabulary.isModern ? serverMeta(info) : {}) };
  return {
    ...(vocabulary.isModern ? { resultType: "complete" } : {}),
    content,
    ...(structured !== undefined && vocabulary.structuredOutput
      ? { structuredContent: structured }
      : {}),
    ...(isError ? { isError: true } : {}),
    ...(Object.keys(allMeta).length > 0 ? { _meta: allMeta } : {}),
  };
}

/** Tools of ours give their JSON themselves, beside a text for people; a tool that gave none gets it added. */
function isJsonText(block: ContentBlock): boolean {
  return block.type === "text" && typeof block.text === "string" && block.text.startsWith("{");
}

function encodeBlock(block: ContentBlock, vocabulary: Vocabulary): JsonValue {
  if (block.type === "audio" && !vocabulary.audio) {
    return { type: "text", text: `[audio, ${String(block["mimeType"])}]` };
  }
  if (block.type === "resource_link" && !vocabulary.resourceLinks) {
    return { type: "text", text: String(block["uri"]) };
  }
  if (vocabulary.resourceLinks) return { ...block };
  const { _meta, ...rest }: Readonly<Record<string, JsonValue>> = { ...block };
  return rest;
}

/**
 * The result of a tool that could not do what was asked, so that a model can act on it.
 *
 * @param code A fixed word.
 * @param problems What was wrong, at least one.
 * @returns A result with `isError`: the problems as text, and as JSON with the code.
 */
export function failedResult(code: string, problems: readonly string[]): ToolResult {
  const report = { status: "error", error: code, errors: problems, warnings: [] };
  return {
    kind: "result",
    isError: true,
    content: [
      { type: "text", text: problems.join("\n") },
      { type: "text", text: JSON.stringify(report) },
    ],
  };
}
