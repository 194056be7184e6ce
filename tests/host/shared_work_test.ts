import { assertEquals, assertRejects } from "@std/assert";
import { SharedWork } from "../../src/host/registry/shared_work.ts";

/** Work that ends when told, and what was begun. */
function held() {
  const rounds: PromiseWithResolvers<string>[] = [];
  const work = new SharedWork<string>((key) => {
    const round = Promise.withResolvers<string>();
    rounds.push(round);
    return round.promise.then((said) => `${key}: ${said}`);
  });
  return { rounds, work };
}

Deno.test("SharedWork gives those who ask in the middle the next round, and all of them the same", async () => {
  const { rounds, work } = held();
  const first = work.ask("a");
  const second = work.ask("a");
  const third = work.ask("a");
  assertEquals(rounds.length, 1);
  rounds[0]?.resolve("old");
  assertEquals(await first, "a: old");
  await Promise.resolve();
  assertEquals(rounds.length, 2);
  rounds[1]?.resolve("new");
  assertEquals(await Promise.all([second, third]), ["a: new", "a: new"]);
});

Deno.test("SharedWork begins anew once nothing is under way, and does not mix keys", async () => {
  const { rounds, work } = held();
  const first = work.ask("a");
  const other = work.ask("b");
  assertEquals(rounds.length, 2);
  rounds[0]?.resolve("1");
  rounds[1]?.resolve("2");
  assertEquals(await Promise.all([first, other]), ["a: 1", "b: 2"]);
  void work.ask("a").catch(() => {});
  assertEquals(rounds.length, 3);
  rounds[2]?.resolve("3");
});

Deno.test("SharedWork goes on after a round that failed", async () => {
  const { rounds, work } = held();
  const first = work.ask("a");
  const second = work.ask("a");
  rounds[0]?.reject(new RangeError("no"));
  await assertRejects(() => first, RangeError, "no");
  await Promise.resolve();
  rounds[1]?.resolve("yes");
  assertEquals(await second, "a: yes");
});
