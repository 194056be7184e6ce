/** A config that was broken is used from the call on that finds it mended, for tools as well as for models. */
import { assertStringIncludes } from "@std/assert";
import { MemoryFiles } from "../cli/memory_files.ts";
import { rig } from "./harness.ts";

const READING = `
machine: reading
entry: a
budget: 3
states:
  a: { tool: read_file, input: { path: note.md }, output: text, gates: [ { when: otherwise, then: ok, to: END } ] }
`;
const CONFIG = `{
  "active": "p",
  "providers": {
    "p": { "protocol": "openai_compat", "base_url": "http://localhost:1/v1", "tiers": { "fast": "m", "balanced": "m", "reasoning": "m" } }
  },
  "tools": { "fs": { "workspace": "/space" } }
}`;

Deno.test("Host.run() gives scripted runs the tools of a config once it was mended", async () => {
  const place = "/home/ann/.config/kit/kit.jsonc";
  const files = new MemoryFiles({ [place]: "{ broken", "/space/note.md": "from the workspace" });
  const { host } = rig({ files, provider: "scripted" });
  const before = await host.run({ source: READING });
  assertStringIncludes(String(before.object["result"]), "error");
  files.put(place, CONFIG);
  const after = await host.run({ source: READING });
  assertStringIncludes(String(after.object["result"]), "from the workspace");
});
