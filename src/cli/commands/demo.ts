/**
 * `kit demo`.
 *
 * @module
 */
import { UsageError } from "../arguments.ts";
import type { Invocation } from "../command.ts";
import { demonstrate } from "../demonstration.ts";
import { EXIT } from "../exit_codes.ts";
import { printable } from "../output.ts";

/**
 * Shows a server and a client in this process, offline.
 *
 * @param invocation What was asked.
 * @returns The exit code.
 */
export async function run({ context, out }: Invocation): Promise<number> {
  if (context.openServer === undefined) {
    throw new UsageError("kit demo needs the whole program: the library carries no server");
  }
  const server = await context.openServer();
  await demonstrate(server, {
    say: (line) => out.line(printable(line)),
    bold: (text) => text,
    monotonic: () => context.ports.clock.monotonic(),
  });
  return EXIT.ok;
}
