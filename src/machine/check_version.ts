/**
 * What a document may say about the version of the language, and which keys are newer than what it says. The version
 * never changes how a machine runs.
 *
 * @module
 */
import type { Machine, State } from "./document.ts";
import type { Finding } from "./finding.ts";

const SUPPORTED: ReadonlySet<string> = new Set(["0.2", "0.2.0", "0.3", "0.4"]);
const BEFORE_03: ReadonlySet<string> = new Set(["0.2", "0.2.0"]);
const BEFORE_04: ReadonlySet<string> = new Set(["0.2", "0.2.0", "0.3"]);

/**
 * Checks a machine's version.
 *
 * @param machine The machine.
 * @param options `strict`: whether an unsupported version is an error.
 * @returns What is wrong with it; nothing if the machine names no version.
 */
export function checkVersion(
  machine: Machine,
  options: { readonly strict: boolean },
): Finding[] {
  const { version } = machine;
  if (version === undefined || version === "") return [];
  if (!SUPPORTED.has(version)) return [unsupported(version, options)];
  return NEWER.flatMap(({ before, what, since, find }) => {
    if (!before.has(version)) return [];
    const path = find(machine);
    return path === undefined ? [] : [newer(version, { what, since, path })];
  });
}

function unsupported(version: string, { strict }: { readonly strict: boolean }): Finding {
  const shown = version.length > 40 ? `${version.slice(0, 39)}…` : version;
  const message = `mklang version "${shown}" is not one of "0.2"-"0.4"`;
  return {
    severity: strict ? "error" : "warning",
    code: "version-unsupported",
    message: strict ? `version-unsupported: ${message}` : `${message}; it is read as 0.4`,
    hint: 'Write mklang: "0.4"',
    path: ["mklang"],
  };
}

function newer(
  version: string,
  { what, since, path }: {
    readonly what: string;
    readonly since: string;
    readonly path: readonly (string | number)[];
  },
): Finding {
  return {
    severity: "warning",
    code: "newer-key",
    message: `${what} is part of the ${since} face of the language, but mklang says "${version}"`,
    hint: `Write mklang: "${since}"`,
    path,
  };
}

interface NewerKey {
  readonly before: ReadonlySet<string>;
  readonly what: string;
  readonly since: string;
  find(machine: Machine): readonly (string | number)[] | undefined;
}

const NEWER: readonly NewerKey[] = [
  { before: BEFORE_03, what: "parse", since: "0.3", find: stateKey("parse", usesParse) },
  {
    before: BEFORE_04,
    what: "max_visits",
    since: "0.4",
    find: stateKey("max_visits", ({ maxVisits }) => maxVisits !== undefined),
  },
  {
    before: BEFORE_04,
    what: "parse: json",
    since: "0.4",
    find: stateKey("parse", (state) => state.kind === "generative" && state.parse === "json"),
  },
  { before: BEFORE_04, what: "ask/reply_to", since: "0.4", find: firstAsk },
];

function usesParse(state: State): boolean {
  return state.kind === "generative" && state.parse !== undefined;
}

function stateKey(key: string, uses: (state: State) => boolean): NewerKey["find"] {
  return (machine) => {
    for (const state of machine.states.values()) {
      if (uses(state)) return ["states", state.id, key];
    }
  };
}

function firstAsk(machine: Machine): readonly (string | number)[] | undefined {
  for (const { id, gates } of machine.states.values()) {
    for (const [index, { ask, replyTo }] of gates.entries()) {
      if (ask === undefined && replyTo === undefined) continue;
      return ["states", id, "gates", index, ask === undefined ? "reply_to" : "ask"];
    }
  }
}
