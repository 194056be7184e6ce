// deno-lint-ignore-file camelcase -- the keys of machine documents
/**
 * The grammar of machine documents as data: {@link ./validate.ts} reads documents by it, {@link ./schema.ts} writes it
 * as a JSON Schema.
 *
 * @module
 */

/** What a member of a document may be. */
export type FieldType =
  | { readonly kind: "text" }
  | { readonly kind: "key" }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  | { readonly kind: "integer"; readonly minimum: number }
  | { readonly kind: "boolean" }
  | { readonly kind: "true" }
  | { readonly kind: "mapping" }
  | { readonly kind: "names" }
  | { readonly kind: "states" }
  | { readonly kind: "gates" };

/** One member. */
export interface Field {
  /** What it may be. */
  readonly type: FieldType;
  /** Whether it must be there. */
  readonly required?: true;
  /** What it means, for editors and hints: a phrase without a full stop. */
  readonly meaning: string;
}

/** Members by key, in the order in which they are usually written. */
export type Fields = Readonly<Record<string, Field>>;

/** The kinds of states, as {@linkcode STATE_FIELDS} keys them. */
export type StateKind = "generative" | "call" | "tool";

/** The policies of gates, by the key that marks them. */
export type PolicyKey = "then" | "repair" | "escalate" | "fail";

/** Names that no state and no output may have: other programs trip over them. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set(["__proto__"]);

const TEXT: FieldType = { kind: "text" };
const TIER: Field = {
  type: { kind: "choice", values: ["fast", "balanced", "reasoning"] },
  meaning: "how strong a model is wanted",
};

/** Keys at the top of a document. */
export const MACHINE_FIELDS: Fields = {
  mklang: { type: TEXT, meaning: 'the version of the language in quotes, "0.2" to "0.4"' },
  machine: { type: TEXT, required: true, meaning: "the machine's name, by which others call it" },
  entry: { type: TEXT, required: true, meaning: "the id of the first state" },
  budget: {
    type: { kind: "integer", minimum: 1 },
    required: true,
    meaning: "the most steps of one run",
  },
  default_tier: { ...TIER, meaning: "the tier of states that name none; default balanced" },
  result: {
    type: TEXT,
    meaning: "the context key that a run returns; without it the last output is returned",
  },
  context: { type: { kind: "mapping" }, meaning: "the values that a run starts with" },
  tools: { type: { kind: "names" }, meaning: "the host tools that the machine expects" },
  hooks: { type: { kind: "names" }, meaning: "the host hooks that the machine expects" },
  states: { type: { kind: "states" }, required: true, meaning: "the states by id" },
};

const COMMON_END: Fields = {
  accumulate: {
    type: { kind: "boolean" },
    meaning: "whether the output is appended to a list instead of replacing the value",
  },
  sample: {
    type: { kind: "integer", minimum: 2 },
    meaning: "how many equal branches run side by side",
  },
  over: {
    type: TEXT,
    meaning: 'a placeholder such as "{{items}}" that names a list: one branch an element',
  },
  max_visits: {
    type: { kind: "integer", minimum: 1 },
    meaning: "how often the state may be entered in one run",
  },
  output: {
    type: { kind: "key" },
    required: true,
    meaning: "the context key that the state writes",
  },
  gates: { type: { kind: "gates" }, required: true, meaning: "the ways out, in order" },
};

const TIER_OF_STATE: Field = { ...TIER, meaning: "how strong a model the state wants" };

/** Keys of a state, by its kind. */
export const STATE_FIELDS: Readonly<Record<StateKind, Fields>> = {
  generative: {
    prompt: { type: TEXT, required: true, meaning: "the task, with placeholders {{like.this}}" },
    structure: { type: TEXT, required: true, meaning: "what the output must look like" },
    execution: { type: TEXT, meaning: "how to go about it" },
    tier: TIER_OF_STATE,
    reason: { type: { kind: "boolean" }, meaning: "whether the model thinks before it answers" },
    parse: {
      type: { kind: "choice", values: ["list", "json"] },
      meaning: "read the output as a JSON list or as any JSON",
    },
    ...COMMON_END,
  },
  call: {
    call: { type: TEXT, required: true, meaning: "the name of the machine to run" },
    input: { type: { kind: "mapping" }, meaning: "the values that the machine is given" },
    tier: TIER_OF_STATE,
    ...COMMON_END,
  },
  tool: {
    tool: { type: TEXT, required: true, meaning: "the name of the host tool to run" },
    input: { type: { kind: "mapping" }, meaning: "the tool's arguments" },
    ...COMMON_END,
  },
};

const WHEN: Field = {
  type: TEXT,
  required: true,
  meaning: 'the condition, or "otherwise" for the gate that takes what is left',
};
const HOOK: Field = { type: TEXT, meaning: "the hook that decides instead of a judge" };
const TO: Field = { type: TEXT, required: true, meaning: "the next state's id, or END" };

/** Keys of a gate, by the key of its policy. */
export const GATE_FIELDS: Readonly<Record<PolicyKey, Fields>> = {
  then: {
    when: WHEN,
    then: {
      type: { kind: "choice", values: ["ok"] },
      required: true,
      meaning: "go on",
    },
    to: TO,
    hook: HOOK,
  },
  repair: {
    when: WHEN,
    repair: {
      type: { kind: "integer", minimum: 1 },
      required: true,
      meaning: "go back with feedback, at most so often in one run",
    },
    to: TO,
    hook: HOOK,
  },
  escalate: {
    when: WHEN,
    escalate: { type: { kind: "true" }, required: true, meaning: "hand over to another state" },
    to: TO,
    ask: { type: TEXT, meaning: "what to ask a person, shown literally" },
    reply_to: { type: TEXT, meaning: "where the reply is put; default human.reply" },
    hook: HOOK,
  },
  fail: {
    when: WHEN,
    fail: { type: { kind: "true" }, required: true, meaning: "halt the run" },
    hook: HOOK,
  },
};

/** Keys of an entry of `tools` and `hooks`. */
export const NAME_FIELDS: Fields = {
  name: { type: TEXT, required: true, meaning: "the host's name for it" },
  description: { type: TEXT, meaning: "what it is for" },
};

/** The policy keys in the order in which an unvalidated gate is read. */
export const POLICY_KEYS: readonly PolicyKey[] = ["then", "repair", "escalate", "fail"];

/** Words of other formats for keys of this one. */
export const OTHER_WORDS: Readonly<Record<string, string>> = {
  version: "mklang",
  start: "entry",
  initial: "entry",
  steps: "budget",
  max_steps: "budget",
  tier_default: "default_tier",
  next: "to",
  goto: "to",
  target: "to",
  if: "when",
  condition: "when",
  instruction: "prompt",
  instructions: "prompt",
  schema: "structure",
  format: "structure",
  model: "tier",
  machine_call: "call",
  inputs: "input",
  args: "input",
  arguments: "input",
  out: "output",
  writes: "output",
  transitions: "gates",
  retries: "repair",
  retry: "repair",
  question: "ask",
  foreach: "over",
  for_each: "over",
  samples: "sample",
  max_entries: "max_visits",
};
