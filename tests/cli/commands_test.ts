import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { HELLO_MACHINE } from "../../src/cli/init_files.ts";
import { cli, type CliOutcome } from "./harness.ts";
import { MemoryFiles } from "./memory_files.ts";

const BAD = `mklang: "0.4"
machine: bad
entry: a
budget: 1
states:
  a:
    structure: s
    prompt: "{{nope}} {{item}}"
    output: o
    gates:
      - { when: good, then: ok, to: b }
      - { when: otherwise, then: ok, to: END }
`;

const LIMITED = `machine: limited
entry: a
budget: 2
states:
  a: { structure: s, prompt: go, output: o, gates: [{ when: more, then: ok, to: a }, { when: otherwise, then: ok, to: END }] }
`;

async function project(): Promise<MemoryFiles> {
  const files = new MemoryFiles({ "hello.mk": HELLO_MACHINE, "limited.mk": LIMITED });
  // Kept apart: every machine sees its siblings.
  files.put("bad/bad.mk", BAD);
  files.put("broken/broken.mk", "machine: [");
  return await Promise.resolve(files);
}

async function kit(line: string, files?: MemoryFiles): Promise<CliOutcome> {
  return await cli(line.split(" "), { files: files ?? await project() });
}

Deno.test("kit check shows a finding with its code, place, line, mark and advice", async () => {
  const { code, stdout } = await kit("check bad/bad.mk");
  assertEquals(code, 1);
  assertStringIncludes(
    stdout,
    `ERROR bad/bad.mk
  error: a: gate -> unknown state 'b' [unknown-state] at bad/bad.mk:11:37
    11 |       - { when: good, then: ok, to: b }
                                             ^
`,
  );
  assertStringIncludes(
    stdout,
    `  warning: budget 1 leaves little headroom above the 1-step shortest path to END [budget-headroom] at bad/bad.mk:4:9
    4 | budget: 1
                ^
    Write at least budget: 3
`,
  );
  assert(stdout.endsWith("files=1\n"));
});

Deno.test("kit check tells the most that a run can cost", async () => {
  const { code, stdout, stderr } = await kit("check hello.mk");
  assertEquals([code, stderr], [0, ""]);
  assertEquals(
    stdout,
    "OK hello.mk\n  a run makes at most 5 model calls, 12,416 completion tokens\nfiles=1\n",
  );
});

Deno.test("kit check --format json prints the object of the tool for one file", async () => {
  const object = JSON.parse((await kit("check --format json bad/bad.mk")).stdout);
  assert(object.ok === false);
  assertEquals(object.errors.length, 1);
  assertStringIncludes(object.errors[0], "a: gate -> unknown state 'b' (line 11, column 37)");
  assertEquals(Object.keys(object).slice(0, 4), ["ok", "errors", "warnings", "lint"]);
});

Deno.test("kit check --format json prints an envelope for several files", async () => {
  const { code, stdout } = await kit("check --format json hello.mk bad/bad.mk gone.mk");
  const { command, ok, items, diagnostics, summary } = JSON.parse(stdout);
  assertEquals([code, command, ok, summary], [1, "check", false, { files: 3 }]);
  assertEquals(diagnostics[0], {
    severity: "error",
    message: "a: gate -> unknown state 'b'",
    code: "unknown-state",
    path: "bad/bad.mk",
    hint: "Write END or one of the states: a",
    line: 11,
    column: 37,
  });
  assertEquals(diagnostics.at(-1).path, "gone.mk");
  assertEquals(diagnostics.at(-1).code, "load");
  assertEquals(items.map(({ path, status }: Record<string, string>) => [path, status]), [
    ["hello.mk", "ok"],
    ["bad/bad.mk", "error"],
    ["gone.mk", "error"],
  ]);
});

Deno.test("kit check names what it cannot read, and goes on with the rest", async () => {
  const { code, stdout } = await kit("check broken/broken.mk gone.mk hello.mk");
  assertEquals(code, 1);
  assertStringIncludes(stdout, "[unclosed-bracket] at broken/broken.mk:1:11");
  assertStringIncludes(stdout, "no such file or bundled machine: 'gone.mk'");
  assertStringIncludes(stdout, "OK hello.mk");
});

Deno.test("kit check takes the name of a bundled machine", async () => {
  assertStringIncludes((await kit("check std_refine")).stdout, "OK std_refine\n");
});

Deno.test("kit check --format github prints annotations alone", async () => {
  const { code, stdout } = await kit("check --format github bad/bad.mk");
  assertEquals(code, 1);
  const lines = stdout.trim().split("\n");
  assertStringIncludes(
    lines[0] ?? "",
    "::error file=bad/bad.mk,line=11,col=37,title=unknown-state::a: gate -> unknown state 'b'",
  );
  assert(lines.every((line) => /^::(error|warning|notice) /.test(line)));
});

Deno.test("kit lint --format json says of each finding once where it is", async () => {
  const { diagnostics } = JSON.parse((await kit("lint --format json bad/bad.mk")).stdout);
  const places = diagnostics.map(({ code, path, line }: Record<string, unknown>) =>
    `${code} ${path}:${line}`
  );
  assert(places.includes("unresolved-root bad/bad.mk:8"), places.join("\n"));
  assertEquals(new Set(places).size, places.length);
});

Deno.test("kit lint says once what check and lint both find", async () => {
  const { stdout } = await kit("lint bad/bad.mk");
  assertEquals(stdout.match(/provides 'nope'/g)?.length, 1);
  assertStringIncludes(stdout, "  lint: a: no context key or state output provides 'nope'");
  assertStringIncludes(stdout, "findings=2");
});

const lints: [line: string, code: number][] = [
  ["lint hello.mk", 0],
  ["lint --strict hello.mk", 0],
  ["lint limited.mk", 0],
  ["lint --strict bad/bad.mk", 1],
  ["lint bad/bad.mk", 1],
];
for (const [line, code] of lints) {
  Deno.test(`kit ${line} ends with ${code}`, async () => {
    assertEquals((await kit(line)).code, code);
  });
}

Deno.test("kit lint --strict fails for a finding that kit lint only shows", async () => {
  const files = new MemoryFiles({
    "dead.mk": LIMITED.replace(
      "{ when: otherwise, then: ok, to: END }",
      "{ when: otherwise, then: ok, to: END }, { when: late, fail: true }",
    ),
  });
  assertEquals((await kit("lint dead.mk", files)).code, 0);
  assertEquals((await kit("lint --strict dead.mk", files)).code, 1);
});

Deno.test("kit lint --llm without a model ends with 4", async () => {
  const { code, stderr } = await kit("lint --llm hello.mk");
  assertEquals(code, 4);
  assertStringIncludes(stderr, "EXECUTIONKIT_BASE_URL");
});

Deno.test("kit run shows status, path, spending and the result", async () => {
  const { code, stdout, stderr } = await kit("run hello.mk --provider scripted --format text");
  assertEquals(code, 0);
  const lines = stdout.split("\n");
  assertEquals(lines[0], "done · hello.mk · scripted");
  assertEquals(lines[1], "path: greet → END");
  assert(/^[\d,]+ tokens \([\d,]+ in, [\d,]+ out\) · 1 step$/.test(lines[2] ?? ""), lines[2]);
  assertEquals(lines[3], "");
  assertStringIncludes(stderr, "# warning: the provider is scripted: no model was asked\n");
});

Deno.test("kit run prints JSON where its output is piped, text on a terminal", async () => {
  const files = await project();
  const args = "run hello.mk --provider scripted".split(" ");
  assertEquals(JSON.parse((await cli(args, { files })).stdout).status, "done");
  const shown = await cli(args, { files, terminal: "both" });
  assertStringIncludes(shown.stdout, "path: greet → END");
});

Deno.test("kit run shows its progress on a terminal and takes it away at the end", async () => {
  const args = "run hello.mk --provider scripted".split(" ");
  const { stderr } = await cli(args, { files: await project(), terminal: "both" });
  const last = stderr.lastIndexOf("\r\x1b[2K");
  assert(last >= 0);
  assert(!stderr.slice(last + 5).includes("state greet"), stderr);
});

Deno.test("kit run --set overlays the context", async () => {
  const { stdout } = await kit("run hello.mk --provider scripted --set name=Ann");
  assertStringIncludes(JSON.parse(stdout).result, "Ann");
});

const halts: [line: string, code: number, error: string][] = [
  ["run limited.mk --provider scripted", 5, "budget-exhausted"],
  ["run hello.mk --provider scripted --max-tokens 1", 5, "cost-exhausted"],
  ["run limited.mk --provider scripted --checkpoint c.json", 3, "budget-exhausted"],
  ["run hello.mk --provider scripted --set review=yes --hitl", 3, "escalated"],
  ["run gone.mk --provider scripted", 2, "prepare-failed"],
  ["run bad/bad.mk --provider scripted", 2, "prepare-failed"],
  ["run hello.mk", 4, "prepare-failed"],
  ["resume gone.json --provider scripted", 2, "unknown-checkpoint"],
  ["machines gone", 2, "unknown-machine"],
];
for (const [line, code, error] of halts) {
  Deno.test(`kit ${line} ends with ${code} and ${error}`, async () => {
    const outcome = await kit(line);
    assertEquals([outcome.code, JSON.parse(outcome.stdout).error], [code, error]);
  });
}

Deno.test("kit run prints problems on the standard error as text, each with the machine's name", async () => {
  const { stdout, stderr } = await kit("run bad/bad.mk --provider scripted --format text");
  assertEquals(stdout, "");
  assertStringIncludes(stderr, "bad/bad.mk: error: a: gate -> unknown state 'b'");
});

const nextSteps: [line: string, step: string][] = [
  [
    "run hello.mk --set review=yes --hitl --checkpoint w.json",
    "kit resume w.json --set human.reply=YOUR-REPLY",
  ],
  [
    "run hello.mk --max-tokens 1 --checkpoint w.json",
    "kit resume w.json --max-tokens MORE-IN-TOTAL",
  ],
  [
    "run limited.mk --checkpoint w.json",
    "a larger budget in the machine, then kit resume w.json --force",
  ],
];
for (const [line, step] of nextSteps) {
  Deno.test(`kit ${line} says how to go on`, async () => {
    const { stdout } = await kit(`${line} --provider scripted --format text`);
    assertStringIncludes(stdout, `go on with: ${step}\n`);
  });
}

Deno.test("kit resume goes on where the run stands, and spends the checkpoint", async () => {
  const files = await project();
  await kit("run hello.mk --provider scripted --set review=yes --hitl --checkpoint w.json", files);
  const line = "resume w.json --provider scripted --set human.reply=warmer";
  const { code, stdout } = await kit(line, files);
  const object = JSON.parse(stdout);
  assertEquals([code, object.status, object.reply_via], [0, "done", "cli"]);
  assertEquals(object.trace.map(({ state }: Record<string, string>) => state), [
    "greet",
    "rewrite",
  ]);
});

Deno.test("kit resume refuses a machine that has changed, and takes it with --force", async () => {
  const files = await project();
  await kit("run hello.mk --provider scripted --set review=yes --hitl --checkpoint w.json", files);
  files.put("hello.mk", HELLO_MACHINE.replace("budget: 6", "budget: 7"));
  const line = "resume w.json --provider scripted --set human.reply=warmer";
  const refused = await kit(line, files);
  assertEquals([refused.code, JSON.parse(refused.stdout).error], [2, "machine-changed"]);
  assertEquals((await kit(`${line} --force`, files)).code, 0);
});

Deno.test("kit resume takes a machine of which only a comment has changed", async () => {
  const files = await project();
  await kit("run hello.mk --provider scripted --set review=yes --hitl --checkpoint w.json", files);
  files.put("hello.mk", `${HELLO_MACHINE}# a comment\n`);
  assertEquals((await kit("resume w.json --provider scripted --set human.reply=x", files)).code, 0);
});

const SCENARIOS = `scenarios:
  - name: passes
    llm: { produce: [x], judge: [0] }
    expect: { status: done }
  - name: fails
    llm: { produce: [x], judge: [0] }
    expect: { status: halt, result: y }
  - expect: { status: done }
`;

Deno.test("kit test takes no machine beside --cases, whose cases have their own", async () => {
  const { code, stderr } = await kit("test hello.mk --cases cases");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "MACHINE and --cases exclude each other");
});

Deno.test("kit test shows each scenario, its mismatches and the counts", async () => {
  const files = await project();
  files.put("s.yaml", SCENARIOS);
  const { code, stdout } = await kit("test hello.mk --script s.yaml", files);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "PASS passes\nFAIL fails\n");
  assertStringIncludes(stdout, "  mismatch: status: expected 'halt', got 'done'\n");
  assertStringIncludes(stdout, "scenario[2]\n");
  assert(stdout.endsWith("passed=2 · failed=1\n"));
});

Deno.test("kit test --coverage names what no scenario reached", async () => {
  const files = await project();
  files.put("hello.test.yaml", "scenarios: [{ llm: { judge: [0] }, expect: { status: done } }]");
  const { code, stdout } = await kit("test hello.mk --coverage", files);
  assertEquals(code, 0);
  assertStringIncludes(stdout, "coverage of hello: 1 of 2 states, 1 of 5 gates");
  assertStringIncludes(stdout, "  never entered: rewrite\n");
  assertStringIncludes(stdout, "  never fired: greet gate 4: otherwise\n");
});

Deno.test("kit test --cases plays every *.yaml directly in a directory", async () => {
  const files = new MemoryFiles();
  const machine = `machine:
  machine: m
  entry: a
  budget: 2
  states:
    a: { structure: s, prompt: go, output: o, gates: [{ when: otherwise, then: ok, to: END }] }
`;
  files.put("cases/good.yaml", `case: good\n${machine}expect: { status: done, result: ok }\n`);
  files.put("cases/misnamed.yaml", `case: other\n${machine}expect: { status: done }\n`);
  files.put("cases/deeper/more.yaml", "not looked at");
  files.put("cases/notes.txt", "not looked at");
  const { code, stdout } = await kit("test --cases cases", files);
  assertEquals(code, 1);
  assertStringIncludes(stdout, "PASS good\nFAIL misnamed\n");
  assert(stdout.endsWith("passed=1 · failed=1\n"));
});

Deno.test("a recording of kit run becomes a scenario that passes", async () => {
  const files = await project();
  const ran = await kit("run hello.mk --provider scripted --set name=Ann --record r.json", files);
  assertEquals(ran.code, 0);
  const made = await kit("test --from r.json", files);
  assertEquals([made.code, made.stderr], [0, ""]);
  files.put("replay.yaml", made.stdout);
  const played = await kit("test hello.mk --script replay.yaml", files);
  assertEquals(played.code, 0, played.stdout);
  assert(played.stdout.endsWith("passed=1 · failed=0\n"));
});

Deno.test("kit run --record says before the run what it cannot write", async () => {
  const files = await project();
  files.put("notes.json", '{"recording": "of a song"}');
  files.put("folder/x", "");
  const refused: [file: string, message: string][] = [
    ["gone/r.json", '--record cannot be written: No such file or directory: "gone/r.json"'],
    ["folder", '--record writes over a recording alone, and "folder" is none'],
    ["notes.json", '--record writes over a recording alone, and "notes.json" is none'],
    ["hello.mk", '--record writes over a recording alone, and "hello.mk" is none'],
  ];
  for (const [file, message] of refused) {
    const before = new Map(files.texts);
    const ended = await kit(`run hello.mk --provider scripted --record ${file}`, files);
    assertEquals([ended.code, ended.stdout], [2, ""], file);
    assertStringIncludes(ended.stderr, message);
    assertEquals(files.texts, before);
  }
});

Deno.test("kit run --record writes over an older recording, and leaves nothing else behind", async () => {
  const files = await project();
  const names = [...files.texts.keys(), "/project/r.json"].toSorted();
  for (const name of ["Ann", "Bob"]) {
    const line = `run hello.mk --provider scripted --set name=${name} --record r.json`;
    assertEquals((await kit(line, files)).code, 0);
    assertStringIncludes(files.text("r.json") ?? "", name);
  }
  assertEquals([...files.texts.keys()].toSorted(), names);
});

const lateFailures: [flags: string, code: number, status: string][] = [
  ["", 2, "done"],
  ["--max-tokens 1", 5, "halt"],
];
for (const [flags, code, status] of lateFailures) {
  Deno.test(`kit run --record prints a run that is ${status} where the file fails later, with ${code}`, async () => {
    const files = await project();
    files.failing = "r.json";
    const line = `run hello.mk --provider scripted --record r.json ${flags}`.trim();
    const ended = await kit(line, files);
    assertEquals([ended.code, JSON.parse(ended.stdout).status], [code, status]);
    assertStringIncludes(ended.stderr, "error: The recording could not be written: ");
  });
}

Deno.test("kit run ends with 2 for a script that cannot be loaded, and says where it is wrong", async () => {
  const files = await project();
  files.put("b.yaml", "a: [\n");
  const broken = await kit("run hello.mk --provider scripted --script b.yaml", files);
  assertEquals(broken.code, 2);
  assertStringIncludes(broken.stdout, "is not closed here (line 2, column 1)");
  const gone = await kit("run hello.mk --provider scripted --script gone.yaml", files);
  assertEquals(gone.code, 2);
  assertStringIncludes(gone.stdout, "there is no such file");
  const lint = await kit("lint --llm hello.mk --provider scripted --script b.yaml", files);
  assertEquals(lint.code, 2);
});

const testErrors: [line: string, message: string][] = [
  ["test", "kit test needs MACHINE, --cases DIR or --from FILE"],
  ["test hello.mk --script a --cases b", "--script and --cases exclude each other"],
  ["test hello.mk --script gone.yaml", 'No such file or directory: "gone.yaml"'],
  ["test hello.mk --script hello.mk", 'Cannot use "hello.mk": A scenario file is a mapping'],
  ["test bad.yaml --script hello.mk", '"bad.yaml" cannot be loaded'],
  ["test --cases .", 'No *.yaml lies directly in "."'],
  ["test --from hello.mk", '"hello.mk" is no recording of kit run --record'],
];
for (const [line, message] of testErrors) {
  Deno.test(`kit ${line} ends with 2`, async () => {
    const { code, stderr } = await kit(line);
    assertEquals(code, 2);
    assertStringIncludes(stderr, message);
  });
}

Deno.test("kit machines lists the bundled machines in a table, and those of --dir", async () => {
  const { code, stdout } = await kit("machines --dir . --format text");
  assertEquals(code, 0);
  const rows = stdout.split("\n");
  assert(/^Name +Source +Entry +Result +Budget +Context$/.test(rows[0] ?? ""), rows[0]);
  assertEquals(rows.filter((row) => row.includes(" stdlib ")).length, 10);
  assert(rows.some((row) => /^hello +local +greet +greeting +6 +name, review$/.test(row)));
});

for (const [what, path] of [["nothing", "gone"], ["a file", "hello.mk"]]) {
  Deno.test(`kit machines --dir ends with 2 where ${what} is there`, async () => {
    const { code, stdout, stderr } = await kit(`machines --dir ${path}`);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, `--dir needs a directory, and "${path}" is none`);
  });
}

Deno.test("kit check of a directory names the files in it", async () => {
  const { code, stdout } = await kit("check bad");
  assertEquals(code, 1);
  assertStringIncludes(stdout, "'bad' is a directory: name the files in it: bad/bad.mk");
});

Deno.test("kit machines NAME describes one", async () => {
  const { stdout } = await kit("machines std_cot --format text");
  assertStringIncludes(stdout, "std_cot (stdlib): starts at solve");
});

Deno.test("W64 kit doctor names what is missing, asks no endpoint and ends with 1", async () => {
  const { code, stdout } = await kit("doctor --format json");
  const { ok, items } = JSON.parse(stdout);
  assertEquals([code, ok], [1, false]);
  assertEquals(items[0].status, "error");
  assertStringIncludes(items[0].errors[0], "EXECUTIONKIT_MODEL");
});

Deno.test("kit doctor ends with 0 where a model can be asked, and shows no key", async () => {
  const { code, stdout } = await cli(["doctor"], {
    variables: {
      EXECUTIONKIT_BASE_URL: "https://example.com/v1",
      EXECUTIONKIT_MODEL: "m",
      EXECUTIONKIT_API_KEY: "sk-very-secret",
    },
  });
  assertEquals(code, 0, stdout);
  assertStringIncludes(stdout, "https://example.com/v1");
  assert(!stdout.includes("secret"));
});

Deno.test("kit demo without a server says that the library has none", async () => {
  const { code, stderr } = await kit("demo");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "kit demo needs the whole program");
});
