import { assertEquals, assertRejects } from "@std/assert";
import { type ArchiveFile, crc32, tarGz, zip } from "../../scripts/archive.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const FILES: ArchiveFile[] = [
  { name: "kit", bytes: encoder.encode("x".repeat(600)), program: true },
  { name: "LICENSE", bytes: encoder.encode("MIT\n") },
];

Deno.test("crc32() gives the check value of ISO 3309", () => {
  assertEquals(crc32(encoder.encode("123456789")), 0xcbf43926);
});

Deno.test("tarGz() packs names, modes, sizes and content into ustar blocks", async () => {
  const tar = await unpack(await tarGz(FILES), "gzip");
  // header, 600 bytes in two blocks, header, 4 bytes in one block, two empty blocks
  assertEquals(tar.length, 7 * 512);
  assertEquals(field(tar, 0, 100), "kit");
  assertEquals(field(tar, 100, 8), "0000755");
  assertEquals(field(tar, 124, 12), "00000001130");
  assertEquals(field(tar, 257, 6), "ustar");
  assertEquals(field(tar, 3 * 512, 100), "LICENSE");
  assertEquals(field(tar, 3 * 512 + 100, 8), "0000644");
  assertEquals(field(tar, 4 * 512, 512), "MIT\n");
});

Deno.test("tarGz() gives each header the sum of its bytes, the sum itself taken as blanks", async () => {
  const header = (await unpack(await tarGz(FILES), "gzip")).slice(0, 512);
  const stored = parseInt(field(header, 148, 6), 8);
  header.fill(32, 148, 156);
  assertEquals(stored, header.reduce((total, byte) => total + byte, 0));
});

Deno.test("zip() lists every file with its checksum, size, mode and place", async () => {
  const bytes = await zip(FILES);
  const view = new DataView(bytes.buffer);
  const little = true;
  const end = bytes.length - 22;
  assertEquals(view.getUint32(end, little), 0x06054b50);
  assertEquals(view.getUint16(end + 10, little), 2);
  const central = view.getUint32(end + 16, little);
  assertEquals(view.getUint32(central, little), 0x02014b50);
  assertEquals(view.getUint32(central + 16, little), crc32(encoder.encode("x".repeat(600))));
  assertEquals(view.getUint32(central + 24, little), 600);
  assertEquals(view.getUint32(central + 38, little) >>> 16, 0o100755);
  const local = view.getUint32(central + 42, little);
  assertEquals(view.getUint32(local, little), 0x04034b50);
  const packed = bytes.slice(local + 30 + 3, local + 30 + 3 + view.getUint32(central + 20, little));
  assertEquals(decoder.decode(await unpack(packed, "deflate-raw")), "x".repeat(600));
});

Deno.test("tarGz() and zip() give the same bytes for the same files", async () => {
  assertEquals(await tarGz(FILES), await tarGz(FILES));
  assertEquals(await zip(FILES), await zip(FILES));
});

for (const name of ["ä", "x".repeat(100), ""]) {
  Deno.test(`archives refuse the name "${name.slice(0, 5)}" of ${name.length} characters`, async () => {
    const files = [{ name, bytes: encoder.encode("x") }];
    assertEquals(
      (await assertRejects(() => zip(files), RangeError)).message,
      `Cannot archive "${name}": names are ASCII, at most 99 characters`,
    );
    await assertRejects(() => tarGz(files), RangeError);
  });
}

async function unpack(
  bytes: Uint8Array<ArrayBuffer>,
  format: "gzip" | "deflate-raw",
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function field(bytes: Uint8Array<ArrayBuffer>, at: number, length: number): string {
  return decoder.decode(bytes.slice(at, at + length)).replace(/\0.*$/s, "");
}
