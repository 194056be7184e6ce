/**
 * A Kit server for the crash test: the product's own host, tools and stores, with an oracle and an effectful tool that
 * write down what they do, and a wall clock that can be set ahead so that the leases of the dead are over.
 *
 * It reads `KIT_CRASH_STORE` (`sqlite:PATH` or `postgres://…`), `KIT_CRASH_LOG` (the file that is appended to) and
 * `KIT_CRASH_SKEW_MS`.
 *
 * @module
 */
import { INFO, serveStdio } from "../../mcp.ts";
import { createHost, type HostOptions, type SuspensionStore } from "../../src/host/mod.ts";
import type { HostTool, Oracle, RunOptions } from "../../src/machine/mod.ts";
import type { Ports } from "../../src/ports/mod.ts";
import { openPostgresStore } from "../../src/stores/postgres.ts";
import { openSqliteStore } from "../../src/stores/sqlite.ts";
import { createTools } from "../../src/tools/mod.ts";

/** Longest pause of a call or an effect; the killer must find them under way. */
const MAX_PAUSE_MS = 25;

const log = Deno.openSync(Deno.env.get("KIT_CRASH_LOG") ?? "", { append: true, create: true });
const skew = Number(Deno.env.get("KIT_CRASH_SKEW_MS") ?? "0");

await serveStdio({
  info: INFO,
  tools: (ports) => Promise.resolve(createTools(createHost(hostOptions(later(ports))))),
  stateKey: (ports) => Promise.resolve(ports.random.bytes(32)),
});

function hostOptions(ports: Ports): HostOptions {
  return {
    ports,
    door: "mcp",
    provider: "scripted",
    openStore: () => openStore(ports),
    wrapRun: (machine, options) => ({
      options: witnessed(machine.name, options),
      ended: () => undefined,
    }),
  };
}

function later(ports: Ports): Ports {
  const { clock } = ports;
  return {
    ...ports,
    clock: {
      now: () => clock.now() + skew,
      monotonic: () => clock.monotonic(),
      sleep: (ms, options) => clock.sleep(ms, options),
      deadline: (ms) => clock.deadline(ms),
      local: (instant) => clock.local(instant),
    },
  };
}

async function openStore({ clock, files }: Ports): Promise<SuspensionStore> {
  const location = Deno.env.get("KIT_CRASH_STORE") ?? "";
  if (location.startsWith("sqlite:")) {
    return await openSqliteStore(location.slice("sqlite:".length), { clock, files });
  }
  return await openPostgresStore(location, { clock, datedBy: "clock" });
}

/** Adds the tool `charge`, and lines of what happens: `call`, `effect` and `settled`, each with the run's name. */
function witnessed(run: string, options: RunOptions): RunOptions {
  const charge: HostTool = {
    effect: "effect",
    run: async () => {
      await pause();
      write(`effect ${run}`);
      await pause();
      return "charged";
    },
  };
  const { tools, onSettled } = options;
  return {
    ...options,
    oracle: witness(run, options.oracle),
    tools: { get: (name) => tools?.get(name) ?? (name === "charge" ? charge : undefined) },
    onSettled: async (point) => {
      await onSettled?.(point);
      write(`settled ${run} ${point.at}`);
    },
  };
}

function witness(run: string, oracle: Oracle): Oracle {
  return {
    tiers: oracle.tiers,
    judgeModel: (tier) => oracle.judgeModel(tier),
    produce: async (request) => {
      write(`call ${run} ${request.state}`);
      await pause();
      return await oracle.produce(request);
    },
    judge: (request) => oracle.judge(request),
  };
}

function write(line: string): void {
  // One write to a file opened for appending: whole lines in the order of events, and a kill cannot take them back.
  log.writeSync(new TextEncoder().encode(`${line}\n`));
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS));
}
