// @ts-check
/**
 * SHA-256 (FIPS 180-4). Browsers offer it to pages from a secure context only, and a server in a laboratory's
 * network is often reached without TLS; there it is computed here.
 */

const K = constants();
const START = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];
const BLOCK = 64;

/**
 * Return the digest in hexadecimal, by the browser if it can, or else by `sha256`.
 * @param {Uint8Array<ArrayBuffer>} bytes
 * @param {SubtleCrypto | undefined} [subtle]
 */
export async function sha256Hex(bytes, subtle = globalThis.crypto?.subtle) {
  return hex(subtle ? new Uint8Array(await subtle.digest("SHA-256", bytes)) : sha256(bytes));
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Return the digest, 32 bytes.
 * @param {Uint8Array} bytes
 */
export function sha256(bytes) {
  const state = Int32Array.from(START);
  const words = new Int32Array(BLOCK);
  const whole = bytes.length - (bytes.length % BLOCK);
  addBlocks(state, words, bytes, whole);
  const rest = padded(bytes.subarray(whole), bytes.length);
  addBlocks(state, words, rest, rest.length);
  const digest = new DataView(new ArrayBuffer(32));
  for (const [i, word] of state.entries()) digest.setInt32(4 * i, word);
  return new Uint8Array(digest.buffer);
}

/**
 * Return the last blocks: the rest of the message, a 1, zeros, and the message's length in bits.
 * @param {Uint8Array} rest
 * @param {number} length of the message in bytes
 */
function padded(rest, length) {
  const blocks = new Uint8Array(rest.length + 9 > BLOCK ? 2 * BLOCK : BLOCK);
  blocks.set(rest);
  blocks[rest.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setUint32(blocks.length - 8, Math.floor(length / 2 ** 29));
  view.setUint32(blocks.length - 4, (8 * length) >>> 0);
  return blocks;
}

/**
 * @param {Int32Array} state is changed
 * @param {Int32Array} w room for the 64 words of a block
 * @param {Uint8Array} bytes
 * @param {number} end a multiple of 64
 */
function addBlocks(state, w, bytes, end) {
  for (let at = 0; at < end; at += BLOCK) {
    for (let i = 0; i < 16; i += 1) {
      const j = at + 4 * i;
      w[i] = (bytes[j] << 24) | (bytes[j + 1] << 16) | (bytes[j + 2] << 8) | bytes[j + 3];
    }
    for (let i = 16; i < 64; i += 1) {
      const x = w[i - 15];
      const y = w[i - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let a = state[0];
    let b = state[1];
    let c = state[2];
    let d = state[3];
    let e = state[4];
    let f = state[5];
    let g = state[6];
    let h = state[7];
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
  }
}

/**
 * Return the first 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
 */
function constants() {
  const found = new Int32Array(64);
  for (let number = 2, i = 0; i < 64; number += 1) {
    if (!isPrime(number)) continue;
    found[i] = cubeRootFraction(BigInt(number));
    i += 1;
  }
  return found;
}

/** @param {number} number */
function isPrime(number) {
  for (let factor = 2; factor * factor <= number; factor += 1) if (number % factor === 0) return false;
  return true;
}

/**
 * Return 32 bits after the point of a cube root, exactly: the cube root of `number` * 2**96, to the integer
 * below.
 * @param {bigint} number
 */
function cubeRootFraction(number) {
  const cube = number << 96n;
  let low = 0n;
  let high = 1n << 36n;
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** 3n <= cube) low = middle;
    else high = middle;
  }
  return Number(low & 0xffffffffn) | 0;
}
