import { assert, assertEquals } from "@std/assert";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/json/mod.ts";
import {
  createRecorder,
  decodeCheckpoint,
  decodeFrames,
  encodeCheckpoint,
  type Frame,
  machineFromValue,
  resultObject,
  resumeMachine,
  runMachine,
  type RunResult,
  runScenario,
  scenarioFromRecording,
  startFrames,
} from "../../src/machine/mod.ts";
import { pureRun } from "./support/pure_answers.ts";
import { createDice, type Dice, randomCase } from "./support/random_machine.ts";
import { plain } from "./support/running.ts";

const SEEDS = Array.from({ length: 400 }, (_, seed) => seed);

/** All that a run shows: its result and its context. */
function shown(result: RunResult): JsonValue {
  return plain({ ...resultObject(result), context: result.context });
}

/** Frames as another process would get them. */
function stored(frames: readonly Frame[] | undefined): Frame[] {
  return decodeFrames(plain(frames ?? []));
}

function budgetOf(document: JsonObject): number {
  return typeof document.budget === "number" ? document.budget : 0;
}

Deno.test("runMachine() ends for any machine and any answers, within its step budget", async () => {
  for (const seed of SEEDS) {
    const one = randomCase(seed);
    const { machine, options } = pureRun(one);
    const { trace } = await runMachine(machine, options);
    const before = trace.at(-2)?.step ?? 0;
    assert(before < budgetOf(one.machine), `seed ${seed}: step ${before} and one more`);
    assert(trace.length <= budgetOf(one.machine) + 1, `seed ${seed}: ${trace.length} steps`);
  }
});

Deno.test("runMachine() ends with a result for documents that were never validated", async () => {
  const junk: readonly JsonValue[] = [null, true, -5, 1.5, "", [], {}, "x", [1], "END", 1e9];
  let ran = 0;
  for (let seed = 0; seed < 3000; seed++) {
    const dice = createDice(seed);
    const one = randomCase(seed);
    const document = JSON.parse(JSON.stringify(one.machine));
    for (let i = 0; i < 1 + dice.roll(4); i++) spoil(document, dice, junk);
    const { machine } = machineFromValue(document, { grammar: "lenient" });
    if (machine === undefined) continue;
    ran++;
    const { status } = await runMachine(machine, pureRun(one).options);
    assert(["done", "halt"].includes(status), `seed ${seed}`);
  }
  assert(ran > 1000, `${ran} ran`);
});

/** Replaces or removes a random member somewhere in a document. */
function spoil(document: unknown, dice: Dice, junk: readonly JsonValue[]): void {
  const places: [Record<string, unknown>, string][] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      const holder = value as Record<string, unknown>;
      places.push([holder, key]);
      walk(holder[key]);
    }
  };
  walk(document);
  if (places.length === 0) return;
  const [holder, key] = dice.pick(places);
  if (dice.chance(0.2)) delete holder[key];
  else holder[key] = dice.pick(junk);
}

Deno.test("runMachine() shows the same for the same machine and the same answers", async () => {
  for (const seed of SEEDS) {
    const first = pureRun(randomCase(seed));
    const second = pureRun(randomCase(seed), { maxWorkers: 1 });
    assertEquals(
      shown(await runMachine(first.machine, first.options)),
      shown(await runMachine(second.machine, second.options)),
      `seed ${seed}`,
    );
  }
});

Deno.test("resumeMachine() from any settled point ends as the uninterrupted run", async () => {
  let points = 0;
  for (const seed of SEEDS) {
    const taken: Frame[][] = [];
    const { machine, options } = pureRun(randomCase(seed));
    const whole = await runMachine(machine, {
      ...options,
      onSettled: (point) => {
        taken.push(stored(point.frames()));
      },
    });
    for (const frames of taken) {
      points++;
      assertEquals(
        shown(await resumeMachine(machine, frames, options)),
        shown(whole),
        `seed ${seed}`,
      );
    }
  }
  assert(points > 300, `${points} points`);
});

Deno.test("resumeMachine() from the start frames ends as the run itself", async () => {
  for (const seed of SEEDS) {
    const { machine, options } = pureRun(randomCase(seed));
    const frames = stored(startFrames(machine, options));
    assertEquals(
      shown(await resumeMachine(machine, frames, options)),
      shown(await runMachine(machine, options)),
      `seed ${seed}`,
    );
  }
});

Deno.test("resumeMachine() after any token budget ends as the run without one, calls in flight aside", async () => {
  let suspensions = 0;
  let halfway = 0;
  for (const seed of SEEDS) {
    const { machine, options } = pureRun(randomCase(seed));
    const whole = await runMachine(machine, options);
    const total = spent(whole);
    for (let budget = 0; budget < Math.min(total, 24); budget++) {
      const capped = await runMachine(machine, {
        ...options,
        costBudget: budget,
        suspendable: true,
      });
      if (capped.status !== "suspended" || capped.error !== "cost-exhausted") continue;
      if (JSON.stringify(capped.frames).includes("branch-error: cost-exhausted")) continue;
      suspensions++;
      const frames = stored(capped.frames);
      if (frames.some(({ pending }) => pending !== undefined)) halfway++;
      const resumed = await resumeMachine(machine, frames, { ...options, suspendable: true });
      if (resumed.status === "suspended") continue;
      assertEquals(shown(resumed), shown(whole), `seed ${seed} at ${budget} tokens`);
    }
  }
  assert(suspensions > 200, `${suspensions} suspensions`);
  assert(halfway > 50, `${halfway} of them half way through a state`);
});

Deno.test("resumeMachine() with the exhausted budget suspends again with the same frames", async () => {
  let suspensions = 0;
  for (const seed of SEEDS) {
    const { machine, options } = pureRun(randomCase(seed));
    const limits = { costBudget: 5, suspendable: true };
    const first = await runMachine(machine, { ...options, ...limits });
    if (first.error !== "cost-exhausted" || first.status !== "suspended") continue;
    suspensions++;
    const again = await resumeMachine(machine, stored(first.frames), { ...options, ...limits });
    assertEquals(again.error, "cost-exhausted", `seed ${seed}`);
    assertEquals(plain(again.frames), plain(first.frames), `seed ${seed}`);
  }
  assert(suspensions > 30, `${suspensions} suspensions`);
});

Deno.test("runMachine() dispatches nothing once its token budget is reached", async () => {
  for (const seed of SEEDS) {
    for (const costBudget of [1, 4, 9]) {
      const { machine, options } = pureRun(randomCase(seed), { costBudget, maxWorkers: 1 });
      let spentSoFar = 0;
      const { oracle } = options;
      const run = await runMachine(machine, {
        ...options,
        oracle: {
          ...oracle,
          produce(request) {
            if (request.depth === 0) assert(spentSoFar < costBudget, `seed ${seed}`);
            spentSoFar += 3;
            return oracle.produce(request);
          },
          judge(request) {
            if (request.depth === 0) assert(spentSoFar < costBudget, `seed ${seed}`);
            spentSoFar += 2;
            return oracle.judge(request);
          },
        },
      });
      assertEquals(spent(run), spentSoFar, `seed ${seed}`);
    }
  }
});

Deno.test("resumeMachine() without a reply takes the same way as a run that nobody watches", async () => {
  let suspensions = 0;
  for (const seed of SEEDS) {
    const { machine, options } = pureRun(randomCase(seed));
    const whole = await runMachine(machine, options);
    let result = await runMachine(machine, { ...options, escalateSuspend: true });
    while (result.status === "suspended") {
      suspensions++;
      const text = encodeCheckpoint({
        format: 1,
        machine: machine.name,
        machine_path: "<inline>",
        machine_sha256: null,
        frames: result.frames ?? [],
      });
      result = await resumeMachine(machine, decodeCheckpoint(text).frames, {
        ...options,
        inputs: {},
        escalateSuspend: true,
      });
    }
    assertEquals(shown(result), shown(whole), `seed ${seed}`);
  }
  assert(suspensions > 50, `${suspensions} suspensions`);
});

Deno.test("createRecorder() hears enough to repeat any run exactly", async () => {
  let exact = 0;
  let common = 0;
  for (const seed of SEEDS) {
    const { machine, options } = pureRun(randomCase(seed), { suspendable: true });
    const recorder = createRecorder(machine, options);
    const result = await runMachine(machine, recorder.options);
    const recording: JsonValue = plain(recorder.recording(result));
    const { registry } = options;
    if (registry === undefined) continue;
    const scenario = await scenarioFromRecording(recording, machine, { registry });
    const repeated = await runScenario(machine, plain(scenario), { registry });
    assertEquals(repeated.mismatches, [], `seed ${seed}`);
    const again = repeated.result === undefined ? null : plain(resultObject(repeated.result));
    assertEquals(withoutModels(again), withoutModels(plain(resultObject(result))), `seed ${seed}`);
    const { llm } = scenario;
    if (isJsonObject(llm) && "answers" in llm) exact++;
    else common++;
  }
  assert(exact > 50 && common > 50, `${exact} with places, ${common} in the common form`);
});

function spent(result: RunResult): number {
  return (result.usage?.input_tokens ?? 0) + (result.usage?.output_tokens ?? 0);
}

function withoutModels(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value).replaceAll(/"judge_model":"\w+"/g, '"judge_model":"m"'));
}
