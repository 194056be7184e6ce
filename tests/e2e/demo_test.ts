/** The demo prints what README.md shows. */
import { assertEquals } from "@std/assert";

/** What differs from run to run: process ids, handles, nonces, times; and which progress reports come in time. */
function masked(text: string): string {
  return text.split("\n").filter((line) => !line.startsWith("     …")).join("\n").trim()
    .replace(/pid \d+/, "pid N")
    .replace(/handle [0-9a-f]{8}…/, "handle …")
    .replace(/data-[0-9a-f]{12}/g, "data-NONCE")
    .replace(/took [\d.]+ s/, "took N s");
}

Deno.test("deno task demo prints what README.md shows", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--allow-read",
      "--allow-write",
      "--allow-env",
      "--allow-run",
      "scripts/demo.ts",
    ],
    env: { NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  assertEquals([code, decoder.decode(stderr)], [0, ""]);
  const [, shown = ""] = /```text\n(Started a server[\s\S]*?)```/.exec(
    await Deno.readTextFile("README.md"),
  ) ?? [];
  assertEquals(masked(decoder.decode(stdout)), masked(shown));
});
