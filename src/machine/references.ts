/**
 * What the templates of a machine refer to, and whether anything fills it.
 *
 * @module
 */
import { isJsonObject } from "../json/mod.ts";
import type { Machine, State } from "./document.ts";
import { type Finding, quoted } from "./finding.ts";
import { type Placeholder, readTemplate } from "./interpolate.ts";
import { Suggestions } from "./suggest.ts";

/** The root that a reply is put at where a gate does not say. */
export const DEFAULT_REPLY_ROOT = "human";

const FAN_OUT_NAMES: ReadonlySet<string> = new Set(["item", "index"]);

/** A template of a state. */
export interface StateTemplate {
  /** Where it stands. */
  readonly path: readonly (string | number)[];
  /** The text. */
  readonly text: string;
}

/**
 * Lists the templates of a state: `structure` and `execution` too, although nothing is put in there.
 *
 * @param state The state.
 * @returns Texts in the order of the language: prompt, structure, execution, over, texts of the input.
 */
export function templatesOf(state: State): readonly StateTemplate[] {
  const path = ["states", state.id];
  const templates: StateTemplate[] = [];
  const add = (key: string, text: string | undefined) => {
    if (text !== undefined) templates.push({ path: [...path, key], text });
  };
  if (state.kind === "generative") {
    add("prompt", state.prompt);
    add("structure", state.structure);
    add("execution", state.execution);
  }
  add("over", state.over);
  if (state.kind !== "generative") {
    for (const [key, value] of Object.entries(state.input)) {
      if (typeof value === "string") templates.push({ path: [...path, "input", key], text: value });
    }
  }
  return templates;
}

/**
 * Lists the placeholders of a text.
 *
 * @param text The text.
 * @returns Placeholders in order.
 */
export function placeholdersOf(text: string): readonly Placeholder[] {
  return text.includes("{{")
    ? readTemplate(text).pieces.filter((piece) => typeof piece !== "string")
    : [];
}

/**
 * Finds placeholders that nothing can fill: `fanout-var`, `unresolved-root`, `unresolved-field`.
 *
 * Any output anywhere in the machine fills a placeholder; whether it is written before it is read is not looked at.
 *
 * @param machine The machine.
 * @returns Warnings, per state; each root and each path once a state.
 */
export function unresolvedReferences(machine: Machine): Finding[] {
  const known = knownRoots(machine);
  return [...machine.states.values()].flatMap((state) => [
    ...unresolvedIn(state, { machine, known }),
  ]);
}

interface Known {
  readonly suggestions: Suggestions;
  readonly outputs: ReadonlySet<string>;
  readonly replies: ReadonlySet<string>;
}

function knownRoots(machine: Machine): Known {
  const outputs = new Set<string>();
  const replies = new Set([DEFAULT_REPLY_ROOT]);
  for (const { output, gates } of machine.states.values()) {
    outputs.add(output);
    for (const { replyTo } of gates) {
      if (replyTo !== undefined) replies.add(rootOf(replyTo));
    }
  }
  return { suggestions: new Suggestions(), outputs, replies };
}

function* unresolvedIn(
  state: State,
  { machine, known }: { readonly machine: Machine; readonly known: Known },
): Generator<Finding> {
  const roots = new Set<string>();
  const paths = new Set<string>();
  for (const template of templatesOf(state)) {
    for (const placeholder of placeholdersOf(template.text)) {
      if (!roots.has(placeholder.root)) {
        roots.add(placeholder.root);
        yield* checkRoot(placeholder, { machine, known, state, template });
      }
      if (!paths.has(placeholder.path)) {
        paths.add(placeholder.path);
        yield* checkField(placeholder, { machine, known, state, template });
      }
    }
  }
}

interface Place {
  readonly machine: Machine;
  readonly known: Known;
  readonly state: State;
  readonly template: StateTemplate;
}

function* checkRoot(
  { root, path }: Placeholder,
  { machine, known, state, template }: Place,
): Generator<Finding> {
  const at = { path: template.path, placeholder: { text: template.text, path } };
  if (FAN_OUT_NAMES.has(root)) {
    if (state.over !== undefined || state.sample !== undefined) return;
    yield {
      severity: "warning",
      code: "fanout-var",
      message: `${state.id}: ${placeholder(root)} is empty here: the state is not a fan-out`,
      hint: root === "item" ? "Add over" : "Add sample or over",
      ...at,
    };
    return;
  }
  if (Object.hasOwn(machine.context, root) || known.outputs.has(root)) return;
  if (known.replies.has(root)) return;
  const near = known.suggestions.nearest(root, {
    scope: "root",
    names: () => [...Object.keys(machine.context), ...known.outputs],
  });
  yield {
    severity: "warning",
    code: "unresolved-root",
    message: `${state.id}: no context key or state output provides ${quoted(root)}`,
    hint: near === undefined
      ? `Add ${root} to context, or write it in a state`
      : `Did you mean ${placeholder(near)}?`,
    ...at,
  };
}

function* checkField(
  place: Placeholder,
  { machine, known, state, template }: Place,
): Generator<Finding> {
  const { root, keys } = place;
  const [, field] = keys;
  if (field === undefined || FAN_OUT_NAMES.has(root) || root === DEFAULT_REPLY_ROOT) return;
  if (known.outputs.has(root) || known.replies.has(root)) return;
  const value = Object.hasOwn(machine.context, root) ? machine.context[root] : undefined;
  if (!isJsonObject(value) || Object.hasOwn(value, field)) return;
  const near = known.suggestions.nearest(field, {
    scope: root,
    names: () => Object.keys(value),
  });
  yield {
    severity: "warning",
    code: "unresolved-field",
    message: `${state.id}: the inline context map ${quoted(root)} has no key ${quoted(field)}`,
    hint: near === undefined
      ? `Add ${field} to ${root} in context, or write ${root} in a state`
      : `Did you mean ${placeholder(`${root}.${near}`)}?`,
    path: template.path,
    placeholder: { text: template.text, path: place.path },
  };
}

function placeholder(path: string): string {
  return `{{${path}}}`;
}

function rootOf(path: string): string {
  const dot = path.indexOf(".");
  return dot === -1 ? path : path.slice(0, dot);
}
