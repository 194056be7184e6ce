/**
 * Questions of a tool as requests to the client, and what came back as answers.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../json/mod.ts";
import type { Validate } from "./arguments.ts";
import { type Revision, vocabularyOf } from "./revisions.ts";
import type { Answer, PeerRequest, Question } from "./tool.ts";

/** Questions by key. */
export type Questions = Readonly<Record<string, Question | PeerRequest>>;

/** A request to the client, without its id. */
export interface ClientRequest {
  /** What the client is asked for. */
  readonly method: string;
  /** Parameters. */
  readonly params: JsonObject;
}

/**
 * Tells whether a client said that it can be asked with a form.
 *
 * @param capabilities What it declared.
 * @returns Whether `elicitation` is `{}` or has `form`; `url` alone is no form.
 */
export function canShowForm(capabilities: JsonObject): boolean {
  const elicitation = member(capabilities, "elicitation");
  if (!isJsonObject(elicitation)) return false;
  return isJsonObject(member(elicitation, "form")) || !Object.hasOwn(elicitation, "url");
}

/**
 * Picks the questions that a client can be asked.
 *
 * @param questions All questions.
 * @param capabilities What the client declared.
 * @returns Those whose kind it declared.
 */
export function askableQuestions(questions: Questions, capabilities: JsonObject): Questions {
  const askable = Object.entries(questions).filter(([, question]) =>
    isPeerRequest(question)
      ? isJsonObject(member(capabilities, capabilityOf(question)))
      : canShowForm(capabilities)
  );
  return Object.fromEntries(askable);
}

/**
 * The capabilities that a client would have to declare.
 *
 * @param questions The questions.
 * @returns A capabilities object as MCP writes it.
 */
export function requiredCapabilities(questions: Questions): JsonObject {
  const required = Object.values(questions).map((question): [string, JsonObject] =>
    isPeerRequest(question) ? [capabilityOf(question), {}] : ["elicitation", { form: {} }]
  );
  return Object.fromEntries(required);
}

function isPeerRequest(question: Question | PeerRequest): question is PeerRequest {
  return "method" in question;
}

function capabilityOf(request: PeerRequest): string {
  return request.method === "roots/list" ? "roots" : "sampling";
}

/**
 * Writes a question as a request to the client.
 *
 * @param question The question.
 * @param revision What the client speaks.
 * @returns The request.
 */
export function clientRequest(
  question: Question | PeerRequest,
  revision: Revision,
): ClientRequest {
  if (isPeerRequest(question)) return { method: question.method, params: question.params };
  const { message, requestedSchema } = question;
  const params = vocabularyOf(revision).elicitation === "unnamed-form"
    ? { message, requestedSchema: plainForm(requestedSchema) }
    : { mode: "form", message, requestedSchema };
  return { method: "elicitation/create", params };
}

/** 2025-06-18 knows neither titled choices nor defaults, but for those of booleans. */
function plainForm(schema: JsonObject): JsonObject {
  const properties = member(schema, "properties");
  if (!isJsonObject(properties)) return schema;
  const plain = Object.entries(properties).map(([name, property]) => [name, plainField(property)]);
  return { ...schema, properties: Object.fromEntries(plain) };
}

function plainField(field: JsonValue): JsonValue {
  if (!isJsonObject(field)) return field;
  const { oneOf, default: value, ...rest } = field;
  const kept = value !== undefined && field["type"] === "boolean" ? { default: value } : {};
  if (!Array.isArray(oneOf)) return { ...rest, ...kept };
  const choices = oneOf.filter(isJsonObject);
  return {
    ...rest,
    enum: choices.map((choice) => choice["const"] ?? null),
    enumNames: choices.map((choice) => choice["title"] ?? choice["const"] ?? null),
  };
}

/**
 * Reads what a client answered to a question.
 *
 * @param question The question.
 * @param response Its result, or its entry in `inputResponses`.
 * @param validate Checks a form against its schema.
 * @returns The answer, or `undefined` if it is none and the question has to be asked again.
 */
export async function readAnswer(
  question: Question | PeerRequest,
  response: JsonValue | undefined,
  validate: Validate,
): Promise<Answer | undefined> {
  if (!isJsonObject(response)) return undefined;
  if (isPeerRequest(question)) return { action: "accept", content: response };
  const action = member(response, "action");
  if (action === "decline" || action === "cancel") return { action };
  if (action !== "accept") return undefined;
  const content = member(response, "content") ?? {};
  if (!isJsonObject(content)) return undefined;
  const problems = await validate(question.requestedSchema, content);
  return problems.length === 0 ? { action, content } : undefined;
}
