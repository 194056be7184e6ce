import { assertEquals, assertThrows } from "@std/assert";
import { parseDotenv } from "../../src/host/config/dotenv.ts";
import { redactUrl } from "../../src/host/config/redact_url.ts";
import {
  directoryOf,
  isAbsolutePath,
  isWithin,
  joinPath,
  nameOf,
  normalizePath,
} from "../../src/host/paths.ts";
import { confinedName, WorkspaceError } from "../../src/host/workspace.ts";

const normal: readonly (readonly [string, string])[] = [
  ["/a/./b//c/", "/a/b/c"],
  ["/a/../b", "/b"],
  ["/../..", "/"],
  ["a/../..", ".."],
  ["../a", "../a"],
  ["", "."],
  ["./", "."],
  ["C:\\a\\..\\b", "C:/b"],
  ["C:\\", "C:/"],
];
for (const [path, expected] of normal) {
  Deno.test(`normalizePath() makes "${expected}" of "${path}"`, () => {
    assertEquals(normalizePath(path), expected);
  });
}

const within: readonly (readonly [string, string, boolean])[] = [
  ["/a/b", "/a", true],
  ["/a", "/a", true],
  ["/ab", "/a", false],
  ["/a/../b", "/a", false],
  ["/", "/a", false],
  ["/a", "/", true],
];
for (const [path, directory, expected] of within) {
  Deno.test(`isWithin() says ${expected} for "${path}" in "${directory}"`, () => {
    assertEquals(isWithin(path, directory), expected);
  });
}

Deno.test("joinPath() starts over at an absolute name and drops empty ones", () => {
  assertEquals(joinPath("/a", "b", "", "c"), "/a/b/c");
  assertEquals(joinPath("/a/", "b"), "/a/b");
  assertEquals(joinPath("/a", "/b"), "/b");
  assertEquals(joinPath("", "b"), "b");
});

Deno.test("directoryOf() and nameOf() take a path apart", () => {
  assertEquals([directoryOf("/a/b.mk"), nameOf("/a/b.mk")], ["/a", "b.mk"]);
  assertEquals([directoryOf("/a"), nameOf("a")], ["/", "a"]);
  assertEquals([directoryOf("a"), directoryOf("C:/a")], [".", "C:/"]);
});

Deno.test("isAbsolutePath() knows roots of all systems", () => {
  assertEquals(["/a", "C:\\a", "\\\\host\\a", "a/b", "C:a", ""].map(isAbsolutePath), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

const odd = ["con", "NUL.txt", "ab:c.txt", "a.txt.", "a ", "com1.md", "x?.txt"];
for (const name of odd) {
  Deno.test(`confinedName() refuses "${name}" on Windows and takes it elsewhere`, () => {
    assertThrows(() => confinedName(name, { windows: true }), WorkspaceError);
    assertEquals(confinedName(name, { windows: false }), name);
  });
}

Deno.test("parseDotenv() reads assignments, quotes, comments and export", () => {
  const text =
    "A=1\n# no\nexport B = \"two words\" # c\nC='x#y'\nD=a#b # c\r\nE=\nnot one\nA=2\n=x\n";
  assertEquals([...parseDotenv(text)], [
    ["A", "2"],
    ["B", "two words"],
    ["C", "x#y"],
    ["D", "a#b"],
    [
      "E",
      "",
    ],
  ]);
});

Deno.test("redactUrl() shows neither query nor userinfo", () => {
  assertEquals(redactUrl("https://u:p@h:1/v1?key=s#f"), "https://h:1/v1");
  assertEquals(redactUrl("nothing"), "(no URL)");
});
