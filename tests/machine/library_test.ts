// deno-lint-ignore-file camelcase -- names of standard machines
import { assert, assertEquals } from "@std/assert";
import {
  checkMachine,
  fingerprintMachine,
  libraryRegistry,
  lintMachine,
  loadReader,
  type Machine,
} from "../../src/machine/mod.ts";

const { parseMachine } = await loadReader();

const registry = await libraryRegistry();

/** Each state as `id kind [members] output → gates`, as the language defines the standard machines. */
const STANDARD: Readonly<Record<string, readonly [head: string, ...states: string[]]>> = {
  std_cascade: [
    "0.2 4 task",
    "draft fast answer → ok END, else escalate deliberate",
    "deliberate reasoning reason answer → else ok END",
  ],
  std_compress: [
    "0.3 4 task notes",
    "compress answer → ok END, repair 1 compress, else ok END",
  ],
  std_cot: ["0.2 3 task", "solve reason answer → else ok END"],
  std_debate: [
    "0.2 12 task personas",
    "argue fast over {{personas}} positions → else ok synthesize",
    "synthesize reasoning reason answer → ok END, repair 1 synthesize, else ok END",
  ],
  std_map_reduce: [
    "0.2 20 task items item_task reduce_task",
    "map fast over {{items}} results → else ok reduce",
    "reduce reasoning answer → ok END, repair 1 reduce, else ok END",
  ],
  std_plan_execute: [
    "0.3 16 task",
    "plan reasoning parse list steps → else ok execute",
    "execute fast over {{steps}} results → else ok combine",
    "combine reasoning answer → ok END, repair 1 combine, else ok END",
  ],
  std_refine: [
    "0.2 6 task criteria",
    "draft answer → ok END, repair 2 draft, else escalate flag_unresolved",
    "flag_unresolved answer → else ok END",
  ],
  std_research: [
    "0.3 14 task today notes",
    "plan_query fast query → else ok search",
    'search tool search {"query":"{{query}}","max_results":5} accumulate notes → else ok check',
    "check fast verdict → ok finalize, ok no_search, ok plan_query, else ok finalize",
    "no_search answer → else ok END",
    "finalize reasoning answer → ok END, repair 1 finalize, else ok END",
  ],
  std_self_consistency: [
    "0.2 12 task",
    "sample_answers fast reason sample 5 candidates → else ok vote",
    "vote reasoning answer → escalate low_confidence, else ok END",
    "low_confidence reasoning answer → else ok END",
  ],
  std_tot: [
    "0.2 10 task best",
    "propose sample 3 candidates → else ok select",
    "select reasoning reason best → ok finalize, ok propose, else ok finalize",
    "finalize reasoning answer → else ok END",
  ],
};

function outline(machine: Machine): string[] {
  const states = [...machine.states.values()].map((state) => {
    const words: (string | undefined)[] = [
      state.id,
      state.tier,
      state.kind === "tool" ? `tool ${state.tool} ${JSON.stringify(state.input)}` : undefined,
      state.kind === "generative" && state.reason ? "reason" : undefined,
      state.kind === "generative" && state.parse !== undefined ? `parse ${state.parse}` : undefined,
      state.sample === undefined ? undefined : `sample ${state.sample}`,
      state.over === undefined ? undefined : `over ${state.over}`,
      state.accumulate ? "accumulate" : undefined,
      state.output,
    ];
    const gates = state.gates.map(({ catchAll, policy, repairLimit, to }) =>
      `${catchAll ? "else " : ""}${policy}${
        repairLimit === undefined ? "" : ` ${repairLimit}`
      } ${to}`
    );
    return `${words.filter((word) => word !== undefined).join(" ")} → ${gates.join(", ")}`;
  });
  return [
    [machine.version, machine.budget, ...Object.keys(machine.context)].join(" "),
    ...states,
  ];
}

Deno.test("the library has the ten standard machines, by the names in their files", () => {
  assertEquals(registry.names(), Object.keys(STANDARD));
});

for (const [name, expected] of Object.entries(STANDARD)) {
  Deno.test(`${name} has the states and gates of the language, and its result is answer`, () => {
    const machine = registry.get(name);
    assert(machine !== undefined);
    assertEquals(outline(machine), [...expected]);
    assertEquals([machine.name, machine.result, machine.defaultTier], [name, "answer", "balanced"]);
    assertEquals(machine.entry, [...machine.states.keys()][0]);
  });

  Deno.test(`${name} passes check without a warning and lint without a structural finding`, () => {
    const machine = registry.get(name);
    assert(machine !== undefined);
    assertEquals(checkMachine(machine, { registry, strict: true }), []);
    const findings = lintMachine(machine, { registry });
    assertEquals(findings.filter(({ severity }) => severity !== "note"), []);
  });

  Deno.test(`${name} is what its text says (else run scripts/library.ts)`, async () => {
    const machine = registry.get(name);
    assert(machine !== undefined);
    const { machine: read, diagnostics } = parseMachine(machine.source);
    assertEquals(diagnostics, []);
    assert(read !== undefined);
    assertEquals(await fingerprintMachine(machine), await fingerprintMachine(read));
    assertEquals(JSON.stringify(machine.context), JSON.stringify(read.context));
    assertEquals([...machine.states.keys()], [...read.states.keys()]);
  });

  Deno.test(`${name} starts with placeholders where a caller gives nothing`, () => {
    const context = registry.get(name)?.context ?? {};
    assertEquals(context["task"], "(no task given)");
  });
}

Deno.test("std_research declares the tool that it uses", () => {
  assertEquals(registry.get("std_research")?.tools.map(({ name }) => name), ["search"]);
});
