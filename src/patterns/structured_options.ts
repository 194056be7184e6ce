/**
 * What a structured answer takes and gives.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { PatternOptions } from "./options.ts";

/**
 * Says whether a value will do: `null`, `undefined`, `true` and `""` accept; `false` rejects; any other text rejects and
 * is told to the model. A promise of one of these is awaited. What it throws ends the run.
 */
export type Validator = (value: JsonValue) => unknown;

/** How a structured answer is asked for. */
export interface StructuredOptions extends PatternOptions {
  /** JSON Schema 2020-12 of the answer; told to the model, and sent as `responseFormat` where the provider takes it. */
  readonly schema?: JsonObject;
  /** Looks at values that fit the schema. */
  readonly validator?: Validator;
  /** Most further requests when an answer cannot be used, 0 or more; default 3. */
  readonly maxRepairs?: number;
  /** Which of several different values in one answer counts; default `only`: several are asked about again. */
  readonly pick?: "only" | "first" | "last";
  /** Whether slips such as a trailing comma are mended without asking again; default true. */
  readonly mend?: boolean;
}

/** How a structured answer came about. */
export interface StructuredMetadata {
  /** Answers that were looked at. */
  readonly parseAttempts: number;
  /** Requests after the first. */
  readonly repairAttempts: number;
  /** Whether a schema or a validator accepted the value. */
  readonly validated: boolean;
  /** Whether a slip was mended mechanically. */
  readonly mended: boolean;
  /** The thinking behind the answer, if the endpoint gave it. */
  readonly reasoning?: string;
}
