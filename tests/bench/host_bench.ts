/**
 * What a commissioned run costs above the engine: per call, per state, per resume, for each store that needs no server.
 *
 * @module
 */
import { createHost, type Host, type HostOptions } from "../../src/host/mod.ts";
import {
  createScriptedOracle,
  loadReader,
  type Machine,
  runMachine,
} from "../../src/machine/mod.ts";
import { createPorts } from "../../src/platform/mod.ts";
import { openStore } from "../../src/stores/mod.ts";

const STATES = 500;
const ONE = `
machine: one
entry: a
budget: 3
states:
  a: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
const MANY = `
machine: many
entry: a
budget: ${STATES + 1}
states:
  a: { structure: s, prompt: p, output: o, max_visits: ${STATES}, gates: [ { when: again, then: ok, to: a }, { when: otherwise, then: ok, to: END } ] }
`;
const ASKING = `
machine: asking
entry: a
budget: 6
states:
  a: { structure: s, prompt: p, output: o, gates: [ { when: otherwise, escalate: true, to: b, ask: "Sure?" } ] }
  b: { structure: s, prompt: "then {{human.reply}}", output: o, gates: [ { when: otherwise, then: ok, to: END } ] }
`;

const ports = createPorts();
const directory = await Deno.makeTempDir();
await Deno.writeTextFile(`${directory}/s.yaml`, "produce: []\njudge: [0]\n");
const { parseMachine } = await loadReader();

function read(source: string): Machine {
  const { machine } = parseMachine(source);
  if (machine === undefined) throw new Error("the machine of the benchmark cannot be read");
  return machine;
}

function open(options: Partial<HostOptions> = {}): Host {
  return createHost({
    door: "mcp",
    ports,
    provider: "scripted",
    scriptPath: `${directory}/s.yaml`,
    ...options,
  });
}

const memory = open();
const sqlite = open({ openStore: () => openStore(`sqlite:${directory}/runs.db`, { ports }) });
const [one, many] = [read(ONE), read(MANY)];
await memory.run({ source: ONE });

Deno.bench("engine, one state", { group: "call", baseline: true }, async () => {
  await runMachine(one, { oracle: createScriptedOracle({ judge: [0] }) });
});
Deno.bench("host, one state", { group: "call" }, async () => {
  await memory.run({ source: ONE });
});
Deno.bench("host, one state, SQLite", { group: "call" }, async () => {
  await sqlite.run({ source: ONE });
});

Deno.bench(`engine, ${STATES} states`, { group: "states", baseline: true }, async () => {
  await runMachine(many, { oracle: createScriptedOracle({ judge: [0] }) });
});
Deno.bench(`host, ${STATES} states`, { group: "states" }, async () => {
  await memory.run({ source: MANY });
});

async function suspendAndResume(host: Host): Promise<void> {
  const first = await host.run({ source: ASKING, hitl: true });
  const checkpoint = String(first.object["checkpoint"]);
  await host.resume({ checkpoint, inputs: { "human.reply": "yes" } });
}

Deno.bench("suspend and resume, memory", { group: "resume", baseline: true }, async () => {
  await suspendAndResume(memory);
});
Deno.bench("suspend and resume, SQLite", { group: "resume" }, async () => {
  await suspendAndResume(sqlite);
});
