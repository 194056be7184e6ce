/**
 * Makes a host. Everything heavy is loaded by the call that needs it, so that making one costs nothing.
 *
 * @module
 */
import type { Ledger } from "../llm/mod.ts";
import type { ConfigReport, ModelsOutcome } from "./config/outcome.ts";
import type { HostCore } from "./core.ts";
import type { EmitOptions } from "./emit.ts";
import type {
  CallOptions,
  CheckEmitted,
  CheckRequest,
  Host,
  ResumeRequest,
  RunRequest,
} from "./host.ts";
import { hostLimits } from "./limits.ts";
import type { Door, HostLimits, HostOptions } from "./options.ts";
import type { Emitted } from "./result.ts";
import type { RunAnswer } from "./runs/commission.ts";
import type { RunSupervisor } from "./runs/run_supervisor.ts";
import type { RunSummary, SuspensionStore } from "./store.ts";

/**
 * Makes a host.
 *
 * @param options What it is made from.
 * @returns The host; nothing is read or opened yet.
 */
export function createHost(options: HostOptions): Host {
  return new LazyHost(options);
}

/** What runs machines. */
type Calls = typeof import("./calls.ts");
/** What lists and describes them. */
type Machines = typeof import("./machines.ts");

/**
 * Not literals where they are imported: what a literal names is read when the program starts, reached or not. Calls
 * that run nothing have files of their own (README.md, "What looks does not load what runs").
 */
const CALLS: string = "./calls.ts";
const CHECK: string = "./check.ts";
const MACHINES: string = "./machines.ts";
const REPORT: string = "./config/report.ts";

/** What votes need, and calls build on. */
type Core = typeof import("./core.ts");
const CORE: string = "./core.ts";

interface Parts {
  readonly calls: Calls;
  readonly core: HostCore;
  readonly supervisor: RunSupervisor;
}

class LazyHost implements Host {
  readonly options: HostOptions;
  readonly ports: HostOptions["ports"];
  readonly door: Door;
  #limits: HostLimits | undefined;
  #core: Promise<HostCore> | undefined;
  #parts: Promise<Parts> | undefined;

  constructor(options: HostOptions) {
    this.options = options;
    this.ports = options.ports;
    this.door = options.door;
  }

  get limits(): HostLimits {
    return this.#limits ??= hostLimits(this.options);
  }

  async models(provider?: string): Promise<ModelsOutcome> {
    return await (await this.#openCore()).models(provider);
  }

  async ledger(): Promise<Ledger> {
    return await (await this.#openCore()).ledger();
  }

  async run(request: RunRequest, call: CallOptions = {}): Promise<Emitted> {
    const parts = await this.#open();
    const answer = await parts.calls.commission(request, call, parts);
    return this.#emit(answer, { calls: parts.calls, call, detail: request.detail });
  }

  async resume(request: ResumeRequest, call: CallOptions = {}): Promise<Emitted> {
    const parts = await this.#open();
    const answer = await parts.calls.resume(request, call, parts);
    return this.#emit(answer, { calls: parts.calls, call, detail: request.detail });
  }

  async check(request: CheckRequest, call: CallOptions = {}): Promise<CheckEmitted> {
    const core = await this.#openCore();
    const { checkTarget }: typeof import("./check.ts") = await import(CHECK);
    const { problems = [] } = call;
    return await checkTarget({ ...request, problems }, core, this.#emitOptions(call, "full"));
  }

  async listMachines(
    options: { readonly directory?: string } = {},
    call: CallOptions = {},
  ): Promise<Emitted> {
    const core = await this.#openCore();
    const { listMachines, refuseArguments }: Machines = await import(MACHINES);
    const refused = refuseArguments(call.problems, this.#emitOptions(call, "full"));
    return refused ?? await listMachines(core, options);
  }

  async describeMachine(name: string, call: CallOptions = {}): Promise<Emitted> {
    const core = await this.#openCore();
    const { describeMachine, refuseArguments }: typeof import("./machines.ts") = await import(
      MACHINES
    );
    const options = this.#emitOptions(call, "full");
    return refuseArguments(call.problems, options) ?? await describeMachine(name, core, options);
  }

  async configuration(): Promise<ConfigReport> {
    const core = await this.#openCore();
    const { reportConfiguration }: typeof import("./config/report.ts") = await import(REPORT);
    return await reportConfiguration(core);
  }

  async runs(): Promise<readonly RunSummary[]> {
    const parts = await this.#open();
    const store = await parts.supervisor.store();
    await parts.calls.recoverRuns(parts);
    return await store.list({ limit: MAX_LISTED_RUNS });
  }

  async store(): Promise<SuspensionStore> {
    return await (await this.#open()).supervisor.store();
  }

  async close(): Promise<void> {
    if (this.#parts === undefined) return;
    const { supervisor } = await this.#parts;
    await supervisor.close();
  }

  #emit(
    answer: RunAnswer,
    { calls, call, detail }: {
      readonly calls: Calls;
      readonly call: CallOptions;
      readonly detail: "summary" | "full" | undefined;
    },
  ): Emitted {
    const usual = this.door === "mcp" ? "summary" : "full";
    const options = this.#emitOptions(call, detail ?? usual);
    if (answer.kind === "refused") return calls.emitRefusal(answer, options);
    return calls.emitRun(answer.report, {
      ...options,
      scripted: answer.scripted || answer.report.provider === "scripted",
    });
  }

  #emitOptions(
    call: CallOptions,
    detail: "summary" | "full",
  ): EmitOptions {
    const { door, limits } = this;
    return { detail, door, maxBytes: limits.maxResultBytes, toolName: call.toolName };
  }

  #open(): Promise<Parts> {
    return this.#parts ??= this.#load();
  }

  #openCore(): Promise<HostCore> {
    return this.#core ??= this.#loadCore();
  }

  async #loadCore(): Promise<HostCore> {
    const { HostCore }: Core = await import(CORE);
    return new HostCore(this.options, this.limits);
  }

  async #load(): Promise<Parts> {
    const core = await this.#openCore();
    const calls: Calls = await import(CALLS);
    return { calls, core, supervisor: new calls.RunSupervisor(core) };
  }
}

/** Most runs of a listing. */
const MAX_LISTED_RUNS = 10_000;
