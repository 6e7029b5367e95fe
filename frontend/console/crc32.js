// @ts-check
/**
 * CRC-32 (as in zip and PNG), which browsers compute for no page. Four bytes are taken at a time, each by a
 * table of its own, which is as fast as SHA-256 of the browser ("slicing": Kounavis and Berry, 2005).
 */

const POLYNOMIAL = 0xedb88320;
/** Remainders of each byte, then of each byte that one, two and three zeros follow. */
const TABLES = new Int32Array(4 * 256);
for (let byte = 0; byte < 256; byte += 1) {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1) remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0);
  TABLES[byte] = remainder;
}
for (let i = 256; i < TABLES.length; i += 1)
  TABLES[i] = (TABLES[i - 256] >>> 8) ^ TABLES[TABLES[i - 256] & 255];

/**
 * Return the checksum in 8 hexadecimal digits.
 * @param {Uint8Array} bytes
 */
export function crc32Hex(bytes) {
  let remainder = -1;
  let i = 0;
  for (; i + 4 <= bytes.length; i += 4) {
    remainder ^= bytes[i] | (bytes[i + 1] << 8) | (bytes[i + 2] << 16) | (bytes[i + 3] << 24);
    remainder =
      TABLES[768 + (remainder & 255)] ^
      TABLES[512 + ((remainder >>> 8) & 255)] ^
      TABLES[256 + ((remainder >>> 16) & 255)] ^
      TABLES[remainder >>> 24];
  }
  for (; i < bytes.length; i += 1) remainder = (remainder >>> 8) ^ TABLES[(remainder ^ bytes[i]) & 255];
  return (~remainder >>> 0).toString(16).padStart(8, "0");
}
