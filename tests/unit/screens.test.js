import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { stageSize } from "../../frontend/screens.js";

const wide = { width: 1280, height: 800, pixel_ratio: 1 };
const phone = { width: 360, height: 640, pixel_ratio: 1 };

test("small pictures are enlarged by a whole number, without smoothing: 32 px to 12 times 32", () => {
  assert.deepEqual(stageSize(32, wide), { css: 384, px: 384, quality: "pixelated" });
});

test("on a phone the whole number is what fits: 10 times 32 in 328 CSS px", () => {
  assert.deepEqual(stageSize(32, phone), { css: 320, px: 320, quality: "pixelated" });
});

test("it is device pixels that are whole: 32 px at a ratio of 1.25 are 15 times 32 of 480", () => {
  assert.deepEqual(stageSize(32, { ...wide, pixel_ratio: 1.25 }), { css: 384, px: 480, quality: "pixelated" });
});

test("a picture that fits is shown at its own size, one larger than the window is reduced", () => {
  assert.deepEqual(stageSize(256, wide), { css: 256, px: 256, quality: "high" });
  assert.deepEqual(stageSize(1024, wide), { css: 550, px: 550, quality: "high" });
});

test("no picture leaves the window, whatever its size and the display", () => {
  for (const size of [17, 32, 64, 100, 255, 256, 512, 1024]) {
    for (const pixel_ratio of [1, 1.25, 1.5, 2, 2.625, 3]) {
      for (const display of [wide, phone]) {
        const { css, px } = stageSize(size, { ...display, pixel_ratio });

        assert.ok(css <= Math.min(display.width - 32, display.height - 250) + 1e-9);
        assert.equal(px, Math.round(px));
      }
    }
  }
});

test("the largest stage is what the photosensitivity check takes it for", () => {
  const vectors = JSON.parse(readFileSync(new URL("stage_vectors.json", import.meta.url), "utf8"));
  for (const { size_px, largest_css } of vectors) {
    const widths = [1, 1.25, 1.5, 2, 2.625, 3, 25].map((pixel_ratio) => {
      return stageSize(size_px, { width: 5000, height: 5000, pixel_ratio }).css;
    });

    assert.ok(Math.max(...widths) <= largest_css + 0.5); // the width is whole device pixels
    assert.ok(Math.max(...widths) > largest_css - 8);
  }
});
