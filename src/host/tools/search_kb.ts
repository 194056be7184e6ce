/**
 * The tool `search_kb`: a knowledge base of a few demonstration facts, for trying machines without one.
 *
 * @module
 */
import type { HostTool } from "../../machine/mod.ts";
import { clip } from "../../machine/mod.ts";
import { inputText, observation } from "./observation.ts";

/** Most facts of one answer. */
const MAX_FACTS = 50;
/** Most characters of one fact. */
const MAX_FACT_CHARS = 2000;

const DEMO_FACTS = [
  "Refunds up to 100 are granted without a manager if there is a receipt.",
  "Refunds above 100 need the approval of a manager.",
  "Orders are shipped within two working days.",
  "Support answers between 09:00 and 17:00 on working days.",
];

/**
 * Makes the tool.
 *
 * @returns The tool; always a stub.
 */
export function searchKbTool(): HostTool {
  return {
    effect: "read",
    run(input): string {
      const query = inputText(input, "query", "q") ?? "";
      return observation({ tool: "search_kb", stub: true }, {
        query,
        facts: DEMO_FACTS.slice(0, MAX_FACTS).map((fact) => clip(fact, MAX_FACT_CHARS)),
        note: "Demonstration facts: no knowledge base is bound.",
      });
    },
  };
}
