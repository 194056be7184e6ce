// deno-lint-ignore-file no-console -- a chore prints
/**
 * Runs a command beside a PostgreSQL server of its own: fresh, on a free port of the loopback, gone afterwards.
 *
 * ```sh
 * deno run -A scripts/postgres.ts deno test -A tests/io/stores
 * ```
 *
 * The command finds the server's address in `KIT_TEST_POSTGRES`. Where no server is installed, the command runs
 * without it, and the tests that need it count as ignored. The server will not run as root, so there it runs as the
 * user `postgres`, whom Debian's package makes.
 *
 * @module
 */

const START_ATTEMPTS = 100;
const START_PAUSE_MS = 100;

const [program, ...args] = Deno.args;
if (program === undefined) {
  console.error("usage: deno run -A scripts/postgres.ts COMMAND [ARGUMENT…]");
  Deno.exit(2);
}
Deno.exit(await main(program, args));

async function main(command: string, rest: readonly string[]): Promise<number> {
  const programs = await serverPrograms();
  if (programs === undefined) {
    console.error("No PostgreSQL server is installed: what needs one is skipped");
    return await run(command, rest, {});
  }
  const folder = await Deno.makeTempDir({ prefix: "kit-postgres-" });
  const port = freePort();
  const owner = asOwner();
  try {
    if (owner.length > 0) await succeed(["chown", "postgres", folder]);
    const data = `${folder}/data`;
    await succeed([...owner, `${programs}/initdb`, "-D", data, "-U", "kit", "-A", "trust", "-N"]);
    const server = new Deno.Command(owner[0] ?? `${programs}/postgres`, {
      args: [
        ...owner.slice(1),
        ...(owner.length > 0 ? [`${programs}/postgres`] : []),
        ...flags(data, folder, port),
      ],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    try {
      await listening(port);
      return await run(command, rest, {
        KIT_TEST_POSTGRES: `postgres://kit@127.0.0.1:${port}/postgres`,
      });
    } finally {
      // SIGINT is PostgreSQL's fast shutdown: sessions end, nothing is waited for.
      await stop(data, owner, programs);
      await server.status;
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function flags(data: string, sockets: string, port: number): string[] {
  const settings = [
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${sockets}`,
    "max_connections=200",
  ];
  return ["-D", data, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])];
}

async function serverPrograms(): Promise<string | undefined> {
  const found: string[] = [];
  try {
    for await (const { name } of Deno.readDir("/usr/lib/postgresql")) {
      const folder = `/usr/lib/postgresql/${name}/bin`;
      if (await exists(`${folder}/initdb`) && await exists(`${folder}/postgres`)) {
        found.push(folder);
      }
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort().at(-1);
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch {
    return false;
  }
}

function asOwner(): string[] {
  return Deno.uid() === 0
    ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    : [];
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function listening(port: number): Promise<void> {
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
    try {
      using _connection = await Deno.connect({ hostname: "127.0.0.1", port });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, START_PAUSE_MS));
    }
  }
  throw new Error(`PostgreSQL did not start within ${START_ATTEMPTS * START_PAUSE_MS / 1000} s`);
}

async function stop(data: string, owner: readonly string[], programs: string): Promise<void> {
  await succeed([...owner, `${programs}/pg_ctl`, "-D", data, "-m", "fast", "stop"]);
}

async function succeed(command: readonly string[]): Promise<void> {
  const [program = "", ...rest] = command;
  const { success, stderr } = await new Deno.Command(program, {
    args: rest,
    cwd: "/",
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`${command.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
}

async function run(
  command: string,
  rest: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  // On a machine without Deno the one that runs this is the only one there is.
  const program = command === "deno" ? Deno.execPath() : command;
  const child = new Deno.Command(program, { args: [...rest], env: { ...env } }).spawn();
  return (await child.status).code;
}
