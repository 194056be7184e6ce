import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { booleanOf, otherReading } from "../../src/machine/yaml_readings.ts";

const traps: [source: string, value: unknown, code: string, here: string, there: string][] = [
  ["yes", "yes", "yaml-boolean", "text", "the boolean true"],
  ["No", "No", "yaml-boolean", "text", "the boolean false"],
  ["on", "on", "yaml-boolean", "text", "the boolean true"],
  ["OFF", "OFF", "yaml-boolean", "text", "the boolean false"],
  ["010", 10, "yaml-octal", "the number 10", "the octal number 8"],
  ["-017", -17, "yaml-octal", "the number -17", "the octal number -15"],
  ["08", 8, "yaml-octal", "the number 8", "text"],
  ["0o17", 15, "yaml-octal", "the number 15", "text"],
  ["0b101", "0b101", "yaml-binary", "text", "the number 5"],
  ["1_000", "1_000", "yaml-underscore", "text", "the number 1000"],
  ["12:30", "12:30", "yaml-base60", "text", "the number 750 in base 60"],
  ["1:30:00", "1:30:00", "yaml-base60", "text", "the number 5400 in base 60"],
  ["1e3", 1000, "yaml-exponent", "the number 1000", "text"],
  ["1.0e3", 1000, "yaml-exponent", "the number 1000", "text"],
  ["2026-01-01", "2026-01-01", "yaml-date", "text", "a date"],
  ["2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z", "yaml-date", "text", "a date"],
];
for (const [source, value, code, here, there] of traps) {
  Deno.test(`otherReading() warns that ${source} is ${here} here and ${there} under YAML 1.1`, () => {
    const reading = otherReading(source, value);
    assertEquals(reading?.code, code);
    assertStringIncludes(reading?.message ?? "", `is ${here} here`);
    assertStringIncludes(reading?.message ?? "", `but ${there} to readers of YAML 1.1`);
    assert((reading?.hint ?? "").includes(source) || (reading?.hint ?? "").includes(String(value)));
  });
}

const plain: [source: string, value: unknown][] = [
  ["true", true],
  ["False", false],
  ["null", null],
  ["~", null],
  ["0", 0],
  ["42", 42],
  ["+1", 1],
  ["1.5", 1.5],
  ["1.0e+3", 1000],
  ["0x1F", 31],
  ["y", "y"],
  ["n", "n"],
  ["yes please", "yes please"],
  ["12:75", "12:75"],
  ["2026-1", "2026-1"],
  ["_1", "_1"],
];
for (const [source, value] of plain) {
  Deno.test(`otherReading() is silent about ${source}, which all versions read alike`, () => {
    assertEquals(otherReading(source, value), undefined);
  });
}

Deno.test("otherReading() names the leading zero of an octal", () => {
  assertStringIncludes(otherReading("010", 10)?.message ?? "", "leading zero");
});

Deno.test("booleanOf() knows the words of YAML 1.1 and no others", () => {
  assertEquals(["yes", "On", "TRUE"].map(booleanOf), [true, true, true]);
  assertEquals(["no", "off", "False"].map(booleanOf), [false, false, false]);
  assertEquals(["y", "ja", ""].map(booleanOf), [undefined, undefined, undefined]);
});
