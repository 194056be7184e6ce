import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { loadReader } from "../../src/machine/load_reader.ts";
import {
  checkMachine,
  estimateRun,
  examineMachine,
  libraryRegistry,
  lintMachine,
  type Machine,
} from "../../src/machine/mod.ts";
import { anyDocument } from "./arbitrary_documents.ts";
import { machineText, state } from "./machines.ts";

const { parseMachine } = await loadReader();
const registry = await libraryRegistry();
const sources = registry.names().map((name) => registry.get(name)?.source ?? "");

/** Pieces of which broken documents are made. */
const piece = fc.oneof(
  fc.constantFrom(
    ..."{}[]:,-?&*#|>'\"%@`!~\n\t \r\ufeff\0",
    "{{",
    "}}",
    "- ",
    ": ",
    " #",
    "<<: ",
    "&a ",
    "*a",
    "!!str ",
    "---\n",
    "...\n",
    "__proto__",
    "  ",
    "010",
    "yes",
    "1e999",
    "99999999999999999999",
    "null",
  ),
  fc.string({ maxLength: 4, unit: "grapheme" }),
);

/** A standard machine with some pieces put in place of some of its text. */
const mutated = fc.tuple(
  fc.constantFrom(...sources),
  fc.array(fc.tuple(fc.nat(), fc.nat(12), piece), { minLength: 1, maxLength: 6 }),
).map(([source, edits]) =>
  edits.reduce((text, [at, length, piece]) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + piece + text.slice(start + length);
  }, source)
);

function examine(text: string): void {
  for (const grammar of ["enforced", "lenient"] as const) {
    const read = parseMachine(text, { grammar });
    const errors = read.diagnostics.filter(({ severity }) => severity === "error");
    assertEquals(read.machine === undefined, errors.length > 0);
    for (const { position, excerpt, message } of read.diagnostics) {
      assert(message.length > 0);
      if (position === undefined) continue;
      assert(position.line >= 1 && position.column >= 1);
      assert(excerpt !== undefined && Array.from(excerpt).length <= 200);
      assert(!excerpt.includes("\n"));
    }
    examineMachine(read, { registry });
    if (read.machine !== undefined) judge(read.machine);
  }
}

function judge(machine: Machine): void {
  checkMachine(machine, { registry, strict: true });
  lintMachine(machine, { registry });
  estimateRun(machine, { registry });
}

Deno.test("parseMachine() survives standard machines with damage, and is right about errors", () => {
  fc.assert(fc.property(mutated, examine), { numRuns: 600, seed: 11 });
});

Deno.test("parseMachine() survives texts of YAML's own marks", () => {
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
  fc.assert(fc.property(text, examine), { numRuns: 1_500, seed: 11 });
});

Deno.test("check, lint and estimate end for any document, written as JSON", () => {
  fc.assert(
    fc.property(anyDocument, (document) => examine(JSON.stringify(document))),
    { numRuns: 1_000, seed: 11 },
  );
});

Deno.test("parseMachine() leaves every prototype alone", () => {
  const names = Object.getOwnPropertyNames(Object.prototype).length;
  const keys = fc.constantFrom("__proto__", "constructor", "prototype", "toString", "a");
  const value = fc.letrec((tie) => ({
    node: fc.oneof({ maxDepth: 4 }, fc.constant("1"), tie("map")),
    map: fc.dictionary(keys, tie("node"), { maxKeys: 3 }),
  })).node;
  fc.assert(
    fc.property(value, (tree) => {
      examine(`c: ${JSON.stringify(tree)}\n<<: ${JSON.stringify(tree)}`);
      assertEquals(Object.getOwnPropertyNames(Object.prototype).length, names);
    }),
    { numRuns: 200, seed: 11 },
  );
});

Deno.test("parseMachine() reads any text that is quoted as JSON back exactly", () => {
  const text = fc.string({ unit: "binary", maxLength: 60 }).filter((text) =>
    text.isWellFormed() && !/[\x7f-\x9f\ufeff\u2028\u2029]/.test(text)
  );
  fc.assert(
    fc.property(text, (prompt) => {
      const line = `  a: { prompt: ${JSON.stringify(prompt)}, structure: s, output: o, gates: [` +
        "{ when: otherwise, then: ok, to: END }] }";
      const a = parseMachine(machineText(line)).machine?.states.get("a");
      assertEquals(a?.kind === "generative" ? a.prompt : undefined, prompt);
    }),
    { numRuns: 500, seed: 11 },
  );
});

Deno.test("parseMachine(), check and lint read 1,000 states, and find what is wrong with the last", () => {
  const ids = Array.from({ length: 1_000 }, (_, index) => `s${index}`);
  const states = ids.map((id, index) =>
    state(id, `{ when: x, then: ok, to: s${index + 1} }, { when: otherwise, fail: true }`)
  );
  const { machine } = parseMachine(machineText(states.join("\n"), "entry: s0\nbudget: 5000"));
  assert(machine !== undefined);
  assertEquals(checkMachine(machine).map(({ code }) => code), ["unknown-state", "no-path-to-end"]);
  lintMachine(machine);
  estimateRun(machine);
});
