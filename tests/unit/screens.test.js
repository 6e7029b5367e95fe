import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { stageSize } from "../../frontend/screens.js";

const vectors = JSON.parse(readFileSync(new URL("stage_vectors.json", import.meta.url), "utf8"));
const RATIOS = [1, 1.1, 1.25, 1.5, 1.75, 2, 2.625, 3, 25];
const SIZES = [16, 17, 32, 64, 100, 200, 255, 256, 300, 512, 513, 1024, 2048];

for (const { why, size_px, largest_css, width, height, pixel_ratio, css, px, quality } of vectors.shown) {
  test(`${size_px} px in ${width} x ${height} at ${pixel_ratio}: ${why}`, () => {
    assert.deepEqual(stageSize(size_px, largest_css, { width, height, pixel_ratio }), { css, px, quality });
  });
}

test("no picture leaves the window, whatever its size and the display", () => {
  for (const size of SIZES) {
    for (const pixel_ratio of RATIOS) {
      for (const display of [{ width: 1280, height: 800 }, { width: 360, height: 640 }, { width: 800, height: 360 }]) {
        const { css, px } = stageSize(size, 512, { ...display, pixel_ratio });

        assert.ok(css <= Math.min(display.width - 32, display.height - 180) + 1e-9);
        assert.equal(px, Math.round(px));
      }
    }
  }
});

test("what is not smoothed is a whole number of times as large, and uses three quarters of the room", () => {
  for (const size of SIZES) {
    for (const pixel_ratio of RATIOS) {
      const { css, px, quality } = stageSize(size, 512, { width: 1280, height: 800, pixel_ratio });

      assert.equal(quality, px % size === 0 ? "pixelated" : "high");
      assert.ok(css > 0.75 * 512 - 1 || quality === "high");
      assert.ok(css > 511 || quality === "pixelated");
    }
  }
});

test("on any display the stage is at most as large as the photosensitivity check takes it for, and nearly so on some", () => {
  for (const { size_px, largest_css } of vectors.largest) {
    const widths = RATIOS.map((pixel_ratio) => stageSize(size_px, largest_css, { width: 5000, height: 5000, pixel_ratio }).css);

    assert.ok(Math.max(...widths) <= largest_css);
    assert.ok(Math.max(...widths) > largest_css - 8);
  }
});
