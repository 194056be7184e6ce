/**
 * From YAML syntax nodes to plain values that know where they stood.
 *
 * Here are the rules that the library leaves open or leaves out: unique keys, anchors under a limit of expansion, merge
 * keys, no tags of one's own, integers without loss, and values that are JSON.
 *
 * @module
 */
import type { JsonValue } from "../json/mod.ts";
import { isAlias, isMap, isScalar, isSeq, type ParsedNode } from "./yaml.ts";
import {
  cut,
  isIntegerText,
  isMergeKey,
  mapNode,
  nullNode,
  parsedNode,
  type YamlMember,
  type YamlNode,
} from "./yaml_node.ts";
import { otherReading } from "./yaml_readings.ts";

/** Most nodes that aliases may add to a document, all expansions counted. */
export const MAX_ALIAS_NODES = 100_000;

/** A problem found while converting. */
export interface TreeProblem {
  /** `error` or `warning`. */
  readonly severity: "error" | "warning";
  /** The stable word. */
  readonly code: string;
  /** What was found. */
  readonly message: string;
  /** What to write instead. */
  readonly hint?: string;
  /** Where, as an offset. */
  readonly start: number;
}

/** A converted tree. */
export interface YamlTree {
  /** The root. */
  readonly root: YamlNode;
  /** Problems in the order they were met. */
  readonly problems: readonly TreeProblem[];
  /** Offsets of unquoted `{{…}}`: what the library says about their lines follows from them. */
  readonly placeholders: readonly number[];
}

/**
 * Converts syntax nodes.
 *
 * @param root The library's root node.
 * @param text The text it was read from.
 * @returns The tree; where something could not be used, `null` stands in its place beside an error.
 */
export function convertTree(root: ParsedNode, text: string): YamlTree {
  const converter = new Converter(text);
  const node = converter.convert(root, undefined);
  converter.finish();
  return { root: node, problems: converter.problems, placeholders: converter.placeholders };
}

/** Keys whose values are names and never prose, so that a comment behind them is a comment. */
const NAME_KEYS: ReadonlySet<string> = new Set([
  "machine",
  "entry",
  "result",
  "mklang",
  "default_tier",
  "tier",
  "call",
  "tool",
  "output",
  "parse",
  "to",
  "then",
  "hook",
  "name",
  "reply_to",
]);

const CORE_TAGS: ReadonlySet<string> = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`),
);

type AnchorState = YamlNode | "open";

class Converter {
  readonly problems: TreeProblem[] = [];
  readonly placeholders: number[] = [];
  readonly #text: string;
  readonly #anchors = new Map<string, AnchorState>();
  /** Anchors of unquoted texts that no alias named so far, with where the text starts. */
  readonly #unused = new Map<string, number>();
  #aliasNodes = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Tells of unquoted texts that lost their beginning to an anchor which nothing refers to. */
  finish(): void {
    for (const [anchor, start] of this.#unused) {
      this.#lostStart(`&${anchor}`, this.#text.lastIndexOf("&", start));
    }
  }

  convert(node: ParsedNode, key: string | undefined): YamlNode {
    if (isAlias(node)) return this.#alias(node.source, node.range[0]);
    const anchor = node.anchor;
    if (anchor !== undefined) {
      this.#anchors.set(anchor, "open");
      if (anchor !== "" && isScalar(node) && node.type === "PLAIN") {
        this.#unused.set(anchor, node.range[0]);
      }
    }
    this.#checkTag(node);
    const converted = isMap(node)
      ? this.#map(node)
      : isSeq(node)
      ? this.#list(node, key)
      : this.#scalar(node, key);
    if (anchor !== undefined) this.#anchors.set(anchor, converted);
    return converted;
  }

  #map(node: Extract<ParsedNode, { items: unknown }>): YamlNode {
    const start = node.range[0];
    if (!isMap(node)) return nullNode(start);
    if (this.#text.startsWith("{{", start)) return this.#placeholder(start);
    const members = new Map<string, YamlMember>();
    const own = new Map<string, number>();
    for (const pair of node.items) {
      const keyNode = parsedNode(pair.key);
      const valueNode = parsedNode(pair.value);
      const keyStart = keyNode?.range[0] ?? start;
      if (isMergeKey(keyNode)) {
        this.#merge(valueNode, members, keyStart);
        continue;
      }
      const key = this.#key(keyNode, keyStart);
      const value = valueNode === null ? nullNode(keyStart) : this.convert(valueNode, key);
      if (key === undefined) continue;
      const first = own.get(key);
      if (first === undefined) {
        own.set(key, keyStart);
        members.set(key, { keyStart, node: value });
      } else this.#duplicate(key, keyStart, first);
    }
    return mapNode(start, members);
  }

  #list(node: ParsedNode, key: string | undefined): YamlNode {
    const nodes = isSeq(node) ? node.items.map(parsedNode) : [];
    const items = nodes.map((item) =>
      item === null ? nullNode(node.range[0]) : this.convert(item, key)
    );
    let size = 1;
    for (const item of items) size += item.size;
    return { value: items.map((item) => item.value), start: node.range[0], items, size };
  }

  #scalar(node: ParsedNode, key: string | undefined): YamlNode {
    const start = node.range[0];
    if (!isScalar(node)) return nullNode(start);
    if (node.type === "PLAIN") this.#plain(node.source ?? "", node.value, start);
    const value = this.#scalarValue(node.value, node.source ?? "", start);
    if (node.type === "PLAIN" && typeof value === "string") {
      this.#lostText(value, node.range[1], key);
    }
    return { value, start, size: 1 };
  }

  #scalarValue(value: unknown, source: string, start: number): JsonValue {
    if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
    if (typeof value !== "number") return null;
    if (!Number.isFinite(value)) {
      this.#error("not-finite", `"${cut(source)}" is not a JSON number`, {
        start,
        hint: "Write a finite number, or put the text in quotes",
      });
      return null;
    }
    if (isIntegerText(source) && !Number.isSafeInteger(value)) {
      this.#error("unsafe-integer", `The integer ${cut(source)} is beyond 2^53 and would change`, {
        start,
        hint: `Put it in quotes: "${cut(source)}"`,
      });
    }
    return value === 0 ? 0 : value;
  }

  #key(node: ParsedNode | null, start: number): string | undefined {
    if (node === null) return this.#badKey("An empty key", start);
    if (isAlias(node)) {
      const { value } = this.#alias(node.source, start);
      return typeof value === "string" ? value : this.#badKey("A key that is not text", start);
    }
    if (isScalar(node)) {
      const source = node.source ?? "";
      if (source === "" && node.type === "PLAIN") return this.#badKey("An empty key", start);
      this.#checkTag(node);
      if (node.type === "PLAIN") this.#plain(source, node.value, start);
      if (node.type === "PLAIN" && /^[\u00a0\u2000-\u200b\u202f\u3000]/.test(source)) {
        this.#error("nbsp-indent", "A space of another kind stands before the key", {
          start,
          hint: "Replace it with ordinary spaces, which are what YAML counts as indentation",
        });
      }
      if (node.anchor !== undefined) {
        this.#anchors.set(node.anchor, { value: source, start, size: 1 });
      }
      return source;
    }
    this.convert(node, undefined);
    return this.#badKey("A list or mapping as a key", start);
  }

  #badKey(what: string, start: number): undefined {
    if (this.#text.startsWith("{{", start - 1)) return undefined;
    this.#error("bad-key", `${what} is not allowed: keys are text`, {
      start,
      hint: "Put the key in quotes, or give it a name",
    });
  }

  #alias(name: string, start: number): YamlNode {
    const target = this.#anchors.get(name);
    this.#unused.delete(name);
    // A star alone is broken syntax, which is told elsewhere.
    if (name === "") return nullNode(start);
    if (target === undefined) {
      this.#error(
        "unknown-alias",
        `The alias "*${cut(name)}" has no anchor "&${cut(name)}" before it`,
        {
          start,
          hint: "If text was meant, put it in quotes",
        },
      );
      return nullNode(start);
    }
    if (target === "open") {
      this.#error("alias-cycle", `The alias "*${cut(name)}" refers to a value that contains it`, {
        start,
        hint: "Write the value out where it is needed",
      });
      return nullNode(start);
    }
    const before = this.#aliasNodes;
    this.#aliasNodes += target.size;
    if (this.#aliasNodes <= MAX_ALIAS_NODES) return target;
    if (before <= MAX_ALIAS_NODES) {
      this.#error("alias-limit", `Aliases expand to more than ${MAX_ALIAS_NODES} nodes`, {
        start,
        hint: "Write the values out, or use fewer aliases of aliases",
      });
    }
    return nullNode(start);
  }

  #merge(node: ParsedNode | null, members: Map<string, YamlMember>, keyStart: number): void {
    const merged = node === null ? nullNode(keyStart) : this.convert(node, undefined);
    const sources = merged.items ?? [merged];
    if (sources.some((source) => source.members === undefined)) {
      this.#error("bad-merge", 'A merge key "<<" wants a mapping or a list of mappings', {
        start: keyStart,
        hint: "Refer to a mapping with an alias: <<: *name",
      });
      return;
    }
    // The first source wins over later ones, and members of the mapping's own over all.
    for (const source of sources) {
      for (const [key, member] of source.members ?? []) {
        if (!members.has(key)) members.set(key, member);
      }
    }
  }

  #placeholder(start: number): YamlNode {
    const lineStart = this.#text.lastIndexOf("\n", start) + 1;
    const end = this.#text.indexOf("\n", start);
    const rest = this.#text.slice(start, end === -1 ? undefined : end).trimEnd();
    const inFlow = /[[{]/.test(this.#text.slice(lineStart, start));
    const written = inFlow ? rest.slice(0, rest.indexOf("}}") + 2 || undefined) : rest;
    const previous = this.placeholders.at(-1);
    this.placeholders.push(start);
    if (previous !== undefined && previous >= lineStart) return { value: "", start, size: 1 };
    this.#error(
      "unquoted-placeholder",
      `Unquoted "${cut(written)}" reads as a mapping, not as text`,
      {
        start,
        hint: `Put the value in quotes: "${cut(written)}"`,
      },
    );
    return { value: "", start, size: 1 };
  }

  #plain(source: string, value: unknown, start: number): void {
    // A number beyond all bounds is an error already.
    if (typeof value === "number" && !Number.isFinite(value)) return;
    const reading = otherReading(source, value);
    if (reading === undefined) return;
    this.problems.push({ severity: "warning", start, ...reading });
  }

  #lostText(value: string, end: number, key: string | undefined): void {
    if (key !== undefined && NAME_KEYS.has(key)) return;
    if (key === "when" && value.trim().toLowerCase() === "otherwise") return;
    const lost = /^[ \t]+(#[^\s#!][^\n]*)/.exec(this.#text.slice(end, end + LOST_TEXT_LENGTH));
    if (lost === null) return;
    const [, text = ""] = lost;
    this.problems.push({
      severity: "warning",
      code: "lost-text",
      message: `Text after " #" is a comment and is lost: "${cut(text.trimEnd())}"`,
      hint: 'Put the whole value in quotes, or write a blank after "#" if it is a comment',
      start: end,
    });
  }

  #lostStart(start: string, offset: number): void {
    this.problems.push({
      severity: "warning",
      code: "lost-text",
      message: `"${cut(start)}" before a text is a mark of YAML and is lost`,
      hint: "Put the whole value in quotes, or remove the mark",
      start: offset,
    });
  }

  #checkTag(node: ParsedNode): void {
    const tag = node.tag;
    if (tag === "!" && isScalar(node) && node.type === "PLAIN") {
      this.#lostStart("!", this.#text.lastIndexOf("!", node.range[0]));
    }
    if (tag === undefined || tag === "!" || CORE_TAGS.has(tag)) {
      if (tag?.endsWith(":int") || tag?.endsWith(":float")) this.#checkNumberTag(node, tag);
      return;
    }
    const short = tag.startsWith("tag:yaml.org,2002:") ? `!!${tag.slice(18)}` : tag;
    this.#error("custom-tag", `The tag "${cut(short)}" is not allowed: values are plain`, {
      start: node.range[0],
      hint: "Remove the tag; if text was meant, put it in quotes",
    });
  }

  #checkNumberTag(node: ParsedNode, tag: string): void {
    if (isScalar(node) && typeof node.value === "number") return;
    this.#error("bad-tag", `The value is not what its tag "!!${tag.slice(18)}" says`, {
      start: node.range[0],
      hint: "Remove the tag",
    });
  }

  #duplicate(key: string, start: number, first: number): void {
    this.#error(
      "duplicate-key",
      `The key "${cut(key)}" is a duplicate: a mapping has each key once`,
      {
        start,
        hint: `Remove or rename one of them; the first is on line ${this.#line(first)}`,
      },
    );
  }

  #line(offset: number): number {
    let line = 1;
    for (let at = this.#text.indexOf("\n"); at !== -1 && at < offset; line++) {
      at = this.#text.indexOf("\n", at + 1);
    }
    return line;
  }

  #error(code: string, message: string, at: { start: number; hint: string }): void {
    this.problems.push({ severity: "error", code, message, hint: at.hint, start: at.start });
  }
}

const LOST_TEXT_LENGTH = 400;
