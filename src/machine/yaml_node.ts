/**
 * Nodes of a converted document, and questions about the library's.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import { isMap, isNode, isScalar, isSeq, type Node, type ParsedNode } from "./yaml.ts";

/** A value and where it stood. */
export interface YamlNode {
  /** The value; objects have no prototype. */
  readonly value: JsonValue;
  /** Where it starts, as an offset. */
  readonly start: number;
  /** Members by key, in document order, of a mapping. */
  readonly members?: ReadonlyMap<string, YamlMember>;
  /** Elements of a list. */
  readonly items?: readonly YamlNode[];
  /** How many nodes it is with all aliases expanded, itself included. */
  readonly size: number;
}

/** A member of a mapping. */
export interface YamlMember {
  /** Where the key starts. */
  readonly keyStart: number;
  /** The value. */
  readonly node: YamlNode;
}

/**
 * Finds the last scalar of a tree, where an unclosed quotation opened.
 *
 * @param root The library's root node.
 * @returns The offset of the scalar, or `undefined` if the tree ends in none.
 */
export function lastScalarStart(root: ParsedNode): number | undefined {
  let node: unknown = root;
  while (node !== undefined && node !== null) {
    if (isMap(node)) {
      const pair = node.items.at(-1);
      node = pair?.value ?? pair?.key;
    } else if (isSeq(node)) node = node.items.at(-1);
    else return isScalar(node) ? node.range?.[0] : undefined;
  }
  return undefined;
}

const QUOTE_LENGTH = 60;

/** Cuts a quoted text to a length that fits a message. */
export function cut(text: string): string {
  const points = Array.from(text.slice(0, 2 * QUOTE_LENGTH));
  return points.length > QUOTE_LENGTH ? points.slice(0, QUOTE_LENGTH - 1).join("") + "…" : text;
}

/** The library's node, which always has its place; it types members of collections as unknown. */
export function parsedNode(value: unknown): ParsedNode | null {
  return isNode(value) && hasRange(value) ? value : null;
}

function hasRange(node: Node): node is ParsedNode {
  return node.range !== null && node.range !== undefined;
}

/** Tells whether a plain scalar is written as an integer. */
export function isIntegerText(source: string): boolean {
  return /^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$/.test(source);
}

/** Tells whether a key merges another mapping: `<<` without quotes. */
export function isMergeKey(node: ParsedNode | null): boolean {
  return node !== null && isScalar(node) && node.type === "PLAIN" && node.source === "<<";
}

/** Makes the node that stands where there is nothing to use. */
export function nullNode(start: number): YamlNode {
  return { value: null, start, size: 1 };
}

/** Makes the node of a mapping from its members. */
export function mapNode(start: number, members: ReadonlyMap<string, YamlMember>): YamlNode {
  const value: Record<string, JsonValue> = Object.create(null);
  let size = 1;
  for (const [key, { node }] of members) {
    value[key] = node.value;
    size += 1 + node.size;
  }
  return { value: value satisfies JsonObject, start, members, size };
}
