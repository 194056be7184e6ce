/**
 * From a message and the state of the connection to effects: every decision of the protocol that needs nothing else.
 *
 * Both eras are served side by side, chosen for each message (README.md, "The era is chosen for each message").
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/value.ts";
import {
  classifyElement,
  ErrorCode,
  type ErrorObject,
  type Incoming,
  isRequestId,
  type Message,
  type Notification,
  type Request,
  type RequestId,
} from "../jsonrpc/message.ts";
import type { CallRequest, ConnectionView, Effect, Session } from "./effects.ts";
import {
  CACHE_MS,
  checkLegacyMeta,
  checkModernMeta,
  hasModernClaim,
  isImplementation,
  isWellFormedModernClaim,
  type RequestMeta,
  serverMeta,
} from "./meta.ts";
import {
  isLegacyRevision,
  LATEST_LEGACY_REVISION,
  type LegacyRevision,
  MODERN_REVISION,
  vocabularyOf,
} from "./revisions.ts";
import type { ServerInfo } from "./server_info.ts";

/** How many streams of notifications may be open at once. */
export const MAX_STREAMS = 64;

/** How many messages a batch may have: what its requests ask for begins at once. */
export const MAX_BATCH_MESSAGES = 1_024;

/** Methods that only the modern era has, so that a request for one is modern even without a claim. */
const MODERN_METHODS: ReadonlySet<string> = new Set(["server/discover", "subscriptions/listen"]);
/** Methods that both eras have. */
const SHARED_METHODS: ReadonlySet<string> = new Set(["tools/list", "tools/call"]);

/**
 * Decides what a message makes the server do.
 *
 * @param incoming What a line held.
 * @param view The state of the connection.
 * @param info Who the server is.
 * @returns What to do, in this order.
 */
export function dispatch(
  incoming: Incoming,
  view: ConnectionView,
  info: ServerInfo,
): readonly Effect[] {
  return incoming.kind === "batch"
    ? dispatchBatch(incoming.elements, view, info)
    : dispatchMessage(incoming, view, info);
}

function dispatchMessage(
  message: Message,
  view: ConnectionView,
  info: ServerInfo,
): readonly Effect[] {
  switch (message.kind) {
    case "invalid":
      return [refuse(message.id, message.error)];
    case "response":
      return [{ kind: "settle", response: message }];
    case "notification":
      return notified(message, view);
    case "request":
      return view.isInFlight(message.id)
        ? [refuse(undefined, duplicateId(message.id))]
        : requested(message, view, info);
  }
}

function dispatchBatch(
  elements: readonly JsonValue[],
  view: ConnectionView,
  info: ServerInfo,
): readonly Effect[] {
  const { session } = view;
  if (session === undefined || !vocabularyOf(session.revision).batches) {
    return [refuse(undefined, invalidRequest("A batch is allowed only in a 2025-03-26 session"))];
  }
  if (elements.length === 0) {
    return [refuse(undefined, invalidRequest("A batch must not be empty"))];
  }
  if (elements.length > MAX_BATCH_MESSAGES) {
    const message = `A batch must not have more than ${MAX_BATCH_MESSAGES} messages`;
    return [refuse(undefined, invalidRequest(message))];
  }
  const ids = new Set<RequestId>();
  const effects = elements.flatMap((element) => {
    const message = classifyElement(element);
    const isNew = message.kind !== "request" || !ids.has(message.id);
    if (message.kind === "request") ids.add(message.id);
    if (!isNew) return [refuse(undefined, duplicateId(message.id))];
    return dispatchElement(message, view, info);
  });
  return [{ kind: "batch", effects }];
}

function dispatchElement(
  message: Message,
  view: ConnectionView,
  info: ServerInfo,
): readonly Effect[] {
  if (message.kind === "request") {
    const { id, method, params } = message;
    if (method === "initialize") {
      return [refuse(id, invalidRequest("initialize must not be part of a batch"))];
    }
    if (hasModernClaim(params) || MODERN_METHODS.has(method)) {
      return [refuse(id, invalidRequest(`${MODERN_REVISION} has no batches`))];
    }
  }
  return dispatchMessage(message, view, info);
}

function notified(message: Notification, view: ConnectionView): readonly Effect[] {
  if (message.method === "notifications/cancelled") {
    const id = member(message.params, "requestId");
    return isRequestId(id) ? [{ kind: "cancel", id }] : [];
  }
  const isConfirmation = message.method === "notifications/initialized" &&
    view.session !== undefined;
  return isConfirmation ? [{ kind: "confirm-session" }] : [];
}

function requested(
  request: Request,
  view: ConnectionView,
  info: ServerInfo,
): readonly Effect[] {
  const { id, method, params } = request;
  const { session } = view;
  if (method === "initialize" && !isWellFormedModernClaim(params)) return initialize(request, info);
  if (hasModernClaim(params) || MODERN_METHODS.has(method)) return modern(request, view, info);
  if (method === "ping") return [{ kind: "reply", id, result: {} }];
  if (session !== undefined) return legacy(request, session);
  if (!SHARED_METHODS.has(method)) return [refuse(id, methodNotFound(method))];
  const message = `Request for ${method} has no _meta and no initialize came before it`;
  return [refuse(id, invalidParams(message))];
}

function initialize(request: Request, info: ServerInfo): readonly Effect[] {
  const { id, params } = request;
  const requested = member(params, "protocolVersion");
  const capabilities = member(params, "capabilities");
  if (typeof requested !== "string") {
    return [refuse(id, invalidParams("initialize needs a string protocolVersion"))];
  }
  if (!isJsonObject(capabilities)) {
    return [refuse(id, invalidParams("initialize needs an object capabilities"))];
  }
  if (!isImplementation(member(params, "clientInfo"))) {
    const message = "initialize needs an object clientInfo with string name and version";
    return [refuse(id, invalidParams(message))];
  }
  const revision = isLegacyRevision(requested) ? requested : LATEST_LEGACY_REVISION;
  return [
    { kind: "open-session", session: { revision, capabilities, isConfirmed: false } },
    { kind: "reply", id, result: initializeResult(info, revision) },
  ];
}

function legacy(request: Request, session: Session): readonly Effect[] {
  const { id, method, params } = request;
  if (!SHARED_METHODS.has(method)) return [refuse(id, methodNotFound(method))];
  const meta = checkLegacyMeta(params);
  if (!meta.ok) return [refuse(id, meta.error)];
  const { revision, capabilities } = session;
  if (method === "tools/list") return listTools(request, { revision });
  const mayAsk = session.isConfirmed && vocabularyOf(revision).elicitation !== "none";
  return callTool(request, { ...meta.value, capabilities, revision, mayAsk });
}

function modern(request: Request, view: ConnectionView, info: ServerInfo): readonly Effect[] {
  const { id, method, params } = request;
  const meta = checkModernMeta(params);
  if (!meta.ok) return [refuse(id, meta.error)];
  switch (method) {
    case "server/discover":
      return [{ kind: "reply", id, result: discoverResult(info) }];
    case "tools/list":
      return listTools(request, { revision: MODERN_REVISION });
    case "tools/call":
      return callTool(request, { ...meta.value, revision: MODERN_REVISION, mayAsk: true });
    case "subscriptions/listen":
      return listen(request, view);
    default:
      return [refuse(id, methodNotFound(method))];
  }
}

function listTools(
  request: Request,
  options: Pick<CallRequest, "revision">,
): readonly Effect[] {
  const { id, params } = request;
  // The list has one page, so no cursor was ever given out, not even an empty one.
  if (Object.hasOwn(params, "cursor")) return [refuse(id, invalidParams("Invalid cursor"))];
  return [{ kind: "list-tools", id, revision: options.revision }];
}

function callTool(
  request: Request,
  options: RequestMeta & Pick<CallRequest, "revision" | "mayAsk">,
): readonly Effect[] {
  const { id, params } = request;
  const name = member(params, "name");
  if (typeof name !== "string") {
    return [refuse(id, invalidParams("tools/call needs a string name"))];
  }
  const args = Object.hasOwn(params, "arguments") ? params["arguments"] : {};
  if (!isJsonObject(args)) {
    return [refuse(id, invalidParams("Arguments of tools/call must be an object"))];
  }
  const inputs = vocabularyOf(options.revision).isModern ? inputsOf(params) : NO_INPUTS;
  if (typeof inputs === "string") return [refuse(id, invalidParams(inputs))];
  return [{ kind: "call-tool", call: { id, name, args, ...options, ...inputs } }];
}

type Inputs = Pick<CallRequest, "inputResponses" | "requestState">;

const NO_INPUTS: Inputs = { inputResponses: undefined, requestState: undefined };

function inputsOf(params: JsonObject): Inputs | string {
  const inputResponses = member(params, "inputResponses");
  const requestState = member(params, "requestState");
  if (inputResponses !== undefined && !isJsonObject(inputResponses)) {
    return 'Member "inputResponses" of tools/call must be an object';
  }
  if (requestState !== undefined && typeof requestState !== "string") {
    return 'Member "requestState" of tools/call must be a string';
  }
  return { inputResponses, requestState };
}

function listen(request: Request, view: ConnectionView): readonly Effect[] {
  const { id, params } = request;
  if (!isJsonObject(member(params, "notifications"))) {
    return [refuse(id, invalidParams("subscriptions/listen needs an object notifications"))];
  }
  if (view.openStreams >= MAX_STREAMS) {
    const message = `More than ${MAX_STREAMS} streams of notifications cannot be open`;
    return [refuse(id, { code: ErrorCode.internal, message })];
  }
  return [{ kind: "open-stream", id }];
}

function refuse(id: RequestId | undefined, error: ErrorObject): Effect {
  return { kind: "refuse", id, error };
}

function invalidRequest(message: string): ErrorObject {
  return { code: ErrorCode.invalidRequest, message };
}

function invalidParams(message: string): ErrorObject {
  return { code: ErrorCode.invalidParams, message };
}

function duplicateId(id: RequestId): ErrorObject {
  // Without the id of the request: an answer that carries it would settle the first one.
  const message = "A request with this id is still in flight";
  return { code: ErrorCode.invalidRequest, message, data: { duplicateId: id } };
}

/** How much of a name of the client's is quoted. */
const MAX_QUOTED_CHARACTERS = 100;

function methodNotFound(method: string): ErrorObject {
  const name = method.length > MAX_QUOTED_CHARACTERS
    ? `${method.slice(0, MAX_QUOTED_CHARACTERS)}…`
    : method;
  return { code: ErrorCode.methodNotFound, message: `Method not found: ${name}` };
}

/** The result of `initialize`, in the shape of the revision that is agreed on. */
function initializeResult(info: ServerInfo, revision: LegacyRevision): JsonObject {
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

/** The result of `server/discover`. */
function discoverResult(info: ServerInfo): JsonObject {
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

function instructions(info: ServerInfo): JsonObject {
  return info.instructions ? { instructions: info.instructions } : {};
}
