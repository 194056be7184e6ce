import { assertEquals } from "@std/assert";
import { nearest, Suggestions } from "../../src/machine/suggest.ts";

const near: [name: string, candidates: string[], found: string | undefined][] = [
  ["promt", ["prompt", "output"], "prompt"],
  ["otuput", ["prompt", "output"], "output"],
  ["maxVisits", ["max_visits", "sample"], "max_visits"],
  ["max-visits", ["max_visits"], "max_visits"],
  ["End", ["END", "send"], "END"],
  ["entri", ["entry", "states"], "entry"],
  ["draftt", ["draft", "drafts"], "draft"],
  ["descr", ["name", "description"], "description"],
  ["dec", ["decide", "decline"], undefined],
  ["de", ["description"], undefined],
  ["abc", ["xyz"], undefined],
  ["a", ["b"], undefined],
  ["", ["a"], undefined],
  ["same", ["same"], undefined],
  ["x".repeat(65), ["x".repeat(64)], undefined],
];
for (const [name, candidates, found] of near) {
  Deno.test(`nearest() gives ${found} for ${JSON.stringify(name.slice(0, 12))} of ${candidates[0]}`, () => {
    assertEquals(nearest(name, candidates), found);
  });
}

Deno.test("nearest() gives the first of equally near candidates", () => {
  assertEquals(nearest("stat3", ["stat1", "stat2"]), "stat1");
});

Deno.test("nearest() looks at 2,000 candidates and no more", () => {
  const many = Array.from({ length: 2_000 }, (_, i) => `q${i}zzzzzzzz`);
  assertEquals(nearest("promt", [...many, "prompt"]), undefined);
  assertEquals(nearest("promt", [...many.slice(1), "prompt"]), "prompt");
});

Deno.test("Suggestions.nearest() looks for each of 100 names once, and for no more", () => {
  const suggestions = new Suggestions();
  let asked = 0;
  const candidates = {
    scope: "state",
    names: () => {
      asked++;
      return ["draft"];
    },
  };
  for (let index = 0; index < 300; index++) suggestions.nearest(`name${index % 150}`, candidates);
  assertEquals(asked, 100);
  assertEquals(suggestions.nearest("draftt", candidates), undefined);
});

Deno.test("Suggestions.nearest() keeps names of different kinds apart", () => {
  const suggestions = new Suggestions();
  const near = (scope: string, names: string[]) =>
    suggestions.nearest("draftt", { scope, names: () => names });
  assertEquals(near("state", ["draft"]), "draft");
  assertEquals(near("hook", ["drafts"]), "drafts");
  assertEquals(near("state", ["drafts"]), "draft");
});
