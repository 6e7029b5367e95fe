import assert from "node:assert/strict";
import { test } from "node:test";

import { loadPictures } from "../../frontend/task/pictures.js";

test("of 64 masks no more stay decoded than those that are kept", async () => {
  const { living, masks } = loaded(64);
  let peak = 0;

  for (let trial = 0; trial < 16; trial += 1) {
    const own = [0, 1, 2, 3].map((k) => 4 * trial + k);
    masks.dropOthers(own);
    await Promise.all(own.map(masks.needed));
    peak = Math.max(peak, living.size);
  }

  assert.equal(peak, 4);
});

test("a picture that was freed is decoded again when it is needed, not fetched", async () => {
  const { living, masks, fetched } = loaded(2);
  await masks.needed(0);
  masks.dropOthers([]);
  await new Promise(setImmediate);
  assert.equal(living.size, 0);

  const again = await masks.needed(0);

  assert.ok(living.has(again));
  assert.deepEqual(fetched, ["/mask/0", "/mask/1"]);
});

/** Return `count` masks to be loaded, the URLs fetched and the bitmaps that are decoded and not closed. */
function loaded(count) {
  const living = new Set();
  const fetched = [];
  globalThis.createImageBitmap = async (_, { resizeWidth }) => {
    const bitmap = { width: resizeWidth, close: () => living.delete(bitmap) };
    living.add(bitmap);
    return bitmap;
  };
  const fetchPicture = async (url) => {
    fetched.push(url);
    return {};
  };
  const urls = Array.from({ length: count }, (_, i) => `/mask/${i}`);
  return { living, fetched, masks: loadPictures(urls, fetchPicture, { px: 512, quality: "high" }) };
}
