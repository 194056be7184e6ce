import { assertEquals } from "@std/assert";
import { pathText } from "../../src/machine/path_text.ts";

const paths: [path: (string | number)[], text: string][] = [
  [[], "the document"],
  [["entry"], "entry"],
  [["states", "a", "gates", 0, "when"], "states.a.gates[0].when"],
  [["states", "my state"], 'states["my state"]'],
  [["states", "1st"], 'states["1st"]'],
  [["states", "größe-2"], "states.größe-2"],
  [["states", ""], 'states[""]'],
  [["states", "a.b"], 'states["a.b"]'],
];
for (const [path, text] of paths) {
  Deno.test(`pathText() writes ${text}`, () => {
    assertEquals(pathText(path), text);
  });
}
