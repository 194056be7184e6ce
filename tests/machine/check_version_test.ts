import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { checkMachine } from "../../src/machine/mod.ts";
import { machineText, readMachine, state, TO_END } from "./machines.ts";

const ASK = `{ when: x, escalate: true, to: END, ask: why, reply_to: r }, ${TO_END}`;
const NEWER = state("a", ASK, "parse: json, max_visits: 5");
const LIST = state("a", TO_END, "parse: list");

const versions: [version: string, states: string, messages: string[]][] = [
  ["0.2", NEWER, ["0.3 face", "max_visits", "parse: json", "ask/reply_to"]],
  ["0.2.0", NEWER, ["0.3 face", "max_visits", "parse: json", "ask/reply_to"]],
  ["0.3", NEWER, ["max_visits", "parse: json", "ask/reply_to"]],
  ["0.4", NEWER, []],
  ["0.2", LIST, ["0.3 face"]],
  ["0.3", LIST, []],
  ["", NEWER, []],
  ["0.3.0", NEWER, ['"0.2"-"0.4"']],
  ["0.4.0", LIST, ['"0.2"-"0.4"']],
  ["1", LIST, ['"0.2"-"0.4"']],
];
for (const [version, states, messages] of versions) {
  const keys = states === LIST ? "parse: list" : "newer keys";
  Deno.test(`checkMachine() warns ${messages.length} times of ${keys} under version "${version}"`, () => {
    const found = checkMachine(readMachine(machineText(states, `mklang: "${version}"`)));
    assertEquals(found.length, messages.length);
    const code = messages[0] === '"0.2"-"0.4"' ? "version-unsupported" : "newer-key";
    for (const [index, { severity, code: given, message }] of found.entries()) {
      assertEquals([severity, given], ["warning", code]);
      assertStringIncludes(message, messages[index] ?? "");
      if (messages.length > 1 && index > 0) assertStringIncludes(message, "0.4");
    }
  });
}

Deno.test("checkMachine() says nothing of versions where the document names none", () => {
  assertEquals(checkMachine(readMachine(machineText(NEWER))), []);
});

Deno.test("checkMachine() makes an unsupported version an error if strict", () => {
  const machine = readMachine(machineText(LIST, 'mklang: "0.5"'));
  const [found] = checkMachine(machine, { strict: true });
  assertEquals(found?.severity, "error");
  assert(found?.message.startsWith("version-unsupported: "));
  assertEquals(checkMachine(machine)[0]?.severity, "warning");
});

Deno.test("checkMachine() points at the first newer key", () => {
  const machine = readMachine(
    machineText(state("a") + "\n" + LIST.replace("a:", "b:"), 'mklang: "0.2"'),
  );
  const [found] = checkMachine(machine);
  assertEquals(found?.path, ["states", "b", "parse"]);
  assertEquals(found?.position?.line, 7);
});
