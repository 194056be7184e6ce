/**
 * Settles effects whose end is not known: a person says that they happened, and what they gave, or that they are to be
 * done again. Until then nothing goes on.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json/mod.ts";
import { jsonText, type ToolSource } from "../../machine/mod.ts";
import { EFFECT_UNKNOWN, type StartedEffect } from "./saved_run.ts";

/** The root of the inputs that settle an effect; they never reach the context. */
const ROOT = "effect";

/** What a person said of an effect. */
export type EffectWord =
  | {
    /** It is to be done again. */
    readonly kind: "repeat";
  }
  | {
    /** It happened. */
    readonly kind: "happened";
    /** What it gave. */
    readonly result: string;
  };

/**
 * Reads what a person said of an effect.
 *
 * @param inputs The inputs of a resume: `effect.repeat: true`, or `effect.result: "<observation>"`.
 * @returns The word, or `undefined` if nothing was said.
 */
export function readEffectWord(inputs: JsonObject | undefined): EffectWord | undefined {
  if (inputs === undefined) return undefined;
  const nested = member(inputs, ROOT);
  const read = (name: string): JsonValue | undefined =>
    member(inputs, `${ROOT}.${name}`) ?? (isJsonObject(nested) ? member(nested, name) : undefined);
  const result = read("result");
  if (result !== undefined && result !== null) {
    return { kind: "happened", result: typeof result === "string" ? result : jsonText(result) };
  }
  return read("repeat") === true ? { kind: "repeat" } : undefined;
}

/**
 * Takes the words about effects out of the inputs.
 *
 * @param inputs The inputs of a resume.
 * @returns The others, for the context.
 */
export function withoutEffectWords(inputs: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(inputs).filter(([path]) => path !== ROOT && !path.startsWith(`${ROOT}.`)),
  );
}

/**
 * Tells whether a suspension waits for somebody who has not spoken yet.
 *
 * @param reason Why it waits.
 * @param inputs The inputs of the resume, if there are any.
 * @returns Whether it is only shown again.
 */
export function stillWaits(reason: string, inputs: JsonObject | undefined): boolean {
  if (reason === EFFECT_UNKNOWN) return readEffectWord(inputs) === undefined;
  return reason === "escalated" && inputs === undefined;
}

/**
 * Lets tools answer with what is known instead of acting again. Also tools that only an embedder knows: whoever adds
 * its own behind these is asked once more, when what is known has been said.
 *
 * @param tools The host's tools.
 * @param effects The effects that were started.
 * @param word What a person said.
 * @returns The tools; each started effect is answered once, in the state that started it.
 */
export function withKnownEffects(
  tools: ToolSource,
  effects: readonly StartedEffect[],
  word: EffectWord | undefined,
): ToolSource {
  if (word?.kind !== "happened" || effects.length === 0) return tools;
  const open = [...effects];
  return {
    get: (name) => {
      const tool = tools.get(name);
      if (!open.some((one) => one.tool === name)) return tool;
      return {
        ...tool,
        run(input, options): Promise<string> | string {
          const at = open.findIndex((one) => one.tool === name && one.state === options.state);
          if (at >= 0) {
            open.splice(at, 1);
            return word.result;
          }
          if (tool === undefined) throw new Error(`Tool "${name}" is not known here`);
          return tool.run(input, options);
        },
      };
    },
  };
}
