/**
 * Placeholders: `{{path}}` in prompts and inputs. Templates are read once for each text and reused.
 *
 * @module
 */
import { isJsonObject, type JsonValue } from "../json/mod.ts";
import type { Random } from "../ports/mod.ts";
import { drawNonce, fence } from "./fence.ts";
import { formatValue } from "./format.ts";

/** A place in a text that stands for a context value. */
export interface Placeholder {
  /** The dotted path as written. */
  readonly path: string;
  /** The path, split at its dots. */
  readonly keys: readonly string[];
  /** The first part: the context key whose taint counts. */
  readonly root: string;
}

/** A text, cut at its placeholders. */
export interface Template {
  /** Texts and placeholders in turn. */
  readonly pieces: readonly (string | Placeholder)[];
  /** The roots that occur, each once. */
  readonly roots: readonly string[];
  /** The placeholder, if the text is nothing else but one and white space. */
  readonly whole: Placeholder | undefined;
}

/** Gives the value of a top-level key, `undefined` if there is none. */
export type Scope = (key: string) => JsonValue | undefined;

/** How a prompt is rendered. */
export interface RenderOptions {
  /** Most characters of one value; 0: no limit. */
  readonly maxChars: number;
  /** Tells whether a root is not the author's, so that its value is fenced; absent: nothing is fenced. */
  readonly isTainted?: (root: string) => boolean;
  /** Chance for the nonce. */
  readonly random: Pick<Random, "bytes">;
}

/** A rendered prompt. */
export interface Rendered {
  /** The text. */
  readonly text: string;
  /** The nonce of its fences, if there are any. */
  readonly nonce?: string;
}

/** Most characters of a rendered prompt or input; more than any model reads, and few enough for several at once. */
export const MAX_RENDERED_CHARS = 16 * 2 ** 20;

const PLACEHOLDER = /\{\{\s*([\p{L}\p{N}_.]+)\s*\}\}/gu;
const MAX_CACHED_TEMPLATES = 4096;

const cache = new Map<string, Template>();

/**
 * Reads a text with placeholders. What is not quite a placeholder stays as it is written.
 *
 * @param text The text.
 * @returns Its template, the same object for the same text.
 */
export function readTemplate(text: string): Template {
  const known = cache.get(text);
  if (known !== undefined) return known;
  const template = cutTemplate(text);
  if (cache.size >= MAX_CACHED_TEMPLATES) cache.clear();
  cache.set(text, template);
  return template;
}

/**
 * Lists the paths that a text refers to.
 *
 * @param text Any text.
 * @returns The dotted paths in order, repeated ones too.
 */
export function placeholderPaths(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
}

/**
 * Follows a path through objects. Lists have no members.
 *
 * @param keys The parts of the path.
 * @param scope The context.
 * @returns The value, or `undefined` if the path leads nowhere.
 */
export function lookUp(keys: readonly string[], scope: Scope): JsonValue | undefined {
  let value = scope(keys[0] ?? "");
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] ?? "";
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/**
 * Renders a prompt. Substituted text is never looked at again.
 *
 * @param template The prompt.
 * @param scope The context.
 * @param options Cap, taint and chance.
 * @returns The text; values of tainted roots are fenced, with one nonce for the whole text.
 * @throws {RangeError} If the text has over {@linkcode MAX_RENDERED_CHARS} characters.
 */
export function renderPrompt(template: Template, scope: Scope, options: RenderOptions): Rendered {
  const { isTainted, maxChars } = options;
  if (isTainted === undefined || !template.roots.some(isTainted)) {
    return { text: renderText(template, scope, maxChars) };
  }
  const fenced: string[] = [];
  let length = 0;
  const texts = template.pieces.map((piece) => {
    const text = typeof piece === "string" ? piece : valueText(piece, scope, maxChars);
    length = requireRoom(length + text.length);
    if (typeof piece !== "string" && isTainted(piece.root)) fenced.push(text);
    return text;
  });
  const nonce = drawNonce(options.random, fenced);
  const text = template.pieces
    .map((piece, i) => {
      const own = texts[i] ?? "";
      return typeof piece !== "string" && isTainted(piece.root) ? fence(own, nonce) : own;
    })
    .join("");
  return { text, nonce };
}

/**
 * Resolves a written value of `input:`. Only texts have placeholders; one that is a single placeholder passes the raw
 * value.
 *
 * @param written The value as authored.
 * @param scope The context.
 * @returns The value to pass.
 * @throws {RangeError} If a text has over {@linkcode MAX_RENDERED_CHARS} characters.
 */
export function resolveInput(written: JsonValue, scope: Scope): JsonValue {
  if (written === null) return "";
  if (typeof written !== "string") return written;
  const template = readTemplate(written);
  if (template.whole !== undefined) return lookUp(template.whole.keys, scope) ?? "";
  return renderText(template, scope, undefined);
}

/**
 * Tells whether a written value refers to a key out of a set.
 *
 * @param written The value as authored; only texts refer.
 * @param keys The set of top-level keys.
 * @returns Whether some placeholder's root is in it.
 */
export function refersTo(written: JsonValue | undefined, keys: ReadonlySet<string>): boolean {
  if (typeof written !== "string" || keys.size === 0) return false;
  return readTemplate(written).roots.some((root) => keys.has(root));
}

function cutTemplate(text: string): Template {
  const pieces: (string | Placeholder)[] = [];
  const roots = new Set<string>();
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const path = match[1] ?? "";
    const keys = path.split(".");
    const root = keys[0] ?? "";
    if (match.index > end) pieces.push(text.slice(end, match.index));
    pieces.push({ path, keys, root });
    roots.add(root);
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push(text.slice(end));
  const solid = pieces.filter((piece) => typeof piece !== "string" || piece.trim() !== "");
  const only = solid.length === 1 ? solid[0] : undefined;
  return { pieces, roots: [...roots], whole: typeof only === "string" ? undefined : only };
}

function renderText(template: Template, scope: Scope, maxChars: number | undefined): string {
  let text = "";
  for (const piece of template.pieces) {
    text += typeof piece === "string" ? piece : valueText(piece, scope, maxChars);
    requireRoom(text.length);
  }
  return text;
}

/** Values are short, but there may be any number of placeholders for them. */
function requireRoom(length: number): number {
  if (length <= MAX_RENDERED_CHARS) return length;
  throw new RangeError(`the text that placeholders make has over ${MAX_RENDERED_CHARS} characters`);
}

function valueText(place: Placeholder, scope: Scope, maxChars: number | undefined): string {
  return formatValue(lookUp(place.keys, scope) ?? null, maxChars);
}
