// @ts-check
/**
 * Layout of a folder's tar archive, from which any range of bytes can be read without building the archive.
 *
 * The archive follows from paths and contents alone (paths sorted by their UTF-8 bytes; mode 644, no times,
 * no owners), so that the same folder chosen again continues its upload. `backend/client/tar_stream.py` does
 * the same; both are held together by tests/unit/tar_vectors.json.
 */

export const PART_BYTES = 5 * 1024 * 1024;
const MOST_FILE_BYTES = 8 ** 11 - 1;
const MOST_PATH_BYTES = 1024;
const BLOCK = 512;
const END = 2 * BLOCK;
const NAME_BYTES = 100;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSENDABLE = /[\x00-\x1f\x7f\\]|\p{Surrogate}/u;
const encoder = new TextEncoder();

/**
 * @typedef {{path: string, size: number, offset: number}} Entry a file whose header begins at `offset`
 *   (bytes)
 * @typedef {{entries: Entry[], size: number}} Layout
 */

/**
 * Return the layout of files given by path (relative, with `/`) and length (bytes), in any order.
 * @param {{path: string, size: number}[]} files
 * @returns {Layout}
 */
export function layout(files) {
  let offset = 0;
  let before = "";
  const entries = [...files].sort(byCodePoints).map(({ path, size }) => {
    const problem = unsendable(path, size);
    if (problem) throw new Error(problem);
    if (path === before) throw new Error(`${path} stands twice among the files`);
    const entry = { path, size, offset };
    offset += headerBytes(path) + padded(size);
    before = path;
    return entry;
  });
  if (!entries.length) throw new Error("there are no files to send");
  return { entries, size: offset + END };
}

/**
 * Return why a file cannot be sent; "" if it can.
 * @param {string} path
 * @param {number} size
 */
function unsendable(path, size) {
  if (UNSENDABLE.test(path))
    return `${path} cannot be sent: its name has a control character, a backslash, or no valid text`;
  if (path.split("/").some((part) => ["", ".", ".."].includes(part)))
    return `${path} cannot be sent: a path must be relative, as in cats/1.png`;
  if (encoder.encode(path).length > MOST_PATH_BYTES)
    return `${path.slice(0, 80)}… cannot be sent: its path is longer than ${MOST_PATH_BYTES} bytes`;
  if (!(size >= 0 && size <= MOST_FILE_BYTES))
    return `${path} cannot be sent: it has ${size} bytes, at most ${MOST_FILE_BYTES} are possible`;
  return "";
}

/**
 * Return what stands before the content of a file.
 * @param {string} path
 * @param {number} size
 */
export function header(path, size) {
  const points = Array.from(path).slice(0, NAME_BYTES);
  const ascii = encoder.encode(points.map((point) => (point < "\x80" ? point : "?")).join(""));
  const plain = ustar(ascii, size, 0o644, "0");
  if (!needsPax(path)) return plain;
  const record = paxRecord(path);
  const whole = new Uint8Array(BLOCK + padded(record.length) + BLOCK);
  whole.set(ustar(encoder.encode("././@PaxHeader"), record.length, 0, "x"));
  whole.set(record, BLOCK);
  whole.set(plain, BLOCK + padded(record.length));
  return whole;
}

/**
 * Return the bytes `start` to `stop` (exclusive) of an archive, as pieces of which the files' are not read
 * yet.
 * @param {Layout} archive
 * @param {number} start
 * @param {number} stop
 * @param {(path: string) => Blob} fileOf
 * @returns {(Uint8Array<ArrayBuffer> | Blob)[]}
 */
export function pieces({ entries, size }, start, stop, fileOf) {
  const end = Math.min(stop, size);
  /** @type {(Uint8Array<ArrayBuffer> | Blob)[]} */
  const found = [];
  for (let i = firstAt(entries, start); i < entries.length && entries[i].offset < end; i += 1) {
    found.push(
      ...piecesOf(entries[i], Math.max(0, start - entries[i].offset), end - entries[i].offset, fileOf),
    );
  }
  const zeros = end - Math.max(start, size - END);
  if (zeros > 0) found.push(new Uint8Array(zeros));
  return found;
}

/**
 * Return the first byte and the end (exclusive) of each part of an archive.
 * @param {number} size
 * @param {number} [partBytes]
 * @returns {[number, number][]}
 */
export function partRanges(size, partBytes = PART_BYTES) {
  return Array.from({ length: Math.ceil(size / partBytes) }, (_, i) => [
    i * partBytes,
    Math.min((i + 1) * partBytes, size),
  ]);
}

/**
 * @param {Entry} entry
 * @param {number} start counted from its header
 * @param {number} stop
 * @param {(path: string) => Blob} fileOf
 */
function piecesOf({ path, size }, start, stop, fileOf) {
  /** @type {(Uint8Array<ArrayBuffer> | Blob)[]} */
  const found = [];
  const head = header(path, size);
  if (start < head.length) found.push(head.slice(start, stop));
  const end = head.length + size;
  if (size && start < end && stop > head.length) {
    found.push(fileOf(path).slice(Math.max(0, start - head.length), Math.min(size, stop - head.length)));
  }
  const padding = Math.min(stop, head.length + padded(size)) - Math.max(start, end);
  if (padding > 0) found.push(new Uint8Array(padding));
  return found;
}

/**
 * Return the place of the last entry that begins at or before `start`.
 * @param {Entry[]} entries
 * @param {number} start
 */
function firstAt(entries, start) {
  let low = 0;
  let high = entries.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (entries[middle].offset <= start) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * Return a ustar header block.
 * @param {Uint8Array} name ASCII
 * @param {number} size
 * @param {number} mode
 * @param {string} kind
 */
function ustar(name, size, mode, kind) {
  const block = new Uint8Array(BLOCK);
  const write = (/** @type {number} */ at, /** @type {string} */ text) => block.set(encoder.encode(text), at);
  const octal = (/** @type {number} */ number, /** @type {number} */ digits) =>
    number.toString(8).padStart(digits, "0");
  block.set(name);
  write(
    100,
    `${octal(mode, 7)}\0${"0000000\0".repeat(2)}${octal(size, 11)}\0` +
      `${"0".repeat(11)}\0${" ".repeat(8)}${kind}`,
  );
  write(257, "ustar\x0000");
  write(
    148,
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
  ); // the checksum counts as spaces
  return block;
}

/**
 * Return a record `LENGTH path=PATH\n`; its length includes the digits of the length.
 * @param {string} path
 */
function paxRecord(path) {
  const rest = encoder.encode(` path=${path}\n`);
  let length = rest.length;
  while (rest.length + `${length}`.length !== length) length = rest.length + `${length}`.length;
  return encoder.encode(`${length} path=${path}\n`);
}

/** @param {string} path */
function needsPax(path) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII includes them
  return /[^\x00-\x7f]/.test(path) || path.length > NAME_BYTES;
}

/** @param {string} path */
function headerBytes(path) {
  return needsPax(path) ? 2 * BLOCK + padded(paxRecord(path).length) : BLOCK;
}

/** @param {number} size */
function padded(size) {
  return Math.ceil(size / BLOCK) * BLOCK;
}

/**
 * Compare paths by their code points, which is the order of their UTF-8 bytes; JavaScript compares UTF-16
 * units.
 * @param {{path: string}} one
 * @param {{path: string}} other
 */
function byCodePoints({ path: a }, { path: b }) {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    if (a[i] === b[i]) continue;
    return rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
  }
  return a.length - b.length;
}

/**
 * Return a rank of UTF-16 units by which surrogates, which stand for the highest code points, come last.
 * @param {number} unit
 */
function rank(unit) {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
