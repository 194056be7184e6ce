/**
 * Encryption at rest: what a run knows is written as AES-256-GCM ciphertext, with the run's id bound to it so that
 * payloads cannot be swapped between records. Names, phases and times stay readable for listings.
 *
 * @module
 */
import {
  type Claim,
  type RunRecord,
  type RunSummary,
  type SuspensionStore,
  UnreadableRecordError,
} from "../host/mod.ts";
import { isJsonObject, type JsonValue, parseJson } from "../json/mod.ts";
import type { Random } from "../ports/mod.ts";

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
 * Wraps a store so that payloads and questions reach it encrypted.
 *
 * @param store The store.
 * @param options The key.
 * @returns The same store, sealed. Reading a record that was sealed with another key, or changed, rejects with a text
 * that says so; a record written before a key was set is refused too, since it cannot be told from a forged one.
 * @throws {RangeError} If the key is not 32 bytes.
 */
export async function sealStore(
  store: SuspensionStore,
  options: SealOptions,
): Promise<SuspensionStore> {
  const seal = new Seal(await importKey(options.key), options.random);
  return new SealedStore(store, seal);
}

class SealedStore implements SuspensionStore {
  readonly durable: boolean;
  readonly #store: SuspensionStore;
  readonly #seal: Seal;

  constructor(store: SuspensionStore, seal: Seal) {
    this.durable = store.durable;
    this.#store = store;
    this.#seal = seal;
  }

  async begin(run: Parameters<SuspensionStore["begin"]>[0]): ReturnType<SuspensionStore["begin"]> {
    const payload = await this.#seal.close(run.payload, run.runId);
    return await this.#store.begin({ ...run, payload });
  }

  async settle(
    runId: string,
    point: Parameters<SuspensionStore["settle"]>[1],
  ): ReturnType<SuspensionStore["settle"]> {
    if (point.payload === undefined) return await this.#store.settle(runId, point);
    const payload = await this.#seal.close(point.payload, runId);
    return await this.#store.settle(runId, { ...point, payload });
  }

  async suspend(
    runId: string,
    holder: string,
    suspension: Parameters<SuspensionStore["suspend"]>[2],
  ): ReturnType<SuspensionStore["suspend"]> {
    const sealed = await this.#closeStanding(suspension, runId);
    return await this.#store.suspend(runId, holder, { ...suspension, ...sealed });
  }

  async finish(
    runId: string,
    holder: string,
    end: Parameters<SuspensionStore["finish"]>[2],
  ): ReturnType<SuspensionStore["finish"]> {
    const outcome = await this.#seal.close(end.outcome, runId);
    return await this.#store.finish(runId, holder, { ...end, outcome });
  }

  async claim(handle: string, by: Parameters<SuspensionStore["claim"]>[1]): Promise<Claim> {
    const claim = await this.#store.claim(handle, by);
    if (claim.kind !== "claimed") return claim;
    try {
      return { kind: "claimed", record: await this.#open(claim.record) };
    } catch (error) {
      // What cannot be read stays as it was, for whoever has the right key.
      await this.#store.park(claim.record.runId, by.holder);
      throw error;
    }
  }

  async park(
    runId: string,
    holder: string,
    suspension?: Parameters<SuspensionStore["park"]>[2],
  ): ReturnType<SuspensionStore["park"]> {
    if (suspension === undefined) return await this.#store.park(runId, holder);
    const sealed = await this.#closeStanding(suspension, runId);
    return await this.#store.park(runId, holder, { ...suspension, ...sealed });
  }

  async peek(handle: string): Promise<Claim> {
    const claim = await this.#store.peek(handle);
    if (claim.kind !== "claimed") return claim;
    return { kind: "claimed", record: await this.#open(claim.record) };
  }

  async look(runId: string): Promise<RunRecord | undefined> {
    const record = await this.#store.look(runId);
    return record === undefined ? undefined : await this.#open(record);
  }

  async recover(
    options: Parameters<SuspensionStore["recover"]>[0],
  ): Promise<readonly RunRecord[]> {
    const records = await this.#store.recover(options);
    // A record of another key is put back to suspension all the same, for whoever can read it: by its run id.
    const opened = await Promise.allSettled(records.map((record) => this.#open(record)));
    return opened.flatMap((outcome) => outcome.status === "fulfilled" ? [outcome.value] : []);
  }

  async list(options?: Parameters<SuspensionStore["list"]>[0]): Promise<readonly RunSummary[]> {
    const rows = await this.#store.list(options);
    return await Promise.all(
      rows.map(async (row) => ({ ...row, ask: await this.#openAsk(row.ask, row.runId) })),
    );
  }

  forget(runId: string): Promise<boolean> {
    return this.#store.forget(runId);
  }

  sweep(): Promise<number> {
    return this.#store.sweep();
  }

  counts(): ReturnType<SuspensionStore["counts"]> {
    return this.#store.counts();
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #closeStanding(
    suspension: { readonly payload: JsonValue; readonly ask: string | undefined },
    runId: string,
  ): Promise<{ payload: JsonValue; ask: string | undefined }> {
    const payload = await this.#seal.close(suspension.payload, runId);
    if (suspension.ask === undefined) return { payload, ask: undefined };
    return { payload, ask: JSON.stringify(await this.#seal.close(suspension.ask, runId)) };
  }

  async #open(record: RunRecord): Promise<RunRecord> {
    const payload = await this.#seal.open(record.payload, record.runId);
    return { ...record, payload, ask: await this.#openAsk(record.ask, record.runId) };
  }

  async #openAsk(ask: string | undefined, runId: string): Promise<string | undefined> {
    if (ask === undefined) return undefined;
    return String(await this.#seal.open(sealedText(ask), runId));
  }
}

class Seal {
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

function sealedText(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
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
