/**
 * The {@link https://modelcontextprotocol.io/specification | Model Context Protocol} over any byte stream: every
 * published revision, tools only.
 *
 * @module
 */
export { dispatch, MAX_STREAMS } from "./dispatch.ts";
export type { CallRequest, ConnectionView, Effect, Session } from "./effects.ts";
export {
  LEGACY_REVISIONS,
  type LegacyRevision,
  MODERN_REVISION,
  type Revision,
} from "./revisions.ts";
export { DRAIN_MS, serve, type ServeEnd, type ServeOptions } from "./serve.ts";
export { Server } from "./server.ts";
export type { ServerOptions, ServerPorts } from "./server_options.ts";
export { countFlag, parseServerFlags, type ServerFlag, type ServerFlags } from "./server_flags.ts";
export type { ServerInfo } from "./server_info.ts";
export { loadStateKey, stateDirectory, type StateKeyOptions } from "./state_key.ts";
export type {
  Answer,
  ArgumentProblem,
  ContentBlock,
  PeerRequest,
  Progress,
  Question,
  Tool,
  ToolAnnotations,
  ToolContext,
  ToolOutcome,
} from "./tool.ts";
