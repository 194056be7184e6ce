/** What a reader of the documentation finds, as `deno doc` sees it. */
import { assert, assertEquals } from "@std/assert";

interface Declaration {
  readonly kind: string;
  readonly jsDoc?: { readonly doc?: string; readonly tags?: readonly { readonly kind: string }[] };
}

interface Documented {
  readonly name: string;
  readonly declarations: readonly Declaration[];
}

async function documentation(entry: string): Promise<readonly Documented[]> {
  const { stdout, success } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", entry],
    stderr: "inherit",
  }).output();
  assert(success);
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout));
  const modules: readonly { readonly symbols: readonly Documented[] }[] = Object.values(nodes);
  return modules.flatMap(({ symbols }) => symbols);
}

for (const [entry, least] of [["mod.ts", 250], ["src/testing/mod.ts", 20]] as const) {
  Deno.test(`every export of ${entry} is documented, functions and classes with an example`, async () => {
    const exported = await documentation(entry);
    assert(exported.length >= least, `${exported.length} exports`);
    const lacking = exported.flatMap(({ name, declarations }) =>
      declarations.flatMap(({ kind, jsDoc }) => {
        const isCode = kind === "function" || kind === "class";
        const hasExample = jsDoc?.tags?.some((tag) => tag.kind === "example") === true;
        return (jsDoc?.doc ?? "") === "" || (isCode && !hasExample) ? [`${kind} ${name}`] : [];
      })
    );
    assertEquals(lacking, []);
  });
}
