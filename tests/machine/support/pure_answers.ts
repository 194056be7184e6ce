/**
 * Answers that depend on the question alone: the same run asks and hears the same, wherever it was taken up again.
 *
 * @module
 */
import type { JsonObject, JsonValue } from "../../../src/json/mod.ts";
import {
  type Hook,
  type HostTool,
  jsonText,
  type Oracle,
  readCase,
  type RunOptions,
} from "../../../src/machine/mod.ts";
import { manualPorts } from "../../../src/testing/mod.ts";
import { createDice, type RandomCase } from "./random_machine.ts";

const TEXTS = ["one", "two words", "drei", '["a", "b"]', '{"k": "v"}', "[]", "7"];
const PRODUCE_TOKENS = { input: 2, output: 1 };
const JUDGE_TOKENS = { input: 1, output: 1 };

/**
 * Makes the options of a run over a random case.
 *
 * @param one The case; its script is not used.
 * @param options What differs from the case's own options.
 * @returns The machine and the options.
 */
export function pureRun(
  one: RandomCase,
  options: Partial<RunOptions> = {},
): { readonly machine: ReturnType<typeof readCase>["machine"]; readonly options: RunOptions } {
  const { machine, registry } = readCase({ machine: one.machine, registry: one.registry });
  const { input } = one.scenario;
  return {
    machine,
    options: {
      oracle: pureOracle(),
      registry,
      tools: new Map([
        ["search", tool("found")],
        ["write_file", tool("wrote")],
        ["odd_tool", tool("odd")],
        ["calc", tool("42")],
      ]),
      hooks: new Map<string, Hook>([
        ["yes", () => true],
        ["no", () => false],
        ["mixed", (context) => hash(jsonText(context)) % 2 === 0],
      ]),
      context: input as JsonObject,
      ports: manualPorts(),
      ...options,
    },
  };
}

/** A choice of a text or a gate from what was asked, fences left out since their nonces differ. */
function pureOracle(): Oracle {
  return {
    tiers: ["balanced", "fast", "reasoning"],
    judgeModel: () => "pure",
    produce({ path, user, reason }) {
      const asked = `${path}|${user.replace(/<\/?data-\w+>/g, "")}`;
      const text = user.includes("JSON") && hash(asked) % 4 > 0 ? TEXTS[3] : TEXTS[hash(asked) % 7];
      return { text: text ?? "", tokens: PRODUCE_TOKENS, ...(reason ? { reasoning: "hm" } : {}) };
    },
    judge({ path, conditions, output, context }) {
      const asked = hash(`${path}|${conditions.join("|")}|${output}|${jsonText(context)}`);
      if (asked % 11 === 0) return { kind: "unparseable", raw: "hm", tokens: JUDGE_TOKENS };
      return { kind: "choice", index: asked % (conditions.length + 1), tokens: JUDGE_TOKENS };
    },
  };
}

function tool(text: string): HostTool {
  return {
    run: (input: JsonObject): string => `${text} ${hash(jsonText(input as JsonValue)) % 5}`,
  };
}

function hash(text: string): number {
  let seed = 17;
  for (const char of text) seed = (Math.imul(seed, 31) + (char.codePointAt(0) ?? 0)) | 0;
  return createDice(seed).roll(1000);
}
