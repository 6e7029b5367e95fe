// @ts-check
/** Draws a phase on a canvas, on the page or in a worker. */

const STAGE = "#808080";
const INK = "#111111";

/**
 * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} pen
 * @param {{picture?: ImageBitmap, text?: string} | null} phase null clears the stage
 */
export function drawPhase(pen, phase) {
  const { width, height } = pen.canvas;
  if (phase?.picture) {
    pen.drawImage(phase.picture, 0, 0, width, height);
    return;
  }
  pen.fillStyle = STAGE;
  pen.fillRect(0, 0, width, height);
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
