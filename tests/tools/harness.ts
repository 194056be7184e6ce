/** Tools over doubles, called as the protocol layer calls them. */
import type { JsonObject } from "../../src/json/mod.ts";
import type { Answer, Progress, Tool, ToolContext, ToolOutcome } from "../../src/mcp/mod.ts";
import { createTools, type ToolOptions } from "../../src/tools/mod.ts";
import { type Rig, rig, type RigOptions } from "../host/harness.ts";

/** What a call brings. */
export interface CallParts {
  /** Ends the call. */
  readonly signal?: AbortSignal;
  /** Whether the client can be asked. */
  readonly canAsk?: boolean;
  /** Answers by key. */
  readonly answers?: Readonly<Record<string, Answer>>;
  /** What the tool gave when it asked. */
  readonly state?: ToolContext["state"];
  /** Takes progress. */
  readonly progress?: (report: Progress) => void;
}

/** Tools and what is behind them. */
export interface ToolRig extends Rig {
  /** The tools. */
  readonly tools: readonly Tool[];
  /** Calls one. */
  call(name: string, args: JsonObject, parts?: CallParts): Promise<ToolOutcome>;
}

/** Makes tools for a test. */
export function toolRig(options: RigOptions & { readonly tools?: ToolOptions } = {}): ToolRig {
  const { tools: toolOptions = {}, ...rest } = options;
  const made = rig(rest);
  const tools = createTools(made.host, toolOptions);
  return {
    ...made,
    tools,
    call(name, args, parts = {}): Promise<ToolOutcome> {
      const tool = tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`no tool ${name}`);
      return tool.call(args, {
        signal: parts.signal ?? new AbortController().signal,
        progress: parts.progress ?? (() => {}),
        wantsProgress: parts.progress !== undefined,
        canAsk: parts.canAsk ?? false,
        answers: new Map(Object.entries(parts.answers ?? {})),
        state: parts.state,
        traceContext: undefined,
        requestId: 1,
        revision: "2025-11-25",
      });
    },
  };
}

/** The texts of a result. */
export function texts(outcome: ToolOutcome): readonly string[] {
  if (outcome.kind !== "result") throw new Error("a question, not a result");
  return outcome.content.map((block) => String(Reflect.get(block, "text")));
}

/** The object of a result. */
export function object(outcome: ToolOutcome): JsonObject {
  if (outcome.kind !== "result") throw new Error("a question, not a result");
  return outcome.structuredContent ?? {};
}
