/** Starts the program as a person would, in an empty folder, offline. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const program = new URL("../../mcp.ts", import.meta.url).pathname;
const config = new URL("../../deno.json", import.meta.url).pathname;

async function kit(cwd: string, args: string[]): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      `--config=${config}`,
      "--allow-read",
      "--allow-write",
      "--allow-env",
      program,
      ...args,
    ],
    cwd,
    clearEnv: true,
    env: {
      HOME: cwd,
      PATH: Deno.env.get("PATH") ?? "",
      DENO_DIR: Deno.env.get("DENO_DIR") ?? defaultCache(),
    },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** The cache of this process: a program with another HOME would start with an empty one. */
function defaultCache(): string {
  const home = Deno.env.get("HOME") ?? "";
  return `${Deno.env.get("XDG_CACHE_HOME") ?? `${home}/.cache`}/deno`;
}

async function inEmptyFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a new user gets from an empty folder to a resumed run, offline", async () => {
  await inEmptyFolder(async (folder) => {
    const init = await kit(folder, ["init"]);
    assertEquals([init.code, init.stderr], [0, ""]);

    const check = await kit(folder, ["check", "machines/hello.mk"]);
    assertEquals(check.code, 0, check.stdout);
    assertStringIncludes(check.stdout, "OK machines/hello.mk\n");

    const lint = await kit(folder, ["lint", "--strict", "machines/hello.mk"]);
    assertEquals(lint.code, 0, lint.stdout);

    const test = await kit(folder, ["test", "machines/hello.mk", "--coverage"]);
    assertEquals(test.code, 0, test.stdout);
    assertStringIncludes(test.stdout, "passed=5 · failed=0");
    assertStringIncludes(test.stdout, "coverage of hello: 2 of 2 states, 5 of 5 gates");

    const done = await kit(folder, [
      ..."run machines/hello.mk --provider scripted --set name=Ann --format text".split(" "),
    ]);
    assertEquals(done.code, 0, done.stderr);
    assertStringIncludes(done.stdout, "path: greet → END");

    const waiting = await kit(folder, [
      ..."run machines/hello.mk --provider scripted --set review=yes --hitl --checkpoint wait.json"
        .split(" "),
    ]);
    assertEquals(waiting.code, 3, waiting.stderr);
    const object = JSON.parse(waiting.stdout);
    assertEquals([object.status, object.error, object.at], ["suspended", "escalated", "rewrite"]);
    assert(object.checkpoint.endsWith("wait.json"), object.checkpoint);
    if (Deno.build.os !== "windows") {
      const { mode } = await Deno.stat(`${folder}/wait.json`);
      assertEquals((mode ?? 0) & 0o777, 0o600);
    }

    const resumed = await kit(folder, [
      ..."resume wait.json --provider scripted --set human.reply=warmer".split(" "),
    ]);
    assertEquals(resumed.code, 0, resumed.stderr);
    assertEquals(JSON.parse(resumed.stdout).status, "done");
  });
});

Deno.test("kit without a provider says how to set one and ends with 4", async () => {
  await inEmptyFolder(async (folder) => {
    const { code, stdout } = await kit(folder, ["run", "std_cot"]);
    assertEquals(code, 4, stdout);
    const object = JSON.parse(stdout);
    assertEquals([object.status, object.error], ["error", "prepare-failed"]);
    assertStringIncludes(object.errors[0], "EXECUTIONKIT_BASE_URL");
  });
});

Deno.test("kit demo shows every part and ends with 0", async () => {
  await inEmptyFolder(async (folder) => {
    const { code, stdout, stderr } = await kit(folder, ["demo"]);
    assertEquals([code, stderr], [0, ""]);
    for (const part of ["server/discover", "consensus", "react_loop", "suspended", "initialize"]) {
      assertStringIncludes(stdout, part);
    }
  });
});

Deno.test("mod.ts serves MCP where it is run, and is the library where it is imported", async () => {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--allow-net",
      "--allow-env",
      "--allow-read",
      "--allow-write",
      "mod.ts",
    ],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = process.stdin.getWriter();
  const ping = { jsonrpc: "2.0", id: 7, method: "ping" };
  await writer.write(new TextEncoder().encode(`${JSON.stringify(ping)}\n`));
  await writer.close();
  const { code, stdout } = await process.output();
  assertEquals(code, 0);
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), { jsonrpc: "2.0", id: 7, result: {} });
  const { consensus } = await import("../../mod.ts");
  assertEquals(typeof consensus, "function");
});

const simple: [args: string[], code: number, part: string][] = [
  [["--version"], 0, "kit "],
  [["--help"], 0, "Commands"],
  [["help", "run"], 0, "Usage: kit run MACHINE"],
  [["completions", "fish"], 0, "complete -c kit"],
  [["machines"], 0, "std_refine"],
];
for (const [args, wanted, part] of simple) {
  Deno.test(`kit ${args.join(" ")} ends with ${wanted}`, async () => {
    await inEmptyFolder(async (folder) => {
      const { code, stdout } = await kit(folder, args);
      assertEquals(code, wanted);
      assertStringIncludes(stdout, part);
    });
  });
}

Deno.test("kit with an unknown word ends with 2 and leaves the standard output empty", async () => {
  await inEmptyFolder(async (folder) => {
    const { code, stdout, stderr } = await kit(folder, ["rnu", "x"]);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, 'did you mean "run"?');
  });
});

for (const shell of ["bash", "zsh", "fish"]) {
  const ignore = !(await installed(shell));
  Deno.test({
    name: `${shell} accepts its completions`,
    ignore,
    fn: async () => {
      await inEmptyFolder(async (folder) => {
        const { stdout } = await kit(folder, ["completions", shell]);
        await Deno.writeTextFile(`${folder}/script`, stdout);
        const { success, stderr } = await new Deno.Command(shell, {
          args: ["-n", `${folder}/script`],
        }).output();
        assert(success, new TextDecoder().decode(stderr));
      });
    },
  });
}

async function installed(program: string): Promise<boolean> {
  try {
    return (await new Deno.Command(program, { args: ["--version"] }).output()).success;
  } catch {
    return false;
  }
}
