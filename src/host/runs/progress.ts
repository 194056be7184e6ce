/**
 * Follows a run by its events, for people who wait: where it is, how far, what it cost.
 *
 * @module
 */
import type { Machine, MachineEvent, TokenCount } from "../../machine/mod.ts";
import type { CallProgress } from "../host.ts";

/** Where a run is. */
export interface RunPosition {
  /** The state, of the machine that runs at this moment; `undefined` before the first. */
  readonly state: string | undefined;
  /** Steps of the root so far. */
  readonly steps: number;
  /** Tokens of finished states. */
  readonly tokens: TokenCount;
}

/** Follows one run. */
export class RunFollower {
  readonly #machine: Machine;
  #state: string | undefined;
  #root: string | undefined;
  #steps = 0;
  #number = 1;
  #input = 0;
  #output = 0;
  #branches = 0;
  #reports = 0;

  /** Makes a follower. `before`: tokens of an earlier part of the run. */
  constructor(machine: Machine, before: TokenCount) {
    this.#machine = machine;
    this.#input = before.input_tokens;
    this.#output = before.output_tokens;
  }

  /** Where the run is. */
  get position(): RunPosition {
    return {
      state: this.#state,
      steps: this.#steps,
      tokens: { input_tokens: this.#input, output_tokens: this.#output },
    };
  }

  /**
   * Takes an event in.
   *
   * @param event The event.
   * @returns Whether it is worth a report.
   */
  follow(event: MachineEvent): boolean {
    switch (event.type) {
      case "state-start":
        this.#state = event.state;
        if (event.depth === 0) {
          this.#root = event.state;
          this.#number = event.step;
        }
        this.#branches = 0;
        return true;
      case "branch-done":
        this.#branches++;
        return true;
      case "state-done":
        if (event.depth > 0) return true;
        this.#steps = event.step;
        this.#number = event.step;
        this.#input += event.tokens?.input_tokens ?? 0;
        this.#output += event.tokens?.output_tokens ?? 0;
        return true;
      default:
        return false;
    }
  }

  /** What to say now. The number rises with every call. */
  report(): CallProgress {
    this.#reports++;
    return { progress: this.#reports, message: this.sentence() };
  }

  /** Where the run is, in a few words: `state draft (4 of at most 12 steps) · 1,812 tokens`. */
  sentence(): string {
    const at = this.#state ?? this.#machine.entry;
    const within = this.#root !== undefined && this.#root !== at ? ` in ${this.#root}` : "";
    const branches = this.#branches === 0 ? "" : ` · branch ${this.#branches} done`;
    const tokens = grouped(this.#input + this.#output);
    return `state ${at}${within} (${this.#number} of at most ${this.#machine.budget} steps)${branches} · ` +
      `${tokens} tokens`;
  }
}

/** `1812` as `1,812`. By hand: this is written at every event, and the formatter of the language costs 0.1 ms each time. */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}
