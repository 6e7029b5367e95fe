import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { hex, sha256, sha256Hex } from "../../frontend/console/sha256.js";
import { PART_BYTES, header, layout, partRanges, pieces } from "../../frontend/console/tar_stream.js";

const vectors = JSON.parse(readFileSync(new URL("./tar_vectors.json", import.meta.url), "utf8"));
const nodeSha256 = (data) => createHash("sha256").update(data).digest("hex");

/** What the vectors say of the content of files. */
function content(path, size) {
  const seed = createHash("sha256").update(path).digest();
  return new Blob([Buffer.alloc(size, seed)]);
}

async function bytesOf(made, start, stop) {
  const sizes = new Map(made.entries.map(({ path, size }) => [path, size]));
  return Buffer.from(
    await new Blob(pieces(made, start, stop, (path) => content(path, sizes.get(path)))).arrayBuffer(),
  );
}

const laidOut = (vector) => layout(vector.files.map(({ path, bytes }) => ({ path, size: bytes })));

for (const { path, bytes, header: expected } of vectors.headers) {
  test(`the header is that of tarfile: ${path.slice(0, 10)}`, () => {
    assert.equal(Buffer.from(header(path, bytes)).toString("base64"), expected);
  });
}

for (const vector of vectors.archives) {
  test(`the archive is that of tarfile, whole, in parts and in ranges: ${vector.why}`, async () => {
    const made = laidOut(vector);

    assert.deepEqual(
      made.entries.map(({ path }) => path),
      vector.order,
    );
    assert.equal(made.size, vector.bytes);
    assert.equal(nodeSha256(await bytesOf(made, 0, made.size)), vector.sha256);
    const parts = [];
    for (const [start, stop] of partRanges(made.size, vector.part_bytes))
      parts.push(nodeSha256(await bytesOf(made, start, stop)));
    assert.deepEqual(parts, vector.parts);
    for (const { range, sha256: expected } of vector.ranges)
      assert.equal(nodeSha256(await bytesOf(made, ...range)), expected);
  });
}

test("parts are as long as the server wants them", () => {
  assert.equal(PART_BYTES, vectors.part_bytes);
});

for (const [path, size, why] of [
  ["../a.png", 1, /relative/],
  ["/a.png", 1, /relative/],
  ["a//b.png", 1, /relative/],
  ["a\\b.png", 1, /backslash/],
  ["a\n.png", 1, /control/],
  ["\ud800.png", 1, /valid text/],
  ["é".repeat(513), 1, /longer than 1024/],
  ["a.png", -1, /bytes/],
  ["a.png", 8 ** 11, /bytes/],
  ["a.png", NaN, /bytes/],
]) {
  test(`a file that no archive holds is refused: ${JSON.stringify(path.slice(0, 12))} ${size}`, () => {
    assert.throws(() => layout([{ path, size }]), why);
  });
}

test("a path that stands twice, and nothing at all, are refused", () => {
  assert.throws(
    () =>
      layout([
        { path: "a", size: 1 },
        { path: "a", size: 2 },
      ]),
    /twice/,
  );
  assert.throws(() => layout([]), /no files/);
});

// FIPS 180-4's examples (NIST, "Examples with Intermediate Values", SHA-256), and the empty message of CAVP's
// SHA256ShortMsg.rsp.
for (const [message, expected] of [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
  ],
  ["a".repeat(1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"],
]) {
  test(`our SHA-256 is NIST's for ${message.length} characters`, () => {
    assert.equal(hex(sha256(new TextEncoder().encode(message))), expected);
  });
}

test("our SHA-256 is OpenSSL's at every length around a block", async () => {
  for (let length = 50; length < 200; length += 1) {
    const bytes = new Uint8Array(randomBytes(length));
    assert.equal(hex(sha256(bytes)), nodeSha256(bytes));
    assert.equal(await sha256Hex(bytes, undefined), nodeSha256(bytes));
  }
});
