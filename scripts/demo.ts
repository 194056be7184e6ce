// deno-lint-ignore-file no-console -- a chore prints
/**
 * Shows Kit at work, offline: starts the server as a child process and speaks to it as a host would.
 *
 * @module
 */
import { demonstrate } from "../src/cli/mod.ts";
import type { PairedServer } from "../src/cli/mod.ts";

const SERVER_ARGS = [
  "run",
  "--allow-read",
  "--allow-env",
  "--allow-write",
  "mcp.ts",
  "mcp",
  "--provider",
  "scripted",
];

const color = Deno.stdout.isTerminal() && !Deno.noColor;

try {
  await demonstrate(spawnServer(), {
    say: (line) => console.log(line),
    bold: (text) => color ? `\x1b[1m${text}\x1b[22m` : text,
    monotonic: () => performance.now(),
  });
} catch (error) {
  console.error(`The demo failed: ${error instanceof Error ? error.message : error}`);
  Deno.exit(1);
}

function spawnServer(): PairedServer {
  const process = new Deno.Command(Deno.execPath(), {
    args: SERVER_ARGS,
    cwd: new URL("../", import.meta.url),
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  console.log(`Started a server: deno ${SERVER_ARGS.join(" ")}  (pid ${process.pid})\n`);
  const writer = process.stdin.getWriter();
  const encoder = new TextEncoder();
  return {
    send: (line) => writer.write(encoder.encode(`${line}\n`)),
    lines: linesOf(process.stdout),
    async close() {
      await writer.close();
      const { code } = await process.status;
      if (code !== 0) throw new Error(`the server ended with exit code ${code}`);
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
