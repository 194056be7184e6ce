import { assertEquals, assertStringIncludes } from "@std/assert";
import type { GenerativeState } from "../../src/machine/document.ts";
import { stateMessages } from "../../src/machine/prompts.ts";

function state(parts: Partial<GenerativeState>): GenerativeState {
  return {
    id: "a",
    kind: "generative",
    prompt: "p",
    structure: "",
    output: "o",
    gates: [],
    accumulate: false,
    reason: false,
    ...parts,
  };
}

Deno.test("stateMessages() trims contract and policy, and names their absence", () => {
  const full = stateMessages(state({ structure: " one line ", execution: "\nbe brief\n" }), {
    text: "p",
  }, "");
  assertStringIncludes(full.system, "## Output contract\none line\n");
  assertStringIncludes(full.system, "## How to work\nbe brief\n");
  const empty = stateMessages(state({ structure: " " }), { text: "p" }, "");
  assertStringIncludes(empty.system, "## Output contract\n(unspecified)\n");
  assertStringIncludes(empty.system, "## How to work\nNo particular policy.\n");
});

Deno.test("stateMessages() adds the fence section with its nonce, and nothing without one", () => {
  const a = state({});
  const bare = stateMessages(a, { text: "p" }, "");
  const fenced = stateMessages(a, { text: "p", nonce: "0123456789ab" }, "");
  assertEquals(fenced.system.startsWith(bare.system), fenced.system !== bare.system);
  assertStringIncludes(fenced.system, "<data-0123456789ab>");
  assertEquals(stateMessages(a, { text: "p" }, ""), bare);
});

Deno.test("stateMessages() puts feedback two lines below the prompt, behind its label", () => {
  const { user } = stateMessages(state({}), { text: "Write." }, "Shorter.");
  assertEquals(user, "Write.\n\n[Repair feedback] Shorter.");
});
