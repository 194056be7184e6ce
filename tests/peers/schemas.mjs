// deno-lint-ignore-file no-console no-external-import no-boolean-literal-for-arguments -- a script for Node; the harness reads what it prints
/**
 * Validates everything a server wrote against the published schema of the revision in force:
 * `node schemas.mjs SESSIONS OLD_TYPES`, SESSIONS being a file with a JSON list of `{path, lines: [{from, line}]}`.
 *
 * The schemas of 2025-03-26 and later are those that the conformance suite carries. For 2024-11-05 no package carries
 * one; the types of the SDK of that time (OLD_TYPES, a module) stand in. Prints one JSON object: messages counted by
 * revision and kind, and the problems.
 */
import { readFileSync } from "node:fs";
import process from "node:process";

const SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
const VERSION = "io.modelcontextprotocol/protocolVersion";
const RESULTS = {
  "initialize": "InitializeResult",
  "server/discover": "DiscoverResult",
  "ping": "EmptyResult",
  "tools/list": "ListToolsResult",
  "tools/call": "CallToolResult",
  "subscriptions/listen": "SubscriptionsListenResult",
};
const counts = {};
const problems = [];
const validators = await makeValidators();

function count(revision, kind) {
  counts[revision] ??= {};
  counts[revision][kind] = (counts[revision][kind] ?? 0) + 1;
}

async function makeValidators() {
  const { Ajv } = await load("ajv");
  const { Ajv2020 } = await load("ajv/dist/2020.js");
  const formats = (await load("ajv-formats")).default;
  const made = { "2024-11-05": await oldValidator() };
  for (const [revision, schema] of Object.entries(readSchemas())) {
    const Class = schema.$schema.includes("2020-12") ? Ajv2020 : Ajv;
    const ajv = new Class({ strict: false, allErrors: true });
    (formats.default ?? formats)(ajv);
    ajv.addFormat("byte", true);
    ajv.addSchema({ ...schema, $id: revision });
    const section = schema.$defs === undefined ? "definitions" : "$defs";
    made[revision] = {
      names: Object.keys(schema[section]),
      methods: methodsOf(schema[section]),
      validate(name, value) {
        const check = ajv.getSchema(`${revision}#/${section}/${name}`);
        return check(value) ? [] : check.errors.map((e) => `${e.instancePath} ${e.message}`);
      },
    };
  }
  return made;
}

function load(name) {
  return import(name);
}

/** The schemas as data, cut out of the bundle of the suite, which has no export for them. */
function readSchemas() {
  const text = readFileSync(SUITE, "utf8");
  const table = /\{"2025-03-26":(\w+),"2025-06-18":(\w+),"2025-11-25":(\w+),\[\w+\]:(\w+)\}/.exec(
    text,
  );
  const revisions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
  return Object.fromEntries(revisions.map((revision, i) => {
    const start = text.indexOf("{", text.search(new RegExp(`[,; ]${table[i + 1]}=\\{\\$schema`)));
    const schema = new Function(`return ${literalAt(text, start)}`)();
    return [revision, allowFractions(revision, schema)];
  }));
}

/** The source of the object literal that starts at `start`: brackets are counted outside of strings. */
function literalAt(text, start) {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (sign === "`" || sign === '"' || sign === "'") {
      at++;
      while (text[at] !== sign) at += text[at] === "\\" ? 2 : 1;
    } else if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") depth--;
    if (depth === 0) return text.slice(start, at + 1);
  }
  throw new Error("The object does not end");
}

/** Two published schemas say integer where their text says number; the suite mends this in the same way. */
function allowFractions(revision, schema) {
  if (revision !== "2025-06-18" && revision !== "2025-11-25") return schema;
  const number = (schema.$defs ?? schema.definitions).NumberSchema;
  for (const key of ["minimum", "maximum", "default"]) {
    if (number?.properties?.[key]?.type === "integer") number.properties[key].type = "number";
  }
  return schema;
}

function methodsOf(definitions) {
  const found = Object.entries(definitions).map(([name, d]) => [d.properties?.method?.const, name]);
  return new Map(found.filter(([method]) => typeof method === "string"));
}

async function oldValidator() {
  const types = await load(process.argv[3]);
  const names = Object.keys(types).filter((name) => name.endsWith("Schema"));
  const methods = new Map();
  for (const name of names) {
    const method = types[name]?.shape?.method?.value;
    if (typeof method === "string") methods.set(method, name.slice(0, -"Schema".length));
  }
  return {
    names: names.map((name) => name.slice(0, -"Schema".length)),
    methods,
    validate(name, value) {
      const outcome = types[`${name}Schema`].safeParse(value);
      return outcome.success
        ? []
        : outcome.error.issues.map((e) => `${e.path.join("/")} ${e.message}`);
    },
  };
}

function check(where, revision, name, value) {
  const validator = validators[revision];
  const known = validator?.names.includes(name);
  const found = known ? validator.validate(name, value) : [`${revision} does not define ${name}`];
  if (found.length > 0) problems.push(`${where}: ${name}: ${found.slice(0, 3).join("; ")}`);
}

function firstKnown(revision, names) {
  return names.find((name) => validators[revision]?.names.includes(name)) ?? names[0];
}

function checkServerMessage(session, message) {
  const request = session.requests.get(JSON.stringify(message.id));
  const revision = message.method === undefined
    ? request?.revision ?? session.revision
    : session.tokens.get(JSON.stringify(message.params?.progressToken)) ?? session.revision;
  const where = `${session.path} ${JSON.stringify(message).slice(0, 160)}`;
  if (message.error !== undefined) {
    count(revision, "error");
    check(where, revision, firstKnown(revision, ["JSONRPCErrorResponse", "JSONRPCError"]), message);
  } else if (message.method === undefined) {
    count(revision, request?.method ?? "result");
    check(
      where,
      revision,
      firstKnown(revision, ["JSONRPCResultResponse", "JSONRPCResponse"]),
      message,
    );
    const asks = message.result.resultType === "input_required";
    const name = asks ? "InputRequiredResult" : RESULTS[request?.method] ?? "Result";
    check(where, revision, name, message.result);
  } else {
    count(revision, message.method);
    const name = validators[revision]?.methods.get(message.method);
    check(where, revision, name ?? `the method ${message.method}`, message);
  }
}

function noteClientMessage(session, message) {
  const claimed = message.params?._meta?.[VERSION];
  const revision = claimed === undefined ? session.revision : inForce(claimed);
  const token = message.params?._meta?.progressToken;
  if (token !== undefined) session.tokens.set(JSON.stringify(token), revision);
  if (message.method !== undefined && message.id !== undefined) {
    session.requests.set(JSON.stringify(message.id), { method: message.method, revision });
  }
  if (claimed !== undefined && session.revision === undefined) session.revision = revision;
}

/** A claim that no schema knows is answered in the newest revision. */
function inForce(claimed) {
  return validators[claimed] === undefined ? "2026-07-28" : claimed;
}

for (const { path, lines } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const session = { path, revision: undefined, requests: new Map(), tokens: new Map() };
  for (const { from, line } of lines) {
    for (const message of [JSON.parse(line)].flat()) {
      if (from === "client") noteClientMessage(session, message);
      else {
        session.revision = message.result?.protocolVersion ?? session.revision;
        const request = session.requests.get(JSON.stringify(message.id));
        if (request?.method === "initialize") request.revision = session.revision;
        checkServerMessage(session, message);
      }
    }
  }
}
console.log(JSON.stringify({ counts, problems }));
