// @ts-check
/** Draws a phase on a canvas, on the page or in a worker. */

import { placesOn } from "./stage.js";

const STAGE = "#808080";
const INK = "#111111";

/**
 * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} pen
 * @param {{pictures?: ImageBitmap[], text?: string} | null} phase null clears the stage
 */
export function drawPhase(pen, phase) {
  const { width, height } = pen.canvas;
  const pictures = phase?.pictures ?? [];
  if (pictures.length !== 1) {
    pen.fillStyle = STAGE; // also of the gaps, in which a number of the countdown may stand
    pen.fillRect(0, 0, width, height);
  }
  for (const [i, left] of placesOn(pictures.length, pen.canvas).entries()) {
    pen.imageSmoothingEnabled = height % pictures[i].height !== 0; // a clip's frames have the clip's size
    pen.drawImage(pictures[i], left, 0, height, height);
  }
  if (!phase?.text) return;
  pen.fillStyle = INK;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `600 ${Math.round(height / 4)}px system-ui, sans-serif`;
  pen.fillText(phase.text, width / 2, height / 2);
}

/**
 * Draw a number and clear it: the first text takes milliseconds, because its font is loaded.
 * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} pen
 */
export function warmUp(pen) {
  drawPhase(pen, { text: "3" });
  drawPhase(pen, null);
}
