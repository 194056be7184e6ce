/**
 * `--log-level`.
 *
 * @module
 */
import type { LogLevel, Ports } from "../ports/mod.ts";

const LEVELS: readonly LogLevel[] = ["error", "warning", "info", "debug"];

/**
 * Ports whose log drops what is below a level.
 *
 * @param ports The ports.
 * @param flag The flag's value; absent: `KIT_LOG_LEVEL`, `MKLANG_LOG_LEVEL`, else `warning`.
 * @returns The same ports with another log.
 */
export function leveled(ports: Ports, flag: string | undefined): Ports {
  const { env, log } = ports;
  const wanted = flag ?? env.get("KIT_LOG_LEVEL") ?? env.get("MKLANG_LOG_LEVEL");
  const level = LEVELS.find((level) => level === wanted) ?? "warning";
  const most = LEVELS.indexOf(level);
  return {
    ...ports,
    log: {
      write(severity, message) {
        if (LEVELS.indexOf(severity) <= most) log.write(severity, message);
      },
    },
  };
}
