/**
 * The standard machines, which every `call:` can reach. Their texts are part of the program, so that they are there from
 * source, from the registry of packages and in a binary alike; so are their values, so that no YAML is read for them.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import { compareCodePoints } from "./compare.ts";
import type { Machine, Registry } from "./document.ts";
import stdCascade from "./library/std_cascade.mk" with { type: "text" };
import stdCompress from "./library/std_compress.mk" with { type: "text" };
import stdCot from "./library/std_cot.mk" with { type: "text" };
import stdDebate from "./library/std_debate.mk" with { type: "text" };
import stdMapReduce from "./library/std_map_reduce.mk" with { type: "text" };
import stdPlanExecute from "./library/std_plan_execute.mk" with { type: "text" };
import stdRefine from "./library/std_refine.mk" with { type: "text" };
import stdResearch from "./library/std_research.mk" with { type: "text" };
import stdSelfConsistency from "./library/std_self_consistency.mk" with { type: "text" };
import stdTot from "./library/std_tot.mk" with { type: "text" };
import values from "./library/values.json" with { type: "json" };
import { machineFromValue } from "./read.ts";
import { copyObject } from "./values.ts";

const VALUES: ReadonlyMap<string, JsonObject> = new Map(Object.entries(values));

/** Texts by name, sorted. */
const TEXTS: ReadonlyMap<string, string> = new Map(
  ([
    ["std_cascade", stdCascade],
    ["std_compress", stdCompress],
    ["std_cot", stdCot],
    ["std_debate", stdDebate],
    ["std_map_reduce", stdMapReduce],
    ["std_plan_execute", stdPlanExecute],
    ["std_refine", stdRefine],
    ["std_research", stdResearch],
    ["std_self_consistency", stdSelfConsistency],
    ["std_tot", stdTot],
  ] satisfies [string, string][]).sort(([a], [b]) => compareCodePoints(a, b)),
);

const machines = new Map<string, Machine>();

/** The standard machines; each is made when it is first asked for, and knows no positions. */
export const library: Registry = {
  get(name) {
    const known = machines.get(name);
    const source = TEXTS.get(name);
    const value = VALUES.get(name);
    if (known !== undefined || source === undefined || value === undefined) return known;
    const { machine } = machineFromValue(copyObject(value), { source });
    if (machine !== undefined) machines.set(name, machine);
    return machine;
  },
  names: () => [...TEXTS.keys()],
};
