/**
 * `kit doctor`.
 *
 * @module
 */
import type { ConfigReport, Host } from "../../host/mod.ts";
import type { Invocation } from "../command.ts";
import { type Envelope, printEnvelope } from "../envelope.ts";
import { EXIT } from "../exit_codes.ts";
import { openHost } from "../open_host.ts";
import { missingStore, storePlace } from "../store_place.ts";

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
      ...schemaItems(report),
      environmentItem(report),
      ...keyItems(report),
      ...backendItems(report),
      ...await machineItems(host),
      ...await storeItems(host, invocation),
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

function configItem({ layer, path, active, problem, schema }: ConfigReport): Item {
  const name = `config ${path ?? "-"} · layer=${layer} · active=${active ?? "-"}`;
  if (problem === undefined) return { name, status: "ok" };
  const count = schema?.problems.length ?? 0;
  const message = count === 0
    ? problem.message
    : `Cannot use config "${path}": ${count} ${count === 1 ? "problem" : "problems"}, see "schema"`;
  return { name, status: "error", errors: [message] };
}

function schemaItems({ path, schema }: ConfigReport): Item[] {
  if (path === undefined || schema === undefined) return [];
  const { problems, findings } = schema;
  const count = problems.length + findings.length;
  const name = `schema ${path} · ${count} ${count === 1 ? "finding" : "findings"}`;
  const status = problems.length > 0 ? "error" : findings.length > 0 ? "warning" : "ok";
  return [{ name, status, errors: problems, warnings: findings }];
}

function environmentItem({ envFiles, environment }: ConfigReport): Item {
  const name = `env files=${envFiles.length === 0 ? "-" : envFiles.join(", ")}`;
  return environment.length === 0
    ? { name, status: "ok" }
    : { name, status: "warning", warnings: environment };
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

async function machineItems(host: Host): Promise<Item[]> {
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
}

async function storeItems(host: Host, invocation: Invocation): Promise<Item[]> {
  const place = storePlace(invocation);
  if (place === undefined) return [];
  // A place may hold a password; its scheme is enough to know it by.
  const name = `store ${place.location.slice(0, Math.max(0, place.location.indexOf(":")))}`;
  const none = await missingStore(place, invocation);
  if (none !== undefined) return [{ name, status: "warning", warnings: [none] }];
  try {
    const { suspended, running, finished } = await (await host.store()).counts();
    const counts = `suspended=${suspended} · running=${running} · finished=${finished}`;
    return [{ name: `${name} · ${counts}`, status: "ok" }];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ name, status: "error", errors: [message] }];
  }
}

function directoryItems({ directories }: ConfigReport): Item[] {
  return Object.entries(directories).map(([what, path]) => ({
    name: `directory ${what} · ${path ?? "-"}`,
    status: "ok",
  }));
}
