import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { drawPhase } from "../../frontend/task/painting.js";
import { placesOn, rowOf, stageSize } from "../../frontend/task/stage.js";

const vectors = JSON.parse(readFileSync(new URL("stage_vectors.json", import.meta.url), "utf8"));
const RATIOS = [1, 1.1, 1.25, 1.5, 1.75, 2, 2.625, 3, 25];
const SIZES = [16, 17, 32, 64, 100, 200, 255, 256, 300, 512, 513, 1024, 2048];

for (const { why, size_px, largest_css, width, height, pixel_ratio, css, px, quality } of vectors.shown) {
  test(`${size_px} px in ${width} x ${height} at ${pixel_ratio}: ${why}`, () => {
    assert.deepEqual(stageSize(size_px, largest_css, { width, height, pixel_ratio }), {
      css,
      px,
      quality,
      pictures: 1,
      gap_px: 0,
    });
  });
}

test("no picture leaves the window, whatever its size and the display", () => {
  for (const size of SIZES) {
    for (const pixel_ratio of RATIOS) {
      for (const display of [
        { width: 1280, height: 800 },
        { width: 360, height: 640 },
        { width: 800, height: 360 },
      ]) {
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

test("the stage is at most as large as the photosensitivity check assumes, and nearly so on some", () => {
  for (const { size_px, largest_css } of vectors.largest) {
    const widths = RATIOS.map(
      (pixel_ratio) => stageSize(size_px, largest_css, { width: 5000, height: 5000, pixel_ratio }).css,
    );

    assert.ok(Math.max(...widths) <= largest_css);
    assert.ok(Math.max(...widths) > largest_css - 8);
  }
});

const WINDOWS = [
  [1280, 800],
  [390, 844],
  [320, 568],
  [844, 390],
  [1024, 600],
  [2560, 1300],
];

test("pictures side by side fit the window with their gaps, at whole device pixels", () => {
  for (const pictures of [2, 3]) {
    for (const size_px of SIZES) {
      for (const pixel_ratio of RATIOS) {
        for (const [width, height] of WINDOWS) {
          const size = stageSize(size_px, 512, { width, height, pixel_ratio }, { pictures });
          const { width_px, height_px, width_css } = rowOf(size);

          assert.ok(
            width_css <= width - 32 + 1e-9,
            `${pictures} of ${size_px} px in ${width} px at ${pixel_ratio}`,
          );
          assert.ok(size.css <= height - 180 + 1e-9);
          assert.ok(size.gap_px >= 8 * pixel_ratio - 1 && size.gap_px <= 24 * pixel_ratio);
          assert.equal(width_px, pictures * size.px + (pictures - 1) * size.gap_px);
          const places = placesOn(pictures, { width: width_px, height: height_px });
          assert.deepEqual(
            places,
            Array.from({ length: pictures }, (_, i) => i * (size.px + size.gap_px)),
          );
          assert.equal(size.quality, size.px % size_px === 0 ? "pixelated" : "high");
        }
      }
    }
  }
});

test("on a phone two pictures are 175 px wide, three 114; on a laptop their height decides", () => {
  const phone = { width: 390, height: 844, pixel_ratio: 3 };
  const css = (/** @type {number} */ pictures, display = phone) =>
    stageSize(1000, 768, display, { pictures }).css;

  assert.equal(css(2), (390 - 32 - 8) / 2);
  assert.equal(css(3), (390 - 32 - 2 * 8) / 3);
  assert.equal(css(2, { width: 1024, height: 600, pixel_ratio: 1 }), 600 - 180);
});

/** @param {{width: number, height: number}} canvas */
function recordingPen(canvas) {
  /** @type {unknown[][]} */
  const drawn = [];
  return {
    canvas,
    drawn,
    fillRect: (/** @type {number[]} */ ...box) => drawn.push(["gray", ...box]),
    drawImage: (/** @type {unknown[]} */ ...call) => drawn.push(call),
    fillText: () => drawn.push(["text"]),
  };
}

test("a pair is drawn at once, with the gray of the gap restored, and its mask over both", () => {
  const pen = recordingPen({ width: 220, height: 100 });

  drawPhase(/** @type {any} */ (pen), { pictures: /** @type {any} */ (["a", "b"]) });
  drawPhase(/** @type {any} */ (pen), { pictures: /** @type {any} */ (["mask", "mask"]) });

  const gray = ["gray", 0, 0, 220, 100];
  assert.deepEqual(pen.drawn, [
    gray,
    ["a", 0, 0, 100, 100],
    ["b", 120, 0, 100, 100],
    gray,
    ["mask", 0, 0, 100, 100],
    ["mask", 120, 0, 100, 100],
  ]);
});

test("a single picture fills the stage, and nothing else is drawn", () => {
  const pen = recordingPen({ width: 100, height: 100 });

  drawPhase(/** @type {any} */ (pen), { pictures: /** @type {any} */ (["a"]) });

  assert.deepEqual(pen.drawn, [["a", 0, 0, 100, 100]]);
});
