/**
 * Where checkpoints are kept. Kit's patterns hand out plain data; keeping it is the caller's.
 *
 * @module
 */
import { cloneJson, deepFreeze, type JsonValue } from "../json/mod.ts";

/** A place for checkpoints. What is saved under a key replaces what was there, whole or not at all. */
export interface CheckpointStore {
  /** Reads what is kept under a key; `undefined` if nothing is. */
  load(key: string): Promise<JsonValue | undefined>;
  /** Keeps a value. */
  save(key: string, value: JsonValue): Promise<void>;
  /** Forgets a value; a key that is not there is no error. */
  remove(key: string): Promise<void>;
}

/**
 * Keeps checkpoints in memory, for tests and for runs that need not outlive the process.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *
 * const store = createMemoryCheckpointStore();
 * await store.save("run-1", { done: ["fetch"] });
 * assertEquals(await store.load("run-1"), { done: ["fetch"] });
 * ```
 *
 * @returns An empty store.
 */
export function createMemoryCheckpointStore(): CheckpointStore {
  const kept = new Map<string, JsonValue>();
  return {
    load: (key) => Promise.resolve(kept.get(key)),
    save: (key, value) => {
      kept.set(key, deepFreeze(cloneJson(value)));
      return Promise.resolve();
    },
    remove: (key) => {
      kept.delete(key);
      return Promise.resolve();
    },
  };
}
