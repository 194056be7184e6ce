/**
 * Proof that a record is what Kit wrote: a digest that notices damage and edits, and with a key a MAC that only its
 * holder can make. For stores that are not encrypted; encryption proves by itself.
 *
 * @module
 */
import { UnreadableRecordError } from "../host/mod.ts";
import { isJsonObject, type JsonValue, parseJson } from "../json/mod.ts";
import type { RecordGuard } from "./guarded_store.ts";

/** Says how a record is to be read; a later way gets another. */
const VERSION = "kit-proof-1";
const EXTRACTABLE = false;

/**
 * Makes the guard that proves records, each bound to its run's id.
 *
 * @param options `key`: the secret of the MAC, any text, as in `KIT_STATE_KEY`; without it there is a digest alone.
 * @returns The guard. Opening a record rejects if it was changed, if it was moved from another run, if it is encrypted,
 * or if a key is given and the record has no MAC of that key.
 */
export async function createProof(options: { readonly key?: string } = {}): Promise<RecordGuard> {
  const { key } = options;
  return new Proof(key === undefined ? undefined : await importKey(key));
}

class Proof implements RecordGuard {
  readonly #key: CryptoKey | undefined;

  constructor(key: CryptoKey | undefined) {
    this.#key = key;
  }

  async close(value: JsonValue, runId: string): Promise<JsonValue> {
    const data = JSON.stringify(value);
    const bytes = bound(data, runId);
    const digest = await digestOf(bytes);
    if (this.#key === undefined) return { proof: VERSION, digest, data };
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", this.#key, bytes)).toHex();
    return { proof: VERSION, digest, mac, data };
  }

  async open(value: JsonValue, runId: string): Promise<JsonValue> {
    const record = isJsonObject(value) ? value : {};
    const { proof, digest, mac, data } = record;
    if (typeof record["sealed"] === "string") {
      throw unreadable(runId, "it is encrypted; set the KIT_STORE_KEY that it was stored with");
    }
    if (proof !== VERSION || typeof data !== "string") {
      throw unreadable(runId, "it is not what Kit stored");
    }
    const bytes = bound(data, runId);
    if (digest !== await digestOf(bytes)) throw unreadable(runId, "it was changed since");
    if (this.#key !== undefined && !await this.#isSigned(mac, bytes)) {
      throw unreadable(runId, "it was stored without this KIT_STATE_KEY, or was changed since");
    }
    return parseJson(data);
  }

  async #isSigned(mac: JsonValue | undefined, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
    if (this.#key === undefined || typeof mac !== "string") return false;
    const signature = bytesOf(mac);
    return signature !== undefined &&
      await crypto.subtle.verify("HMAC", this.#key, signature, bytes);
  }
}

function unreadable(runId: string, why: string): UnreadableRecordError {
  return new UnreadableRecordError(`Cannot read run ${runId}: ${why}`);
}

function bound(data: string, runId: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${VERSION}:${runId}:${data}`);
}

async function digestOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromHex(hex);
  } catch {
    return undefined;
  }
}

async function importKey(key: string): Promise<CryptoKey> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const bytes = new TextEncoder().encode(key);
  return await crypto.subtle.importKey("raw", bytes, algorithm, EXTRACTABLE, ["sign", "verify"]);
}
