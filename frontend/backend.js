// @ts-check
/** What the presenter's back ends have in common: what they are given, and what they tell. */

/**
 * One thing shown: a picture, a text, or the empty stage.
 * @typedef {{name: string, ms: number, picture?: ImageBitmap, text?: string}} Phase
 * @typedef {import("./planner.js").Timing} Timing
 * @typedef {{css: number, px: number}} Size of the pictures: CSS pixels, and those of their files
 * @typedef {object} Shown what is known of a sequence that was shown
 * @property {Timing} timing
 * @property {number} frame_ms as measured during the sequence
 * @property {boolean} isPageLate whether the page or its frame drew, and was late
 * @property {boolean} isContradicted whether the page saw the display not show what the worker had drawn in time
 * @typedef {{element: HTMLElement, show: Show, end: () => void}} Backend `element` is what is seen
 * @typedef {{settled: Promise<Shown>, wasDrawn: boolean[]}} Sequence `wasDrawn` by phase: false where it was skipped
 * @typedef {(serial: number, phases: Phase[], frame_ms: number, onPhase: (phase: Phase | null) => void) => Promise<Sequence>} Show
 *   ends when the last phase is over; `serial` names the sequence in the browser's trace, and is no other's
 */

/** @param {Phase[]} phases */
export function anchorOf(phases) {
  return Math.max(0, phases.findIndex((phase) => phase.name === "stimulus"));
}

/**
 * @param {HTMLElement} stage
 * @param {Size} size
 */
export function addCanvas(stage, { css, px }) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = px;
  canvas.style.width = canvas.style.height = `${css}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "The picture to judge");
  stage.append(canvas);
  return canvas;
}
