/**
 * What a modern call is given to bring back with the answers. It passes through the client, so it is signed: readable,
 * but not to be changed, moved to another call, or used after its time.
 *
 * @module
 */
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  member,
} from "../json/mod.ts";
import type { Ports } from "../ports/mod.ts";

/** How long a person has to answer. */
export const STATE_LIFETIME_MS = 600_000;
/** Names the format; another one is not read. */
const VERSION = "v1";
/** How many parts the format has. */
const PART_COUNT = 3;
const NONCE_BYTES = 16;
const IS_EXTRACTABLE = false;
const ALGORITHM = { name: "HMAC", hash: "SHA-256" } as const;

/** What a state is bound to. */
export interface StateBinding {
  /** Name of the tool. */
  readonly tool: string;
  /** Arguments as they came. */
  readonly args: JsonObject;
}

/** Seals and opens states. */
export interface StateSealer {
  /**
   * Seals a value for one call.
   *
   * @param value What is to come back.
   * @param binding The call that it must come back with.
   * @returns Text for `requestState`.
   */
  seal(value: JsonObject, binding: StateBinding): Promise<string>;
  /**
   * Opens what came back.
   *
   * @param text `requestState` as it came.
   * @param binding The call that it came with.
   * @returns The value, or why it cannot be used, for the log alone.
   */
  open(
    text: string,
    binding: StateBinding,
  ): Promise<{ readonly value: JsonObject } | { readonly refusal: string }>;
}

/**
 * Makes a sealer.
 *
 * @param loadKey Gives the key when it is first needed. It should outlive the process: an answer may reach the next one.
 * @param ports Clock for expiries, chance for nonces.
 * @returns The sealer.
 */
export function createStateSealer(
  loadKey: () => Promise<Uint8Array<ArrayBuffer>>,
  ports: Pick<Ports, "clock" | "random">,
): StateSealer {
  let loading: Promise<CryptoKey> | undefined;
  function key(): Promise<CryptoKey> {
    return loading ??= loadKey().then(importKey);
  }
  return {
    async seal(value: JsonObject, binding: StateBinding): Promise<string> {
      const payload = {
        bound: await digest(binding),
        expires: ports.clock.now() + STATE_LIFETIME_MS,
        nonce: toBase64Url(ports.random.bytes(NONCE_BYTES)),
        value,
      };
      const body = toBase64Url(new TextEncoder().encode(JSON.stringify(payload)));
      const signature = await crypto.subtle.sign(ALGORITHM, await key(), signed(body));
      return `${VERSION}.${body}.${toBase64Url(new Uint8Array(signature))}`;
    },
    async open(text: string, binding: StateBinding) {
      const [version, body, signature, more] = text.split(".", PART_COUNT + 1);
      if (
        version !== VERSION || body === undefined || signature === undefined || more !== undefined
      ) {
        return { refusal: "not of this format" };
      }
      const bytes = fromBase64Url(signature);
      const isOurs = bytes !== undefined &&
        await crypto.subtle.verify(ALGORITHM, await key(), bytes, signed(body));
      if (!isOurs) return { refusal: "the signature is wrong" };
      const payload = readPayload(body);
      if (payload === undefined) return { refusal: "the content is malformed" };
      if (payload.expires <= ports.clock.now()) return { refusal: "it has expired" };
      if (payload.bound !== await digest(binding)) return { refusal: "it is of another call" };
      return { value: payload.value };
    },
  };
}

function importKey(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, ALGORITHM, IS_EXTRACTABLE, ["sign", "verify"]);
}

function signed(body: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${VERSION}.${body}`);
}

async function digest(binding: StateBinding): Promise<string> {
  const text = canonicalJson({ method: "tools/call", tool: binding.tool, args: binding.args });
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return toBase64Url(new Uint8Array(bytes));
}

interface Payload {
  readonly bound: string;
  readonly expires: number;
  readonly value: JsonObject;
}

function readPayload(body: string): Payload | undefined {
  const bytes = fromBase64Url(body);
  if (bytes === undefined) return undefined;
  const payload = parseJson(new TextDecoder().decode(bytes));
  if (!isJsonObject(payload)) return undefined;
  const bound = member(payload, "bound");
  const expires = member(payload, "expires");
  const value = member(payload, "value");
  const isWhole = typeof bound === "string" && typeof expires === "number" && isJsonObject(value);
  return isWhole ? { bound, expires, value } : undefined;
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toBase64Url(bytes: Uint8Array<ArrayBuffer>): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: "base64url" });
    // Bits that the last character has to spare would let several texts pass for one.
    return toBase64Url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}
