/**
 * What it costs to find JSON in the answer of a model, beside parsing it where it stands alone.
 *
 * @module
 */
import { extractJson } from "../../src/llm/mod.ts";

const value = {
  items: Array.from({ length: 200 }, (_, id) => ({ id, name: `name ${id}`, tags: ["a", "b"] })),
};
const bare = JSON.stringify(value);
const prose = "Some words that a model says before it comes to the point. ".repeat(200);
const answers: readonly (readonly [what: string, text: string])[] = [
  ["bare JSON", bare],
  ["JSON in a fence", `Here you are:\n\`\`\`json\n${bare}\n\`\`\`\nAnything else?`],
  ["JSON in prose", `${prose}${bare}${prose}`],
  ["JSON after thinking", `<think>${prose} {not: it} </think>\n${bare}`],
  ["JSON with a trailing comma", `${bare.slice(0, -2)},]}`],
];

Deno.bench("JSON.parse of bare JSON", { group: "extract", baseline: true }, () => {
  JSON.parse(bare);
});
for (const [what, text] of answers) {
  Deno.bench(`extractJson() of ${what}`, { group: "extract" }, () => {
    extractJson(text);
  });
}

for (const braces of [1000, 10_000, 100_000]) {
  const text = `${"{ x ".repeat(braces)}${bare}`;
  Deno.bench(`extractJson() behind ${braces.toLocaleString("en")} braces that open nothing`, {
    group: "hostile",
    baseline: braces === 1000,
  }, () => {
    extractJson(text);
  });
}
