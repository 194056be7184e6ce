/**
 * Keeps every answer of a run in a file: `kit run --record`. The file is looked at before anything is spent.
 *
 * @module
 */
import type { HostOptions } from "../host/mod.ts";
import { isJsonObject, type JsonValue } from "../json/mod.ts";
import { createRecorder } from "../machine/mod.ts";
import { FileError, type Files } from "../ports/mod.ts";
import { InputError, UsageError } from "./arguments.ts";
import type { Invocation } from "./command.ts";
import { EXIT } from "./exit_codes.ts";
import { type Output, printable } from "./output.ts";

/** The member by which a recording is known. */
const MARK = "recording";

/** A file that takes the recording of one run. */
export interface Recording {
  /** What the host is to be made with. */
  options(machine: string): Partial<HostOptions>;
  /** Says if the file could not be written, after the result: then what would be 0 is 2. */
  report(code: number, out: Output): Promise<number>;
}

/**
 * Looks whether a recording can be kept where `--record` says.
 *
 * @param invocation The flags and files.
 * @returns The recording; `undefined` if none was asked for.
 * @throws {UsageError} If something is there that is no recording of Kit.
 * @throws {InputError} If nothing can be written there.
 */
export async function openRecording(
  { args, context }: Invocation,
): Promise<Recording | undefined> {
  const file = args.value("record");
  if (file === undefined) return undefined;
  const { files } = context.ports;
  await judge(file, files);
  let failure: FileError | undefined;
  const write = async (value: unknown): Promise<void> => {
    try {
      await files.writeAtomic(file, `${JSON.stringify(value, null, 2)}\n`);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      failure = error;
    }
  };
  return {
    options: (path) => ({
      wrapRun: (machine, options, start) => {
        const recorder = createRecorder(machine, options, start);
        const ended = recorder.recording.bind(recorder);
        return {
          options: recorder.options,
          ended: (result) => write({ ...ended(result), path }),
        };
      },
    }),
    report: async (code, out) => {
      if (failure === undefined) return code;
      const text = `The recording could not be written: ${failure.message}`;
      await out.error(`${out.styleError("red", "error:")} ${printable(text)}`);
      return code === EXIT.ok ? EXIT.usage : code;
    },
  };
}

/** Writes a file beside the one that is meant and removes it, since only that tells whether one can be written. */
async function judge(file: string, files: Files): Promise<void> {
  const there = await files.lstat(file);
  if (there !== undefined && !(there.kind === "file" && isRecording(await files.readText(file)))) {
    throw new UsageError(
      `--record writes over a recording alone, and "${file}" is none: name another file`,
    );
  }
  const trial = `${file}.trial`;
  try {
    await files.writeAtomic(trial, "", { exclusive: true });
    await files.remove(trial);
  } catch (error) {
    if (!(error instanceof FileError) || error.failure === "exists") return;
    const { message } = new FileError(error.failure, file);
    throw new InputError(`--record cannot be written: ${message}`, { cause: error });
  }
}

/** Whether a text is what `kit run --record` writes. */
function isRecording(text: string): boolean {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) && value[MARK] === 1 && Object.hasOwn(value, "answers");
  } catch {
    return false;
  }
}
