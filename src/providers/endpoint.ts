/**
 * Where an endpoint is, and what is shown of it.
 *
 * @module
 */
import { ConfigError, createRedactor, redact, type Redactor } from "../llm/mod.ts";

/** What an endpoint is made of. */
export interface EndpointOptions {
  /** The base URL, `http` or `https`. A query string in it is kept. */
  readonly baseUrl: string;
  /** The path of the calls below the base, such as `/chat/completions`. */
  readonly path: string;
  /** Further query parameters. */
  readonly query?: Readonly<Record<string, string>>;
}

/**
 * Builds the URL of the calls. Private and loopback addresses are allowed on purpose: local model servers are a main use.
 *
 * @param options The base and the path; a base that ends with the path already is taken as it is.
 * @returns The URL.
 * @throws {ConfigError} If the base is no http(s) URL with a host, or has a user, a password or a fragment.
 */
export function endpointUrl(options: EndpointOptions): URL {
  const { path } = options;
  const url = parseBase(options.baseUrl.trim());
  const base = url.pathname.replace(/\/+$/, "");
  url.pathname = base.endsWith(path) ? base : base + path;
  for (const [name, value] of Object.entries(options.query ?? {})) {
    url.searchParams.set(name, value);
  }
  return url;
}

function parseBase(baseUrl: string): URL {
  if (baseUrl === "") {
    throw new ConfigError('The base URL is empty: write one such as "http://localhost:11434/v1"');
  }
  if (!/^https?:\/\//i.test(baseUrl)) {
    throw new ConfigError(
      `Cannot use base URL "${
        withoutSecrets(baseUrl)
      }": it does not begin with "http://" or "https://"`,
    );
  }
  if (!URL.canParse(baseUrl)) {
    throw new ConfigError(`Cannot use base URL "${withoutSecrets(baseUrl)}": it is not a URL`);
  }
  const url = new URL(baseUrl);
  if (url.username !== "" || url.password !== "") {
    throw new ConfigError(
      `Cannot use base URL "${
        showUrl(url)
      }": it has a user or a password in it; give the key as apiKey`,
    );
  }
  if (url.hash !== "") {
    throw new ConfigError(`Cannot use base URL "${showUrl(url)}": it has a fragment`);
  }
  return url;
}

/** What is shown of an address that cannot be read: nothing up to the last `@`, no query, no secret that looks like one. */
function withoutSecrets(text: string): string {
  const [address = ""] = text.split(/[?#]/, 1);
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(address)?.[0] ?? "";
  const host = address.slice(Math.max(scheme.length, address.lastIndexOf("@") + 1));
  return redact(scheme + host).slice(0, MAX_SHOWN_URL);
}

const MAX_SHOWN_URL = 200;

/**
 * What is shown of a URL: neither user, password, query nor fragment.
 *
 * @param url The URL.
 * @returns Scheme, host and path.
 */
export function showUrl(url: URL): string {
  return (url.origin + url.pathname).slice(0, MAX_SHOWN_URL);
}

const SECRET_NAME = /key|auth|token|secret|cookie|password|signature|credential/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/**
 * Cleans an API key.
 *
 * @param apiKey The key as configured.
 * @returns The key without white space around it, or `undefined` if nothing is left: keyless servers are common.
 * @throws {ConfigError} If it has characters that no header may have. The key is not shown.
 */
export function cleanKey(apiKey: string | undefined): string | undefined {
  const key = apiKey?.trim() ?? "";
  if (key === "") return undefined;
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ConfigError(
      "Cannot use the API key: it has a space, a line break or a character outside of ASCII in it",
    );
  }
  return key;
}

/**
 * Checks further headers.
 *
 * @param headers The headers as configured.
 * @throws {ConfigError} If a name or a value cannot be sent. Values are not shown.
 */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) {
      throw new ConfigError(
        `Cannot send header "${name}": its name or value is not allowed in HTTP`,
      );
    }
  }
}

/**
 * Makes the redactor of an endpoint: it knows the key, and the headers and query parameters that are named like secrets.
 *
 * @param options The secrets in their places.
 * @returns The redactor.
 */
export function endpointRedactor(
  options: {
    readonly apiKey: string | undefined;
    readonly headers: Readonly<Record<string, string>>;
    readonly url: URL;
  },
): Redactor {
  const named = [...Object.entries(options.headers), ...options.url.searchParams];
  const secrets = named.filter(([name]) => SECRET_NAME.test(name)).flatMap(([, value]) => [
    value,
    // an endpoint quotes the token without its scheme, or one cookie of several
    ...value.split(/[\s;,=]+/),
  ]);
  return createRedactor({
    secrets: options.apiKey === undefined ? secrets : [options.apiKey, ...secrets],
  });
}
