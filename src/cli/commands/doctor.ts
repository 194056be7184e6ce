/**
 * `kit doctor`.
 *
 * @module
 */
import type { ConfigReport } from "../../host/mod.ts";
import type { Invocation } from "../command.ts";
import { type Envelope, printEnvelope } from "../envelope.ts";
import { EXIT } from "../exit_codes.ts";
import { openHost } from "../open_host.ts";

interface Item {
  readonly name: string;
  readonly status: "ok" | "warning" | "error";
  readonly errors?: readonly string[];
  readonly warnings?: readonly string[];
  readonly [key: string]: unknown;
}

/**
 * Says what is configured and what is missing. Spends nothing and asks no endpoint.
 *
 * @param invocation What was asked.
 * @returns 0, or 1 if no model can be asked.
 */
export async function run(invocation: Invocation): Promise<number> {
  const host = openHost(invocation);
  try {
    const report = await host.configuration();
    const items: Item[] = [
      configItem(report),
      ...findingItems(report),
      environmentItem(report),
      ...keyItems(report),
      ...backendItems(report),
      ...await machineItems(invocation),
      ...await storeItems(invocation),
      ...directoryItems(report),
    ];
    const ok = items.every(({ status }) => status !== "error");
    const envelope: Envelope = {
      command: "doctor",
      ok,
      items,
      diagnostics: [],
      summary: { layer: report.layer, active: report.active ?? "-", ok },
    };
    if (invocation.format === "json") await invocation.out.json(envelope);
    else await printEnvelope(envelope, invocation.out, (item) => String(item.name));
    return ok ? EXIT.ok : EXIT.finding;
  } finally {
    await host.close();
  }
}

function configItem({ layer, path, active, problem }: ConfigReport): Item {
  const name = `config ${path ?? "-"} · layer=${layer} · active=${active ?? "-"}`;
  return problem === undefined
    ? { name, status: "ok" }
    : { name, status: "error", errors: [problem.message] };
}

function findingItems({ path, findings }: ConfigReport): Item[] {
  if (path === undefined) return [];
  const name = `schema ${path} · ${findings.length} ${
    findings.length === 1 ? "finding" : "findings"
  }`;
  return [
    findings.length === 0
      ? { name, status: "ok" }
      : { name, status: "warning", warnings: findings },
  ];
}

function environmentItem({ envFiles }: ConfigReport): Item {
  return { name: `env files=${envFiles.length === 0 ? "-" : envFiles.join(", ")}`, status: "ok" };
}

function keyItems({ providers, active }: ConfigReport): Item[] {
  return providers.map(({ name, keyVariable, key, baseUrl, tiers }) => {
    const models = [...new Set(Object.values(tiers))].join(", ");
    const label = `key ${name} · ${keyVariable ?? "-"} · ${key} · ${baseUrl ?? "-"} · ${models}`;
    if (key !== "missing") return { name: label, status: "ok" };
    return name === active
      ? { name: label, status: "error", errors: [`Set the variable ${keyVariable}`] }
      : { name: label, status: "warning", warnings: [`The variable ${keyVariable} is not set`] };
  });
}

function backendItems({ backends }: ConfigReport): Item[] {
  return backends.map(({ tool, backend, source }) => ({
    name: `tools ${tool} · backend=${backend} · source=${source}`,
    status: "ok",
  }));
}

async function machineItems(invocation: Invocation): Promise<Item[]> {
  const host = openHost(invocation);
  try {
    const { object } = await host.listMachines();
    const counts = new Map<string, number>();
    for (const machine of Array.isArray(object.machines) ? object.machines : []) {
      const source = String(machine.source);
      counts.set(source, (counts.get(source) ?? 0) + 1);
    }
    return [...counts].map(([layer, count]) => ({
      name: `machines ${layer} · ${count} ${count === 1 ? "machine" : "machines"}`,
      status: "ok",
    }));
  } finally {
    await host.close();
  }
}

async function storeItems(invocation: Invocation): Promise<Item[]> {
  const { args, context } = invocation;
  const place = args.value("store") ?? context.ports.env.get("KIT_STORE") ?? "";
  if (place === "") return [];
  // A place may hold a password; its scheme is enough to know it by.
  const name = `store ${place.slice(0, place.indexOf(":"))}`;
  const host = openHost(invocation);
  try {
    const { suspended, running, finished } = await (await host.store()).counts();
    const counts = `suspended=${suspended} · running=${running} · finished=${finished}`;
    return [{ name: `${name} · ${counts}`, status: "ok" }];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ name, status: "error", errors: [message] }];
  } finally {
    await host.close();
  }
}

function directoryItems({ directories }: ConfigReport): Item[] {
  return Object.entries(directories).map(([what, path]) => ({
    name: `directory ${what} · ${path ?? "-"}`,
    status: "ok",
  }));
}
