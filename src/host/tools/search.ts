/**
 * The tool `search`: the web through Tavily where a key is set, else an offline stub that says so.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../json/mod.ts";
import { clip, type HostTool } from "../../machine/mod.ts";
import type { Ports } from "../../ports/mod.ts";
import { clamp, inputInteger, inputText, observation } from "./observation.ts";

/** Where searches are sent. */
const TAVILY_URL = "https://api.tavily.com/search";
/** Most milliseconds of one search, the body included. */
const SEARCH_TIMEOUT_MS = 15_000;
/** Most bytes of a reply. */
const MAX_REPLY_BYTES = 2_097_152;
/** Results if the input names no number. */
const DEFAULT_RESULTS = 5;
/** Most results. */
const MAX_RESULTS = 10;
/** Most days back. */
const MAX_DAYS = 365;
/** Most characters of each part of a result. */
const CAPS = { title: 300, url: 500, snippet: 800, date: 64 };

const UNBOUND =
  "no external search bound: set TAVILY_API_KEY, or tools.search.backend in kit.jsonc";

/** How searches are made. */
export interface SearchOptions {
  /** `tavily`, `fake`, or anything else for the stub. */
  readonly backend: string;
  /** The key of the search service. */
  readonly key: string | undefined;
  /** Network and time. */
  readonly ports: Pick<Ports, "fetch" | "clock">;
}

interface Query {
  readonly query: string;
  readonly maxResults: number;
  readonly days: number | undefined;
  readonly topic: string | undefined;
}

/**
 * Makes the tool.
 *
 * @param options The backend.
 * @returns The tool. Failures are observations.
 */
export function searchTool(options: SearchOptions): HostTool {
  return {
    effect: "read",
    async run(input, { signal }): Promise<string> {
      const query = readQuery(input);
      const stub = options.backend !== "tavily";
      if (typeof query === "string") return failed(query, { query: "", stub });
      if (options.backend === "fake") return fakeResults(query);
      if (stub || options.key === undefined) return unbound(query);
      return await searchTavily(query, options.key, { signal, ports: options.ports });
    },
  };
}

function readQuery(input: JsonObject): Query | string {
  const query = (inputText(input, "query") ?? "").trim();
  if (query === "") return "empty query";
  const wanted = inputInteger(member(input, "max_results"));
  if (wanted === "invalid") return "max_results is not a whole number";
  const days = inputInteger(member(input, "days"));
  if (days === "invalid") return "days is not a whole number";
  const topic = inputText(input, "topic");
  return {
    query,
    maxResults: clamp(wanted ?? DEFAULT_RESULTS, 1, MAX_RESULTS),
    days: days === undefined ? undefined : clamp(days, 1, MAX_DAYS),
    topic: topic === "news" || topic === "general" ? topic : undefined,
  };
}

function failed(error: string, facts: { query: string; stub: boolean }): string {
  return observation({ tool: "search", stub: facts.stub, error }, {
    query: facts.query,
    results: [],
  });
}

function unbound({ query }: Query): string {
  return observation({ tool: "search", stub: true, error: UNBOUND }, {
    query,
    results: [],
    message: "Nothing was searched. Go on without search results and say so.",
  });
}

function fakeResults({ query, maxResults }: Query): string {
  const results = Array.from({ length: Math.min(maxResults, 3) }, (_, index) => ({
    title: clip(`Sample result ${index + 1} for ${query}`, CAPS.title),
    url: `https://example.com/result-${index + 1}`,
    snippet: "A made-up result of the fake search backend.",
  }));
  return observation({ tool: "search", stub: true }, { query, results });
}

async function searchTavily(
  query: Query,
  key: string,
  options: { readonly signal: AbortSignal; readonly ports: Pick<Ports, "fetch" | "clock"> },
): Promise<string> {
  const facts = { query: query.query, stub: false };
  using deadline = options.ports.clock.deadline(SEARCH_TIMEOUT_MS);
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  options.signal.addEventListener("abort", stop, { once: true });
  deadline.signal.addEventListener("abort", stop, { once: true });
  try {
    options.signal.throwIfAborted();
    const response = await options.ports.fetch(TAVILY_URL, {
      method: "POST",
      redirect: "error",
      signal: controller.signal,
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      // Not a text: Deno sends a text again by itself when a pooled connection is gone, and a search is paid for.
      body: new Blob([searchBody(query)]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      return failed(`search service answered with status ${response.status}`, facts);
    }
    const results = readResults(JSON.parse(await readBounded(response)), query.maxResults);
    return observation({ tool: "search", stub: false }, { query: query.query, results });
  } catch (error) {
    options.signal.throwIfAborted();
    if (deadline.signal.aborted) return failed("search timed out after 15 s", facts);
    const why = error instanceof SyntaxError ? "sent no JSON" : "could not be reached";
    return failed(`search service ${why}`, facts);
  } finally {
    options.signal.removeEventListener("abort", stop);
  }
}

function searchBody(query: Query): string {
  return JSON.stringify({
    query: query.query,
    max_results: query.maxResults,
    ...(query.days === undefined ? {} : { days: query.days }),
    ...(query.topic === undefined ? {} : { topic: query.topic }),
  });
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_REPLY_BYTES) throw new SyntaxError(`over ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return await new Blob(chunks).text();
}

function readResults(value: unknown, limit: number): JsonValue[] {
  const found = isJsonObject(value) ? member(value, "results") : undefined;
  if (!Array.isArray(found)) throw new SyntaxError("no results");
  return found.filter(isJsonObject).slice(0, limit).map((entry: JsonObject) => {
    const date = inputText(entry, "published_date");
    return {
      title: clip(inputText(entry, "title") ?? "", CAPS.title),
      url: clip(inputText(entry, "url") ?? "", CAPS.url),
      snippet: clip(inputText(entry, "content", "snippet") ?? "", CAPS.snippet),
      ...(date === undefined ? {} : { published_date: clip(date, CAPS.date) }),
    };
  });
}
