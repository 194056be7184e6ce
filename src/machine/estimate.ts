/**
 * What a run can cost at most, before it costs anything.
 *
 * @module
 */
import { type JsonObject, member } from "../json/mod.ts";
import { dearest, type Visit, walkOf } from "./dearest_walk.ts";
import type { Machine, Registry, State } from "./document.ts";
import { placeholdersOf } from "./references.ts";

/** What is known beside the machine. */
export interface EstimateOptions {
  /** What `call:` can reach; absent: a machine with calls cannot be estimated. */
  readonly registry?: Registry;
  /** The context that the run starts with; default the author's. */
  readonly context?: JsonObject;
  /** Most completion tokens of one answer; default 4,096. */
  readonly answerTokens?: number;
  /** Most completion tokens of one judgement; default 64. */
  readonly judgementTokens?: number;
}

/**
 * The most that a run can cost. Each number is a ceiling of its own; attempts that are repeated after a failure of the
 * network are not counted.
 */
export interface RunEstimate {
  /** Answers asked for, or `undefined` if there is no ceiling that can be known. */
  readonly answers: number | undefined;
  /** Judgements asked for, or `undefined` likewise. */
  readonly judgements: number | undefined;
  /** Both together, or `undefined` likewise. At most the sum of both, often less. */
  readonly modelCalls: number | undefined;
  /** Completion tokens, or `undefined` likewise. Prompt tokens depend on what is written. */
  readonly completionTokens: number | undefined;
  /** Why there is no ceiling, as sentences; empty if there is one. */
  readonly reasons: readonly string[];
}

const DEFAULT_ANSWER_TOKENS = 4_096;
const DEFAULT_JUDGEMENT_TOKENS = 64;
/** How deep calls are followed; the engine halts at 8. */
const MAX_CALL_DEPTH = 32;

/**
 * Estimates the most that a run of a machine can cost.
 *
 * The ceiling assumes the dearest way through the gates. Where gates lead round in circles only the step budget ends it;
 * repair counters and ceilings of visits are looked at only where nothing but repairs leads back, so the true maximum may
 * be lower.
 *
 * @param machine The machine.
 * @param options Registry, context and sizes of answers.
 * @returns The ceilings, or why there are none.
 */
export function estimateRun(machine: Machine, options: EstimateOptions = {}): RunEstimate {
  const estimator = new Estimator(options);
  const cost = estimator.machineCost(machine, options.context ?? machine.context);
  if (cost === undefined) {
    return {
      answers: undefined,
      judgements: undefined,
      modelCalls: undefined,
      completionTokens: undefined,
      reasons: [...estimator.reasons],
    };
  }
  return { ...cost, reasons: [] };
}

/** Ceilings of a visit or of a run. */
interface Cost {
  readonly answers: number;
  readonly judgements: number;
  readonly modelCalls: number;
  readonly completionTokens: number;
}

class Estimator {
  readonly reasons = new Set<string>();
  readonly #options: EstimateOptions;
  readonly #known = new Map<string, Cost | undefined | "open">();
  #depth = 0;

  constructor(options: EstimateOptions) {
    this.#options = options;
  }

  machineCost(machine: Machine, context: JsonObject): Cost | undefined {
    const visits = new Map<string, Visit<Cost>>();
    let whole = true;
    for (const state of machine.states.values()) {
      const visit = this.#visit(state, machine, context);
      if (visit === undefined) whole = false;
      else visits.set(state.id, visit);
    }
    if (!whole) return undefined;
    const walk = walkOf(machine, visits);
    return {
      answers: dearest(walk, ({ answers }) => answers),
      judgements: dearest(walk, ({ judgements }) => judgements),
      modelCalls: dearest(walk, ({ modelCalls }) => modelCalls),
      completionTokens: dearest(walk, ({ completionTokens }) => completionTokens),
    };
  }

  #visit(state: State, machine: Machine, context: JsonObject): Visit<Cost> | undefined {
    const branches = this.#branches(state, machine, context);
    const once = this.#once(state);
    if (branches === undefined || once === undefined) return undefined;
    const judgements = judgementsOf(state);
    return {
      steps: Math.max(1, branches),
      cost: {
        answers: once.answers * branches,
        judgements: once.judgements * branches + judgements,
        modelCalls: once.modelCalls * branches + judgements,
        completionTokens: once.completionTokens * branches +
          judgements * (this.#options.judgementTokens ?? DEFAULT_JUDGEMENT_TOKENS),
      },
    };
  }

  #once(state: State): Cost | undefined {
    switch (state.kind) {
      case "tool":
        return { answers: 0, judgements: 0, modelCalls: 0, completionTokens: 0 };
      case "generative":
        return {
          answers: 1,
          judgements: 0,
          modelCalls: 1,
          completionTokens: this.#options.answerTokens ?? DEFAULT_ANSWER_TOKENS,
        };
      case "call":
        return this.#called(state.call);
    }
  }

  #called(name: string): Cost | undefined {
    const known = this.#known.get(name);
    if (known === "open") {
      this.reasons.add(`The calls of "${name}" lead back to it`);
      return undefined;
    }
    if (known !== undefined || this.#known.has(name)) return known;
    const machine = this.#options.registry?.get(name);
    if (machine === undefined) {
      this.reasons.add(`The machine "${name}" is not known here`);
      return undefined;
    }
    if (this.#depth >= MAX_CALL_DEPTH) {
      this.reasons.add(`Calls are nested more than ${MAX_CALL_DEPTH} deep`);
      return undefined;
    }
    this.#known.set(name, "open");
    this.#depth++;
    // Inputs replace any value of a called machine's context, so no list of it is known.
    const cost = this.machineCost(machine, {});
    this.#depth--;
    this.#known.set(name, cost);
    return cost;
  }

  #branches(state: State, machine: Machine, context: JsonObject): number | undefined {
    if (state.over === undefined) return state.sample ?? 1;
    const [placeholder] = placeholdersOf(state.over);
    const root = placeholder?.root;
    const written = [...machine.states.values()].some(({ output }) => output === root);
    const list = placeholder === undefined || written
      ? undefined
      : follow(placeholder.keys, context);
    if (Array.isArray(list)) return list.length;
    this.reasons.add(
      `${machine.name}: ${state.id}: how many elements ${state.over} has is known only when it runs`,
    );
    return undefined;
  }
}

function follow(keys: readonly string[], context: JsonObject): unknown {
  let value: unknown = context;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    value = member({ ...value }, key);
  }
  return value;
}

/** How often the judge is asked at most: once for each run of prose gates before the first catch-all. */
function judgementsOf({ gates }: State): number {
  let count = 0;
  let inBatch = false;
  for (const { catchAll, hook } of gates) {
    if (catchAll) break;
    const prose = hook === undefined;
    if (prose && !inBatch) count++;
    inBatch = prose;
  }
  return count;
}
