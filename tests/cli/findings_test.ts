import { assertEquals } from "@std/assert";
import { githubLines, sarifLog } from "../../src/cli/findings.ts";
import type { Diagnostic } from "../../src/machine/mod.ts";

const PLACED: Diagnostic = {
  severity: "error",
  code: "unknown-target",
  message: "a: gate -> unknown state 'b'\nsecond line, 100 %",
  hint: "Write END",
  position: { line: 3, column: 7 },
};
const UNPLACED: Diagnostic = { severity: "note", code: "flow-taint", message: "note: S" };
const FILES = [{ path: "m, a:1/x y.mk", diagnostics: [PLACED, UNPLACED] }];

Deno.test("githubLines() escapes what workflow commands give a meaning", () => {
  assertEquals(githubLines(FILES), [
    "::error file=m%2C a%3A1/x y.mk,line=3,col=7,title=unknown-target::" +
    "a: gate -> unknown state 'b'%0Asecond line, 100 %25%0AWrite END",
    "::notice file=m%2C a%3A1/x y.mk,title=flow-taint::note: S",
  ]);
});

Deno.test("sarifLog() lists each rule once and places results where the place is known", () => {
  const log = sarifLog([...FILES, { path: "b.mk", diagnostics: [UNPLACED] }], "1.2.3");
  assertEquals(log, {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: {
        driver: {
          name: "kit",
          version: "1.2.3",
          rules: [{ id: "flow-taint" }, { id: "unknown-target" }],
        },
      },
      columnKind: "unicodeCodePoints",
      results: [
        {
          ruleId: "unknown-target",
          level: "error",
          message: { text: "a: gate -> unknown state 'b'\nsecond line, 100 %\nWrite END" },
          locations: [{
            physicalLocation: {
              artifactLocation: { uri: "m%2C%20a%3A1/x%20y.mk" },
              region: { startLine: 3, startColumn: 7 },
            },
          }],
        },
        {
          ruleId: "flow-taint",
          level: "note",
          message: { text: "note: S" },
          locations: [{ physicalLocation: { artifactLocation: { uri: "m%2C%20a%3A1/x%20y.mk" } } }],
        },
        {
          ruleId: "flow-taint",
          level: "note",
          message: { text: "note: S" },
          locations: [{ physicalLocation: { artifactLocation: { uri: "b.mk" } } }],
        },
      ],
    }],
  });
});
