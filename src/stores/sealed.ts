/**
 * Encryption at rest: what a run knows is written as AES-256-GCM ciphertext, with the run's id bound to it so that
 * payloads cannot be swapped between records. Names, phases and times stay readable for listings.
 *
 * @module
 */
import { UnreadableRecordError } from "../host/mod.ts";
import { isJsonObject, type JsonValue, parseJson } from "../json/mod.ts";
import type { Random } from "../ports/mod.ts";
import type { RecordGuard } from "./guarded_store.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
/** Says how the bytes are to be read; a later way gets another. */
const VERSION = "kit-sealed-1";

/** What sealing needs. */
export interface SealOptions {
  /** The secret: 32 bytes as 64 hex digits or as base64, as in `KIT_STORE_KEY`. */
  readonly key: string;
  /** Nonces. */
  readonly random: Random;
}

/**
 * Makes the guard that encrypts.
 *
 * @param options The key.
 * @returns The guard. Opening a record that was sealed with another key, or changed, rejects with a text that says so; a
 * record written before a key was set is refused too, since it cannot be told from a forged one.
 * @throws {RangeError} If the key is not 32 bytes.
 */
export async function createSeal(options: SealOptions): Promise<RecordGuard> {
  return new Seal(await importKey(options.key), options.random);
}

class Seal implements RecordGuard {
  readonly #key: CryptoKey;
  readonly #random: Random;

  constructor(key: CryptoKey, random: Random) {
    this.#key = key;
    this.#random = random;
  }

  async close(value: JsonValue, runId: string): Promise<JsonValue> {
    const nonce = this.#random.bytes(NONCE_BYTES);
    const plain = new TextEncoder().encode(JSON.stringify(value));
    const sealed = await crypto.subtle.encrypt(cipher(nonce, runId), this.#key, plain);
    return { sealed: VERSION, nonce: nonce.toBase64(), data: new Uint8Array(sealed).toBase64() };
  }

  async open(value: JsonValue, runId: string): Promise<JsonValue> {
    const { nonce, data } = isJsonObject(value) && value.sealed === VERSION ? value : {};
    if (typeof nonce !== "string" || typeof data !== "string") {
      throw new UnreadableRecordError(
        `Cannot read run ${runId}: it was stored without KIT_STORE_KEY; unset the key to read it`,
      );
    }
    try {
      const plain = await crypto.subtle.decrypt(
        cipher(Uint8Array.fromBase64(nonce), runId),
        this.#key,
        Uint8Array.fromBase64(data),
      );
      return parseJson(new TextDecoder().decode(plain));
    } catch (error) {
      throw new UnreadableRecordError(
        `Cannot read run ${runId}: it was stored with another KIT_STORE_KEY, or was changed since`,
        { cause: error },
      );
    }
  }
}

function cipher(iv: Uint8Array<ArrayBuffer>, runId: string): AesGcmParams {
  return { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(`${VERSION}:${runId}`) };
}

async function importKey(key: string): Promise<CryptoKey> {
  const bytes = keyBytes(key);
  if (bytes?.length !== KEY_BYTES) {
    throw new RangeError(
      "Cannot use KIT_STORE_KEY: it must be 32 bytes, written as 64 hex digits or as base64",
    );
  }
  const extractable = false;
  return await crypto.subtle.importKey("raw", bytes, "AES-GCM", extractable, [
    "encrypt",
    "decrypt",
  ]);
}

function keyBytes(key: string): Uint8Array<ArrayBuffer> | undefined {
  const trimmed = key.trim();
  try {
    return /^[0-9a-fA-F]{64}$/.test(trimmed)
      ? Uint8Array.fromHex(trimmed)
      : Uint8Array.fromBase64(trimmed);
  } catch {
    return undefined;
  }
}
