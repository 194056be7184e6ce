/**
 * The tool `send_reply`: records a reply to somebody. It sends nothing: mail is the business of an embedder's own tool.
 *
 * @module
 */
import { countChars, firstChars, type HostTool } from "../../machine/mod.ts";
import { inputText, observation } from "./observation.ts";

/** Most characters of the preview. */
const MAX_PREVIEW_CHARS = 120;

/**
 * Makes the tool.
 *
 * @param options `backend`: `fake` pretends to have sent; anything else only records.
 * @returns The tool.
 */
export function sendReplyTool(options: { readonly backend: string }): HostTool {
  const fake = options.backend === "fake";
  return {
    effect: "effect",
    run(input): string {
      const body = inputText(input, "body", "draft") ?? "";
      const to = inputText(input, "to") ?? "customer";
      const error = body.trim() === "" ? { error: "empty body" } : {};
      const sent = fake && body.trim() !== "";
      return observation({ tool: "send_reply", stub: true, ...error }, {
        to,
        chars: countChars(body),
        preview: preview(body),
        sent,
        recorded: body.trim() !== "",
        delivery: fake ? "fake" : "stub",
        note: fake
          ? "Pretended to send: the mail backend is fake."
          : "Nothing was sent: no mail is bound.",
      });
    },
  };
}

function preview(body: string): string {
  if (countChars(body) <= MAX_PREVIEW_CHARS) return body;
  return firstChars(body, MAX_PREVIEW_CHARS - 3) + "...";
}
