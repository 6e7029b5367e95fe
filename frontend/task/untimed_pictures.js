// @ts-check
/** Pictures without time limit: the page draws them, and they stay until the next one. */

import { addCanvas } from "./backend.js";
import { waitFrames } from "./frames.js";
import { drawPhase } from "./painting.js";
import { text } from "../texts/texts.js";

/**
 * Create a canvas that fills the stage; return what draws on it.
 * @param {HTMLElement} stage
 * @param {import("./backend.js").Size} size
 */
export function makeStill(stage, size) {
  const canvas = addCanvas(stage, size, stageLabel(size));
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  drawPhase(pen, null);
  return {
    draw: (/** @type {import("./backend.js").Phase} */ phase) => drawPhase(pen, phase),
    end: () => canvas.remove(),
  };
}

/**
 * Show the pictures of a trial until it ends; return what is stored of that.
 * @param {{presenter: {draw: (phase: import("./backend.js").Phase) => void}, medium:
 *   import("./medium.js").Medium, screen: {verdict: HTMLElement, onset: number}}} scene
 * @param {ImageBitmap[]} pictures
 * @returns {Promise<{settled: Promise<import("./trials.js").Seen>}>}
 */
export async function showStill({ presenter, medium, screen }, pictures) {
  screen.verdict.textContent = "";
  presenter.draw(medium.phase(pictures, Infinity));
  await waitFrames(0);
  screen.onset = performance.now();
  return {
    settled: Promise.resolve({ shown_ms: null, frames: null, mask_ms: null, timing: null, flags: [] }),
  };
}

/**
 * Return the accessible name of the stage.
 * @param {import("./backend.js").Size} size
 */
export function stageLabel({ pictures: n = 1 }) {
  return n > 1 ? text("pictures.to_judge", { n }) : text("picture.to_judge");
}
