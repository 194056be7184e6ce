/**
 * The bounds of a process and their defaults.
 *
 * @module
 */
import type { Ports } from "../ports/mod.ts";
import type { HostLimits, HostOptions } from "./options.ts";
import { kitVariable } from "./config/directories.ts";

/** One hour in milliseconds. */
const HOUR_MS = 3_600_000;
/** The defaults that no variable can lift without being named. */
const DEFAULTS: HostLimits = {
  maxRuns: 64,
  maxSuspended: 1000,
  maxOutcomes: 256,
  outcomeTtlMs: HOUR_MS,
  suspensionTtlMs: undefined,
  maxWaitSeconds: 50,
  maxRunTokens: undefined,
  maxCallTokens: undefined,
  maxProcessTokens: undefined,
  maxProcessCalls: undefined,
  callTimeoutMs: 120_000,
  maxSourceChars: 1_048_576,
  maxResultBytes: 1_048_576,
};

/**
 * Gives the bounds of a process: what was handed in, then the environment, then the defaults. A variable that is no
 * number of its kind is logged and left out.
 *
 * @param options What the host is made from.
 * @returns The bounds.
 */
export function hostLimits(options: HostOptions): HostLimits {
  const { env } = options.ports;
  const read = (name: string, low: number): number | undefined =>
    readNumber(options.ports, { name: `KIT_${name}`, written: kitVariable(env, name), low });
  const wait = read("MAX_WAIT_SECONDS", 0);
  const runs = read("MAX_RUNS", 1);
  const suspended = read("MAX_SUSPENDED", 1);
  const runTokens = read("MAX_RUN_TOKENS", 1);
  const callTokens = read("MAX_CALL_TOKENS", 1);
  const processTokens = read("MAX_TOKENS", 1);
  const expiry = read("SUSPENSION_TTL_SECONDS", 1);
  return {
    ...DEFAULTS,
    ...(wait === undefined ? {} : { maxWaitSeconds: wait }),
    ...(runs === undefined ? {} : { maxRuns: runs }),
    ...(suspended === undefined ? {} : { maxSuspended: suspended }),
    ...(runTokens === undefined ? {} : { maxRunTokens: runTokens }),
    ...(callTokens === undefined ? {} : { maxCallTokens: callTokens }),
    ...(processTokens === undefined ? {} : { maxProcessTokens: processTokens }),
    ...(expiry === undefined ? {} : { suspensionTtlMs: expiry * 1000 }),
    ...callCap(options.ports),
    ...options.limits,
  };
}

/** The variables of the original server bound the process too. */
function callCap(ports: Ports): Partial<HostLimits> {
  const read = (name: string): number | undefined =>
    readNumber(ports, { name, written: ports.env.get(name), low: 1 });
  const calls = read("EXECUTIONKIT_MAX_CALLS");
  const tokens = read("EXECUTIONKIT_MAX_TOKENS");
  return {
    ...(calls === undefined ? {} : { maxProcessCalls: calls }),
    ...(tokens === undefined ? {} : { maxProcessTokens: tokens }),
  };
}

interface Variable {
  readonly name: string;
  readonly written: string | undefined;
  readonly low: number;
}

function readNumber(ports: Ports, { name, written, low }: Variable): number | undefined {
  if (written === undefined || written.trim() === "") return undefined;
  const value = Number(written);
  if (Number.isFinite(value) && value >= low) return value;
  ports.log.write("warning", `${name} is no number from ${low} on; it is ignored`);
  return undefined;
}
