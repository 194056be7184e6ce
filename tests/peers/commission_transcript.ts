// deno-lint-ignore-file no-console -- a chore prints
/**
 * Prints what an official client and Kit say to each other: a machine commissioned inline, suspended for a person, the
 * server restarted, the run resumed: `deno run -A tests/peers/commission_transcript.ts`.
 *
 * @module
 */
import { objectOf, type Outcome, Peer, PEER_CLIENTS, textOf } from "./commission_driver.ts";
import { ASKING, makePlace } from "./commission_place.ts";

const SHOWN_CHARS = 1200;

await using place = await makePlace();
const client = PEER_CLIENTS.find(({ name }) => name.includes(Deno.args[0] ?? "2.4.0 auto"));
if (client === undefined) throw new Error("no such client");
const options = { flags: ["--store", `sqlite:${place.folder}/runs.db`], env: place.env };
const arrow = ">";

console.log(`# ${client.name}, revision ${client.revision}, Kit over SQLite\n`);
console.log("## First server\n");
const first = await Peer.start(client, options);
const suspended = await say(first, "run", { source: ASKING, hitl: true });
const { checkpoint, run } = objectOf(suspended);
await first.close();
console.log("The client closes; the server ends.\n");

console.log("## Second server\n");
const second = await Peer.start(client, options);
await say(second, "resume", { run });
await say(second, "resume", { checkpoint });
await say(second, "resume", { checkpoint, inputs: { "human.reply": "yes, send it" } });
await say(second, "resume", { checkpoint, inputs: { "human.reply": "yes, send it" } });
await second.close();
console.log(`The model was asked ${place.model.seen.length} times.`);

async function say(
  peer: Peer,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Outcome> {
  const outcome = await peer.call(name, args);
  const object = JSON.stringify(objectOf(outcome));
  console.log(`${arrow} ${name} ${JSON.stringify(args)}\n`);
  console.log(`\`\`\`text\n${textOf(outcome)}\n\`\`\`\n`);
  const rest = object.length - SHOWN_CHARS;
  console.log(
    `\`\`\`json\n${object.slice(0, SHOWN_CHARS)}${rest > 0 ? `… ${rest} more` : ""}\n\`\`\`\n`,
  );
  return outcome;
}
