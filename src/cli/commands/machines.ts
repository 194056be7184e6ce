/**
 * `kit machines`.
 *
 * @module
 */
import { isJsonObject, type JsonObject, member } from "../../json/mod.ts";
import type { Invocation } from "../command.ts";
import { EXIT } from "../exit_codes.ts";
import { needDirectory, openHost, optional } from "../open_host.ts";
import { printable, table } from "../output.ts";
import { printRun, textOf, textsOf } from "../run_output.ts";

const HEAD = ["Name", "Source", "Entry", "Result", "Budget", "Context"];

/**
 * Lists the machines that have names, or describes one.
 *
 * @param invocation What was asked.
 * @returns The exit code.
 */
export async function run(invocation: Invocation): Promise<number> {
  const { args, format, out } = invocation;
  await needDirectory(invocation, "dir");
  const host = openHost(invocation);
  const name = args.positionals[0];
  try {
    const emitted = name === undefined
      ? await host.listMachines(optional("directory", args.value("dir")))
      : await host.describeMachine(name);
    if (emitted.isError) return await printRun(emitted, invocation, name ?? "machines");
    if (format === "json") await out.json(emitted.object);
    else if (name === undefined) {
      for (const line of table(rows(emitted.object))) await out.line(printable(line));
    } else await out.line(printable(emitted.text));
    return EXIT.ok;
  } finally {
    await host.close();
  }
}

function rows(object: JsonObject): string[][] {
  const machines = member(object, "machines");
  const found = Array.isArray(machines) ? machines.filter(isJsonObject) : [];
  return [
    HEAD,
    ...found.map((machine) => [
      textOf(machine, "name"),
      textOf(machine, "source"),
      textOf(machine, "entry"),
      textOf(machine, "result") || "-",
      String(member(machine, "budget") ?? "-"),
      textsOf(machine, "context_keys").join(", ") || "-",
    ]),
  ];
}
