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
 * @type {import("./medium.js").Medium["show"]}
 */
export async function showStill({ presenter, screen }, stimuli) {
  screen.verdict.textContent = "";
  presenter.draw(still(stimuli));
  await waitFrames(0);
  screen.onset = performance.now();
  return {
    settled: Promise.resolve({ shown_ms: null, frames: null, mask_ms: null, timing: null, flags: [] }),
    moveTo: (other, again) => other.draw(still(again)),
  };
}

/**
 * @param {import("./medium.js").Stimulus[]} stimuli
 * @returns {import("./backend.js").Phase}
 */
function still(stimuli) {
  return { name: "stimulus", ms: Infinity, pictures: /** @type {ImageBitmap[]} */ (stimuli) };
}

/**
 * Return the accessible name of the stage.
 * @param {import("./backend.js").Size} size
 */
export function stageLabel({ pictures: n = 1 }) {
  return n > 1 ? text("pictures.to_judge", { n }) : text("picture.to_judge");
}
