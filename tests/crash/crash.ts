/**
 * Kills a server again and again while it works on runs that think, charge and ask a person, and goes on with what was
 * left, until enough runs are done. Then the lines that the server wrote must show that
 *
 * - every suspension that a client was told of led to an end,
 * - no state was asked again after it was settled,
 * - no run was charged twice.
 *
 * @module
 */
import { type Answer, CrashClient } from "./client.ts";

/** How the test is run. */
export interface CrashOptions {
  /** `sqlite:PATH` or `postgres://…`, empty. */
  readonly store: string;
  /** The file for the server's lines, which does not exist yet. */
  readonly log: string;
  /** Runs that must come to their end. */
  readonly runs: number;
  /** Runs at once; default 16. */
  readonly atOnce?: number;
}

/** What came of it. */
export interface CrashReport {
  /** Runs that came to their end. */
  readonly done: number;
  /** Runs that were killed before the client knew any handle of theirs. */
  readonly unknown: number;
  /** How often the server was killed. */
  readonly kills: number;
  /** Suspensions that a client was told of. */
  readonly acknowledged: number;
  /** Model calls in all. */
  readonly calls: number;
  /** Runs in which an effect was left open, and a person was asked. */
  readonly openEffects: number;
  /** What must not be; empty if all is well. */
  readonly violations: readonly string[];
}

const STATES = ["draft", "work", "charge", "note", "apply", "END"];
const LEASES_OVER_MS = 60_000;
/** A server lives until it has written so many bytes more, some 20 a line: however fast the machine, it dies at work. */
const MIN_LIFE_BYTES = 60;
const MAX_LIFE_BYTES = 1200;
/** Longest life of a server that writes nothing. */
const MAX_LIFE_MS = 5000;
const LOOK_EVERY_MS = 3;
/** After so many kills something hangs. */
const MAX_KILLS_A_RUN = 4;

interface Run {
  readonly name: string;
  /** What the client knows: nothing, that the run exists, or that it waits. */
  runId?: string;
  handle?: string;
  reason?: string;
  done?: boolean;
  lost?: boolean;
}

/**
 * Runs the test.
 *
 * @param options How.
 * @returns What came of it.
 */
export async function crash(options: CrashOptions): Promise<CrashReport> {
  const test = new CrashTest(options);
  return await test.run();
}

class CrashTest {
  readonly #options: CrashOptions;
  readonly #violations: string[] = [];
  readonly #runs: Run[] = [];
  #kills = 0;
  #acknowledged = 0;
  #openEffects = 0;

  constructor(options: CrashOptions) {
    this.#options = options;
  }

  async run(): Promise<CrashReport> {
    const { runs, log } = this.#options;
    const mostKills = runs * MAX_KILLS_A_RUN;
    while (this.#done() < runs && this.#kills < mostKills && this.#violations.length === 0) {
      await this.#life();
      this.#kills++;
    }
    if (this.#done() < runs && this.#violations.length === 0) {
      this.#violations.push(`only ${this.#done()} of ${runs} runs ended in ${this.#kills} lives`);
    }
    const lines = (await Deno.readTextFile(log)).trimEnd().split("\n");
    this.#violations.push(...judge(lines));
    return {
      done: this.#done(),
      unknown: this.#runs.filter(({ lost }) => lost).length,
      kills: this.#kills,
      acknowledged: this.#acknowledged,
      calls: lines.filter((line) => line.startsWith("call ")).length,
      openEffects: this.#openEffects,
      violations: this.#violations,
    };
  }

  #done(): number {
    return this.#runs.filter(({ done }) => done).length;
  }

  async #life(): Promise<void> {
    const { store, log, atOnce = 16 } = this.#options;
    const client = new CrashClient({
      KIT_CRASH_STORE: store,
      KIT_CRASH_LOG: log,
      KIT_CRASH_SKEW_MS: String(this.#kills * LEASES_OVER_MS),
    });
    let alive = true;
    const open = this.#runs.filter(({ done, lost }) => !done && !lost);
    while (open.length < atOnce) {
      const run: Run = { name: `run_${this.#runs.length}` };
      this.#runs.push(run);
      open.push(run);
    }
    const working = open.map(async (run) => {
      while (alive && !run.done && !run.lost) await this.#step(run, client);
    });
    await this.#worked(MIN_LIFE_BYTES + Math.random() * (MAX_LIFE_BYTES - MIN_LIFE_BYTES));
    alive = false;
    await client.kill();
    await Promise.all(working);
  }

  /** Waits until the server has written so many bytes. */
  async #worked(bytes: number): Promise<void> {
    const { log } = this.#options;
    const size = async (): Promise<number> =>
      (await Deno.stat(log).catch(() => ({ size: 0 }))).size;
    const before = await size();
    const end = performance.now() + MAX_LIFE_MS;
    while (performance.now() < end && await size() - before < bytes) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }

  /** One call for one run: what a client would do that knows what this one knows. */
  async #step(run: Run, client: CrashClient): Promise<void> {
    if (run.handle !== undefined) {
      const { handle, reason } = run;
      const inputs = await this.#reply(run);
      const known = inputs === undefined ? {} : { inputs };
      const answer = await client.call("resume", { checkpoint: handle, wait_seconds: 0, ...known });
      if (answer?.object.error === "unknown-checkpoint") {
        this.#violations.push(`${run.name}: the suspension ${handle} (${reason}) is lost`);
        run.lost = true;
      }
      if (answer !== undefined) this.#learn(run, answer);
      return;
    }
    const waitSeconds = Math.random() < 0.5 ? 0 : 0.01;
    const answer = run.runId === undefined
      ? await client.call("run", {
        source: machine(run.name),
        hitl: true,
        wait_seconds: waitSeconds,
      })
      : await client.call("resume", { run: run.runId, wait_seconds: waitSeconds });
    if (answer !== undefined) this.#learn(run, answer);
    else if (run.runId === undefined) run.lost = true;
  }

  /** What a person would say who looks whether the charge is on the account. */
  async #reply(run: Run): Promise<Readonly<Record<string, unknown>> | undefined> {
    if (run.reason === "escalated") return { "decision.answer": "yes" };
    if (run.reason !== "effect-unknown") return undefined;
    const lines = (await Deno.readTextFile(this.#options.log)).split("\n");
    return lines.includes(`effect ${run.name}`)
      ? { "effect.result": "charged" }
      : { "effect.repeat": true };
  }

  #learn(run: Run, { object, text }: Answer): void {
    const { status, error, checkpoint, run: runId } = object;
    if (typeof runId === "string") run.runId = runId;
    delete run.handle;
    if (status === "suspended") {
      if (run.reason !== error) this.#acknowledged++;
      if (error === "effect-unknown" && run.reason !== error) this.#openEffects++;
      run.handle = checkpoint;
      run.reason = error;
    } else if (status === "done") {
      run.done = true;
      if (object.result !== "Scripted answer to: apply yes") this.#checkResult(run, object.result);
    } else if (error === "already-resumed" || error === "busy") {
      const [, known] = /"run": "([0-9a-f]{32})"/.exec(text) ?? [];
      if (known !== undefined) run.runId = known;
    } else if (status !== "running") {
      this.#violations.push(`${run.name}: ${status} ${error} ${text.slice(0, 300)}`);
      run.lost = true;
    }
  }

  #checkResult(run: Run, result: unknown): void {
    if (typeof result === "string" && result.includes("yes")) return;
    this.#violations.push(`${run.name}: ended with ${JSON.stringify(result)}`);
  }
}

/** Reads the server's lines, which are in the order of what happened. */
function judge(lines: readonly string[]): string[] {
  const violations: string[] = [];
  const settled = new Map<string, number>();
  const charged = new Set<string>();
  for (const line of lines) {
    const [what, run = "", state = ""] = line.split(" ");
    const reached = settled.get(run) ?? 0;
    if (what === "settled") settled.set(run, Math.max(reached, STATES.indexOf(state)));
    if (what === "call" && STATES.indexOf(state) < reached) {
      violations.push(`${run}: ${state} was asked again after ${STATES[reached]} was next`);
    }
    if (what === "effect" && charged.has(run)) violations.push(`${run}: charged twice`);
    if (what === "effect") charged.add(run);
  }
  return violations;
}

function machine(name: string): string {
  const think = (state: string, to: string): string =>
    `  ${state}: { structure: s, prompt: ${state}, output: ${state}, gates: [ { when: otherwise, then: ok, to: ${to} } ] }`;
  return `
machine: ${name}
entry: draft
budget: 20
result: apply
states:
${think("draft", "work")}
${think("work", "charge")}
  charge: { tool: charge, input: { run: ${name} }, output: receipt, gates: [ { when: otherwise, then: ok, to: note } ] }
  note:
    structure: s
    prompt: note
    output: note
    gates: [ { when: otherwise, escalate: true, to: apply, ask: "Apply?", reply_to: decision.answer } ]
  apply: { structure: s, prompt: "apply {{decision.answer}}", output: apply, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
}
