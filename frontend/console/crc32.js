// @ts-check
/** CRC-32 (ISO 3309, as in zip and PNG), which browsers compute for no page. */

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte;
  for (let bit = 0; bit < 8; bit += 1)
    remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1;
  return remainder;
});

/**
 * Return the checksum in 8 hexadecimal digits.
 * @param {Uint8Array} bytes
 */
export function crc32Hex(bytes) {
  let remainder = -1;
  for (let i = 0; i < bytes.length; i += 1)
    remainder = (remainder >>> 8) ^ TABLE[(remainder ^ bytes[i]) & 255];
  return (~remainder >>> 0).toString(16).padStart(8, "0");
}
