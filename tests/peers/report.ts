// deno-lint-ignore-file no-console -- a chore prints
/**
 * Counts checks against peers and prints one line for each.
 *
 * @module
 */
import { MissingPeer } from "./install.ts";

/** Collects what came of the checks. */
export class Report {
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  readonly #failures: string[] = [];

  /** Whether nothing failed. */
  get ok(): boolean {
    return this.#failed === 0;
  }

  /** Records a check that held. */
  pass(name: string, detail = ""): void {
    this.#passed += 1;
    console.log(
      `ok    ${name}${detail === "" ? "" : ` (${detail.replaceAll(/\s+/g, " ").trim()})`}`,
    );
  }

  /** Records a check that did not hold. */
  fail(name: string, detail: string): void {
    this.#failed += 1;
    this.#failures.push(`${name}: ${detail}`);
    console.log(`FAIL  ${name}: ${detail}`);
  }

  /** Records a check that could not be made. */
  skip(name: string, reason: string): void {
    this.#skipped += 1;
    console.log(`skip  ${name}: ${reason}`);
  }

  /** Records a check by its outcome. */
  check(name: string, outcome: { readonly ok: boolean; readonly detail?: string }): void {
    if (outcome.ok) this.pass(name, outcome.detail);
    else this.fail(name, outcome.detail ?? "does not hold");
  }

  /**
   * Runs a group of checks. A peer that cannot be installed skips it; anything else that is thrown fails it.
   *
   * @param name What the group is called in the report.
   * @param body Makes the checks.
   */
  async group(name: string, body: () => Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      if (error instanceof MissingPeer) this.skip(name, error.message);
      else this.fail(name, error instanceof Error ? error.message : String(error));
    }
  }

  /** Prints the failures again and the closing line. */
  end(): void {
    if (this.#failures.length > 0) console.log("\nFailures:");
    for (const failure of this.#failures) console.log(`  ${failure}`);
    console.log(`\n${this.#passed} passed, ${this.#failed} failed, ${this.#skipped} skipped`);
  }
}
