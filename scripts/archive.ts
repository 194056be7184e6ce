/**
 * Writes the two kinds of archives of a release: `.tar.gz` (POSIX ustar, gzip) and `.zip` (PKWARE APPNOTE 6.3, deflate).
 *
 * Times are fixed, so that the same files give the same bytes.
 *
 * @module
 */

/** A file of an archive. */
export interface ArchiveFile {
  /** Its name, ASCII, at most 99 characters. */
  readonly name: string;
  /** Its content. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether it is a program. */
  readonly program?: boolean;
}

const BLOCK = 512;
const MAX_NAME = 99;
const LITTLE_ENDIAN = true;
const encoder = new TextEncoder();

/**
 * Packs files into a gzipped tar archive.
 *
 * @param files The files, in order.
 * @returns The archive.
 */
export async function tarGz(files: readonly ArchiveFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const parts = files.flatMap((file) => [
    tarHeader(file),
    file.bytes,
    new Uint8Array((BLOCK - file.bytes.length % BLOCK) % BLOCK),
  ]);
  return await compress(concat([...parts, new Uint8Array(2 * BLOCK)]), "gzip");
}

/**
 * Packs files into a zip archive.
 *
 * @param files The files, in order.
 * @returns The archive.
 */
export async function zip(files: readonly ArchiveFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const file of files) {
    const packed = await compress(file.bytes, "deflate-raw");
    const name = encoder.encode(checkedName(file.name));
    const fields = zipFields(file, { packed: packed.length, name: name.length });
    const local = concat([numbers([[0x04034b50, 4], [20, 2]]), fields, name, packed]);
    directory.push(concat([
      numbers([[0x02014b50, 4], [0x0314, 2], [20, 2]]),
      fields,
      numbers([[0, 2], [0, 2], [0, 2], [unixMode(file) * 0x10000, 4], [offset, 4]]),
      name,
    ]));
    parts.push(local);
    offset += local.length;
  }
  const central = concat(directory);
  const count: [number, number] = [files.length, 2];
  const end = numbers([
    [0x06054b50, 4],
    [0, 2],
    [0, 2],
    count,
    count,
    [central.length, 4],
    [offset, 4],
    [0, 2],
  ]);
  return concat([...parts, central, end]);
}

/**
 * The checksum of zip archives.
 *
 * @param bytes What to sum.
 * @returns CRC-32 (ISO 3309), unsigned.
 */
export function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (CRC_TABLE[(sum ^ byte) & 0xff] ?? 0) ^ (sum >>> 8);
  return (sum ^ 0xffffffff) >>> 0;
}

const CRC_TABLE: readonly number[] = Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

function tarHeader(file: ArchiveFile): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(BLOCK);
  const put = (text: string, at: number): void => header.set(encoder.encode(text), at);
  const octal = (value: number, digits: number): string =>
    `${value.toString(8).padStart(digits, "0")}\0`;
  put(checkedName(file.name), 0);
  put(octal(unixMode(file) & 0o777, 7), 100);
  put(octal(0, 7), 108);
  put(octal(0, 7), 116);
  put(octal(file.bytes.length, 11), 124);
  put(octal(0, 11), 136);
  put(" ".repeat(8), 148);
  put("0", 156);
  put("ustar\x0000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

/** What the local header and the directory of a zip archive have in common. */
function zipFields(
  file: ArchiveFile,
  length: { readonly packed: number; readonly name: number },
): Uint8Array<ArrayBuffer> {
  const DEFLATE = 8;
  const MIDNIGHT = 0;
  const FIRST_OF_1980 = 0x21;
  return numbers([
    [0, 2],
    [DEFLATE, 2],
    [MIDNIGHT, 2],
    [FIRST_OF_1980, 2],
    [crc32(file.bytes), 4],
    [length.packed, 4],
    [file.bytes.length, 4],
    [length.name, 2],
    [0, 2],
  ]);
}

function unixMode({ program }: ArchiveFile): number {
  return program === true ? 0o100755 : 0o100644;
}

function checkedName(name: string): string {
  if (/^[\x20-\x7e]+$/.test(name) && name.length <= MAX_NAME) return name;
  throw new RangeError(`Cannot archive "${name}": names are ASCII, at most ${MAX_NAME} characters`);
}

function numbers(
  fields: readonly (readonly [value: number, size: number])[],
): Uint8Array<ArrayBuffer> {
  return concat(fields.map(([value, size]) => {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, value, LITTLE_ENDIAN);
    return bytes.slice(0, size);
  }));
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

async function compress(
  bytes: Uint8Array<ArrayBuffer>,
  format: "gzip" | "deflate-raw",
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
