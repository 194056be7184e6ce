import { assert } from "@std/assert";
// deno-lint-ignore no-import-prefix no-external-import -- nine megabytes that only this test needs
import { encode } from "npm:gpt-tokenizer@4.0.0/encoding/o200k_base";
import { createTools } from "../../src/tools/mod.ts";
import { rig } from "../host/harness.ts";

/** What product decision 5 allows for all seven definitions together, prefix included. */
const MAX_DEFINITION_TOKENS = 2500;

Deno.test("createTools() keeps all definitions with a prefix within 2,500 tokens", () => {
  const definitions = createTools(rig().host, { prefix: "executionkit_" }).map((
    { call: _call, ...rest },
  ) => rest);
  const tokens = encode(JSON.stringify(definitions)).length;
  assert(tokens <= MAX_DEFINITION_TOKENS, `${tokens} tokens`);
});
