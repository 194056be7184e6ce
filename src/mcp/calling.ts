/**
 * What only calls need: the server loads it with the first of them, so that the handshake does not wait for it.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import {
  byteLength,
  encodeLine,
  ErrorCode,
  failure,
  MAX_OUTPUT_BYTES,
  notification,
  type Outgoing,
  type Response,
  success,
} from "../jsonrpc/mod.ts";
import { createValidate } from "./arguments.ts";
import { CallQueue, MAX_RUNNING_CALLS, MAX_WAITING_CALLS } from "./call_queue.ts";
import { ClientRequests } from "./client_requests.ts";
import type { CallRequest } from "./effects.ts";
import { type CallAnswer, type CallEnvironment, executeCall } from "./execute_call.ts";
import { ProgressReporter } from "./progress.ts";
import type { ClientRequest } from "./questions.ts";
import { createStateSealer, type StateSealer } from "./request_state.ts";
import { vocabularyOf } from "./revisions.ts";
import type { ServerOptions, ServerPorts } from "./server_options.ts";
import type { Progress } from "./tool.ts";
import { callResult, failedResult } from "./tool_shapes.ts";

/** UTF-8 has at most this many bytes for one UTF-16 code unit. */
const MAX_BYTES_PER_UNIT = 3;
/** How much of a tool name that the client made up is quoted. */
const MAX_QUOTED_CHARACTERS = 100;

/** Calls tools for a server. */
export class Caller {
  readonly #options: ServerOptions;
  readonly #ports: ServerPorts;
  readonly #clientRequests: ClientRequests;
  readonly #sealer: StateSealer;
  readonly #validate = createValidate();

  /** Lets calls begin. */
  readonly queue: CallQueue;

  /**
   * Starts without having called anything.
   *
   * @param options Of the server.
   * @param ports Clock, chance and log.
   */
  constructor(options: ServerOptions, ports: ServerPorts) {
    const { writer, stateKey } = options;
    this.#options = options;
    this.#ports = ports;
    this.#clientRequests = new ClientRequests(writer, ports);
    this.#sealer = createStateSealer(stateKey, ports);
    this.queue = new CallQueue({
      isCongested: () => writer.isCongested,
      relieved: () => writer.relieved(),
    });
  }

  /** Takes the end of input: nobody can answer a question any more. */
  endInput(): void {
    this.#clientRequests.close();
  }

  /**
   * Takes an answer of the client.
   *
   * @param response The answer.
   * @returns Whether a request of ours waited for it.
   */
  settle(response: Response): boolean {
    return this.#clientRequests.settle(response);
  }

  /**
   * Calls the tool that a request names.
   *
   * @param call The request.
   * @param links What ties it to its connection.
   * @returns The response. Rejects if the tool does.
   */
  async call(
    call: CallRequest,
    links: Pick<CallEnvironment, "signal" | "progress">,
  ): Promise<Outgoing> {
    const { tools, info } = this.#options;
    const tool = (await tools()).find(({ name }) => name === call.name);
    if (tool === undefined) {
      const message = `Unknown tool: ${call.name.slice(0, MAX_QUOTED_CHARACTERS)}`;
      return failure(call.id, { code: ErrorCode.invalidParams, message });
    }
    const environment = {
      ...links,
      tool,
      info,
      validate: this.#validate,
      sealer: this.#sealer,
      log: this.#ports.log,
      ask: (question: ClientRequest) => this.#clientRequests.ask(question, links.signal),
    };
    return this.#bounded(call, await executeCall(call, environment));
  }

  /**
   * Refuses a call because too many others are under way.
   *
   * @param call The request.
   * @returns A failed result with the code `busy`.
   */
  busy(call: CallRequest): Outgoing {
    const problem = `${MAX_RUNNING_CALLS} calls run and ${MAX_WAITING_CALLS} wait already; ` +
      "call again when some of them have ended";
    return this.#failed(call, "busy", problem);
  }

  /**
   * Makes what reports the progress of a call.
   *
   * @param call The request.
   * @param owner By which unsent reports can be taken back from the writer.
   * @returns The reporter, or `undefined` if the client wants no progress.
   */
  reporter(call: CallRequest, owner: unknown): ProgressReporter | undefined {
    const { writer } = this.#options;
    const { progressToken } = call;
    if (progressToken === undefined) return undefined;
    const isWorded = vocabularyOf(call.revision).progressMessage;
    return new ProgressReporter({
      clock: this.#ports.clock,
      send: (report) => {
        if (writer.isCongested) return;
        const params = { progressToken, ...progressParams(report, { isWorded }) };
        writer.push(encodeLine(notification("notifications/progress", params)), { owner });
      },
    });
  }

  /** Answers with a failed result in place of one that no client would read. */
  #bounded(call: CallRequest, answer: CallAnswer): Outgoing {
    if (!answer.ok) return failure(call.id, answer.error);
    const message = success(call.id, answer.result);
    if (!isLongerThan(encodeLine(message), MAX_OUTPUT_BYTES)) return message;
    const problem = `The result is larger than ${MAX_OUTPUT_BYTES} bytes, which clients refuse; ` +
      "it was left out, so ask for less";
    return this.#failed(call, "result-too-large", problem);
  }

  #failed(call: CallRequest, code: string, problem: string): Outgoing {
    const result = failedResult(code, [problem]);
    return success(call.id, callResult(result, call.revision, this.#options.info));
  }
}

function progressParams(report: Progress, options: { readonly isWorded: boolean }): JsonObject {
  const { progress, total, message } = report;
  return {
    progress,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined || !options.isWorded ? {} : { message }),
  };
}

function isLongerThan(line: string, maxBytes: number): boolean {
  if (line.length * MAX_BYTES_PER_UNIT <= maxBytes) return false;
  return line.length > maxBytes || byteLength(line) > maxBytes;
}
