import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { ConfigError, KitError } from "../../src/llm/mod.ts";
import { lookAtBatch, mapBatch } from "../../src/patterns/batches.ts";
import { manualPorts } from "../../src/testing/mod.ts";

const KEY = "correct-horse-battery-7";

function endpoint(result: unknown) {
  let asked = 0;
  const fetch = (url: string | URL): Promise<Response> => {
    asked += 1;
    return Promise.resolve(
      String(url).endsWith("/results")
        ? Response.json({ custom_id: "map-0", result })
        : Response.json({ id: "b", processing_status: "ended", results_url: "/results" }),
    );
  };
  return { ports: { ...manualPorts(), fetch }, asked: () => asked };
}

for (const apiKey of ["", "   ", `${KEY}\nx`, `${KEY} x`, `${KEY}\u2013`]) {
  Deno.test(`mapBatch() with the key ${JSON.stringify(apiKey)} sends nothing and shows no key`, async () => {
    const { ports, asked } = endpoint({});
    const error = await assertRejects(
      () => mapBatch(["hi"], { apiKey, model: "m", ports }),
      ConfigError,
    );
    assertEquals([error.usage.llmCalls, asked()], [0, 0]);
    assertFalse(Deno.inspect(error, { depth: 9 }).includes(KEY));
  });
}

Deno.test("W41 mapBatch() hides a key that comes back with an entry", async () => {
  const { ports } = endpoint({ type: "errored", error: { message: `bad key ${KEY}` } });
  const error = await assertRejects(
    () => mapBatch(["hi"], { apiKey: KEY, model: "m", ports }),
    KitError,
  );
  assertFalse(Deno.inspect(error, { depth: 9 }).includes(KEY));
});

Deno.test("lookAtBatch() takes a key with a line break behind it", async () => {
  const { ports } = endpoint({});
  assert((await lookAtBatch("b", { apiKey: `${KEY}\n`, model: "m", ports })).ended);
});
