/**
 * Stands between a client and a server and writes down every line that passes, with its time:
 * `deno run -A tap.ts LOG COMMAND ARG…`. Each line of the log is one JSON object.
 *
 * @module
 */

const [log = "", program = "", ...args] = Deno.args;
const file = Deno.openSync(`${log}.${Deno.pid}.jsonl`, { create: true, write: true, append: true });
const encoder = new TextEncoder();

function note(event: string, data: Readonly<Record<string, unknown>> = {}): void {
  file.writeSync(encoder.encode(`${JSON.stringify({ at: performance.now(), event, ...data })}\n`));
}

async function relay(
  from: ReadableStream<Uint8Array>,
  to: WritableStream<Uint8Array>,
  event: string,
): Promise<void> {
  const decoder = new TextDecoder();
  const writer = to.getWriter();
  let rest = "";
  for await (const chunk of from) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) note(event, { line });
    await writer.write(chunk).catch(() => {});
  }
  if (rest !== "") note(event, { line: rest, unfinished: true });
  note(`${event}-end`);
  await writer.close().catch(() => {});
}

note("start", { command: [program, ...args] });
const child = new Deno.Command(program, {
  args,
  stdin: "piped",
  stdout: "piped",
  stderr: "inherit",
}).spawn();
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  Deno.addSignalListener(signal, () => {
    note("signal", { signal });
    child.kill(signal);
  });
}
const output = relay(child.stdout, Deno.stdout.writable, "out");
relay(Deno.stdin.readable, child.stdin, "in").catch(() => {});
const status = await child.status;
await output.catch(() => {});
note("exit", { code: status.code, signal: status.signal });
Deno.exit(status.code);
