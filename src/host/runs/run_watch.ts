/**
 * Tells those who watch a run what happens in it.
 *
 * @module
 */
import { notify } from "../../llm/mod.ts";
import type { MachineEvent } from "../../machine/mod.ts";
import type { CallOptions, CallProgress } from "../host.ts";
import type { RunFollower } from "./progress.ts";

/** Who watches: progress for people, events for programs. */
export type Watcher = {
  readonly [Key in "onProgress" | "onEvent"]: CallOptions[Key] | undefined;
};

/** Those who watch one run. */
export class RunWatch {
  readonly #follower: RunFollower;
  readonly #listeners = new Set<(report: CallProgress) => void>();
  readonly #observers = new Set<(event: MachineEvent) => void>();

  /** Begins without anybody. `follower`: knows where the run is. */
  constructor(follower: RunFollower) {
    this.#follower = follower;
  }

  /** Tells what happens, until the function that is returned is called. */
  add({ onProgress, onEvent }: Watcher): () => void {
    if (onProgress !== undefined) this.#listeners.add(onProgress);
    if (onEvent !== undefined) this.#observers.add(onEvent);
    return () => {
      if (onProgress !== undefined) this.#listeners.delete(onProgress);
      if (onEvent !== undefined) this.#observers.delete(onEvent);
    };
  }

  /** Says where the run is. Texts are made only where somebody reads them. */
  announce(): void {
    if (this.#listeners.size === 0) return;
    const report = this.#follower.report();
    for (const listener of this.#listeners) notify(listener, report);
  }

  /** Takes an event in and passes it on. */
  observe(event: MachineEvent): void {
    for (const observer of this.#observers) notify(observer, event);
    if (this.#follower.follow(event)) this.announce();
  }
}
