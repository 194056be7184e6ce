/**
 * Several providers behind one: the next is asked where one fails.
 *
 * @module
 */
import {
  callModel,
  type CallOptions,
  chooseError,
  type CompleteOptions,
  ConfigError,
  copyError,
  createLedger,
  KitError,
  type KitErrorCode,
  type LlmProvider,
  type LlmResponse,
  type Message,
  notify,
  redact,
  type RetryPolicy,
  type StreamEvent,
  streamModel,
  sumUsage,
  type TraceSink,
  type Usage,
} from "../llm/mod.ts";
import { ambientPorts, type Ports } from "../ports/mod.ts";

/** How {@linkcode createFailoverProvider} and {@linkcode createRouterProvider} call their members. */
export interface MemberOptions {
  /** How often a member is tried before the next; default one attempt each. */
  readonly retry?: RetryPolicy;
  /** Time and chance; default the ambient ports. */
  readonly ports?: Pick<Ports, "clock" | "random">;
  /** Where trace events of the members' calls go; default nowhere. */
  readonly trace?: TraceSink;
  /** Told which member is asked, by its index, before it is; what it throws is swallowed. */
  readonly onSelect?: (index: number, member: LlmProvider) => void;
}

/** Failures after which another endpoint may do better. A refused key or a bad request would be refused there too. */
const PASSING: ReadonlySet<KitErrorCode> = new Set([
  "rate_limit",
  "quota",
  "overloaded",
  "server",
  "timeout",
  "network",
  "bad_response",
]);

/**
 * Makes a provider that asks its members in order until one answers. It can do what every member can do.
 *
 * Each member's attempts are reserved in the caller's ledger. In a stream the next member is asked only before anything was
 * given.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { callModel, createLedger, createScriptedProvider, LlmError } from "@kit/mcp";
 *
 * const down = { complete: () => Promise.reject(new LlmError("server", "Down", { retryable: true })) };
 * const provider = createFailoverProvider([
 *   down,
 *   createScriptedProvider({ script: { produce: ["Paris"] } }),
 * ]);
 * const ledger = createLedger();
 * const messages = [{ role: "user", content: "Capital of France?" }] as const;
 * assertEquals((await callModel(provider, messages, { ledger })).content, "Paris");
 * assertEquals(ledger.spent.llmCalls, 2);
 * ```
 *
 * @param members The providers, at least one, the preferred first.
 * @param options How members are called.
 * @returns The provider.
 * @throws {ConfigError} If there is no member.
 */
export function createFailoverProvider(
  members: readonly LlmProvider[],
  options: MemberOptions = {},
): LlmProvider {
  if (members.length === 0) throw new ConfigError("Cannot fail over: there is no provider");
  return memberProvider(members, {
    ...options,
    name: "failover",
    capability: "every",
    order: () => members,
  });
}

/** A provider made of others, which reserves and retries through `callModel`. */
export function memberProvider(
  members: readonly LlmProvider[],
  options: MemberOptions & {
    readonly name: string;
    readonly capability: "every" | "some";
    readonly order: (
      messages: readonly Message[],
      request: CompleteOptions,
    ) => readonly LlmProvider[];
  },
): LlmProvider {
  const able = (can: "supportsTools" | "supportsReasoning" | "supportsResponseFormat"): boolean =>
    options.capability === "some"
      ? members.some((member) => member[can] === true)
      : members.every((member) => member[can] === true);
  const failover = new Failover(members, options);
  return {
    name: options.name,
    model: members.map(({ model }) => model ?? "unnamed").join("|"),
    supportsTools: able("supportsTools"),
    supportsReasoning: able("supportsReasoning"),
    supportsResponseFormat: able("supportsResponseFormat"),
    metersItself: true,
    redact: (text, length) =>
      members.reduce((masked, { redact: mask = redact }) => mask(masked, length), text),
    complete: (messages, request = {}) => failover.complete(messages, request),
    stream: (messages, request = {}) => failover.stream(messages, request),
  };
}

const ONE_ATTEMPT: RetryPolicy = { maxAttempts: 1 };

class Failover {
  readonly #members: readonly LlmProvider[];
  readonly #options: Parameters<typeof memberProvider>[1];

  constructor(members: readonly LlmProvider[], options: Parameters<typeof memberProvider>[1]) {
    this.#members = members;
    this.#options = options;
  }

  async complete(messages: readonly Message[], request: CompleteOptions): Promise<LlmResponse> {
    const failures: KitError[] = [];
    for (const member of this.#options.order(messages, request)) {
      this.#select(member);
      try {
        return await callModel(member, messages, this.#call(request));
      } catch (error) {
        failures.push(passing(error, failures));
      }
    }
    throw failed(failures);
  }

  async *stream(
    messages: readonly Message[],
    request: CompleteOptions,
  ): AsyncGenerator<StreamEvent, void, void> {
    const failures: KitError[] = [];
    for (const member of this.#options.order(messages, request)) {
      this.#select(member);
      let given = false;
      try {
        for await (const event of streamModel(member, messages, this.#call(request))) {
          given = true;
          yield event;
        }
        return;
      } catch (error) {
        if (given) throw error;
        failures.push(passing(error, failures));
      }
    }
    throw failed(failures);
  }

  #select(member: LlmProvider): void {
    const { onSelect } = this.#options;
    notify((index: number) => onSelect?.(index, member), this.#members.indexOf(member));
  }

  #call(request: CompleteOptions): CallOptions {
    const { ledger, ...rest } = request;
    const { trace } = this.#options;
    const ports = this.#options.ports ?? ambientPorts();
    return {
      ...rest,
      ledger: ledger ?? createLedger({}, { clock: ports.clock }),
      retry: this.#options.retry ?? ONE_ATTEMPT,
      ports,
      ...(trace === undefined ? {} : { trace }),
    };
  }
}

/** A failure that another member may not have; any other is thrown, with what the members before it spent too. */
function passing(error: unknown, before: readonly KitError[]): KitError {
  if (!(error instanceof KitError)) throw error;
  if (PASSING.has(error.code)) return error;
  throw copyError(error, { usage: spentBy([...before, error]) });
}

/** The error that stands for all, with what all of them spent. */
function failed(failures: readonly KitError[]): KitError {
  return copyError(chooseError(failures), { usage: spentBy(failures) });
}

function spentBy(failures: readonly KitError[]): Usage {
  return sumUsage(failures.map(({ usage }) => usage));
}
