// deno-lint-ignore-file no-console -- a chore prints
/**
 * Runs all tests, part by part, each with the permissions that its task gives. A part that fails does not keep the others
 * from being run.
 *
 * @module
 */
const PARTS = ["test:unit", "test:io", "test:e2e"];

const failed: string[] = [];
for (const part of PARTS) {
  const child = new Deno.Command(Deno.execPath(), { args: ["task", part] }).spawn();
  const { success } = await child.status;
  if (!success) failed.push(part);
}
if (failed.length > 0) {
  console.error(`Failed: ${failed.map((part) => `deno task ${part}`).join(", ")}`);
  Deno.exit(1);
}
