import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { createLog } from "../../src/platform/mod.ts";

function reader() {
  const writes: string[] = [];
  let gate: Promise<void> = Promise.resolve();
  return {
    writes,
    block(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    async write(bytes: Uint8Array): Promise<number> {
      await gate;
      writes.push(new TextDecoder().decode(bytes));
      return bytes.length;
    },
  };
}

Deno.test("createLog() writes one line a message, with its level", async () => {
  const out = reader();
  const log = createLog(out);
  log.write("warning", "a");
  await log.drained();
  assertEquals(out.writes, ["kit: warning: a\n"]);
});

const escaped: [what: string, message: string, line: string][] = [
  ["a line feed", "a\nb", "a\\nb"],
  ["a carriage return", "a\rb", "a\\u000db"],
  ["an escape sequence", "\u001b[31mred", "\\u001b[31mred"],
  ["U+2028", "a\u2028b", "a\\u2028b"],
];
for (const [what, message, line] of escaped) {
  Deno.test(`createLog() escapes ${what}`, async () => {
    const out = reader();
    const log = createLog(out);
    log.write("error", message);
    await log.drained();
    assertEquals(out.writes, [`kit: error: ${line}\n`]);
  });
}

Deno.test("createLog() drops what is below its level", async () => {
  const out = reader();
  const log = createLog({ ...out, level: "warning" });
  log.write("info", "a");
  log.write("debug", "b");
  assertFalse(log.isBusy);
  log.write("error", "c");
  await log.drained();
  assertEquals(out.writes, ["kit: error: c\n"]);
});

Deno.test("createLog() cuts a long message", async () => {
  const out = reader();
  const log = createLog(out);
  log.write("error", "x".repeat(10_000));
  await log.drained();
  assertEquals(out.writes[0]?.length, "kit: error: ".length + 4_096 + "…\n".length);
});

Deno.test("createLog() never waits for a reader that does not read: it drops lines and counts them", async () => {
  const out = reader();
  const release = out.block();
  const log = createLog(out);
  log.write("error", "first");
  await Promise.resolve();
  for (let times = 0; times < 1_000; times += 1) log.write("error", "x".repeat(1_000));
  assert(log.isBusy);
  release();
  await log.drained();
  const text = out.writes.join("");
  assert(text.length < 70_000);
  assertStringIncludes(text, "log lines were dropped");
});

Deno.test("createLog() falls silent when nobody can read", async () => {
  let attempts = 0;
  const log = createLog({
    write: () => {
      attempts += 1;
      return Promise.reject(new Error("broken pipe"));
    },
  });
  log.write("error", "a");
  await log.drained();
  log.write("error", "b");
  await log.drained();
  assertEquals(attempts, 1);
});
