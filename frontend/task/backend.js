// @ts-check
/** Types and helpers shared by the presenter's back ends: their inputs and what they report. */

import { rowOf } from "./stage.js";

/**
 * One thing shown: pictures side by side, a text, or the empty stage.
 * @typedef {{name: string, ms: number, pictures?: ImageBitmap[], text?: string, frame?: number}} Phase
 *   `frame`: of a clip, which one it is, from 0
 * @typedef {import("./planner.js").Timing} Timing
 * @typedef {import("./stage.js").StageSize} Size
 * @typedef {object} Shown what is known about a sequence after it was shown
 * @property {Timing} timing
 * @property {number} frame_ms as measured during the sequence
 * @property {boolean} isPageLate whether the page or its frame did the drawing, and was late
 * @property {boolean} isContradicted whether the page observed that the display did not show what the worker
 *   drew in time
 * @typedef {{element: HTMLElement, show: Show, end: () => void, isLost?: () => boolean}} Backend `element` is
 *   the visible one; `isLost`: whether it no longer answers
 * @typedef {{settled: Promise<Shown>, wasDrawn: boolean[]}} Sequence `wasDrawn` by phase: false where it was
 *   skipped
 * @typedef {(serial: number, phases: Phase[], frame_ms: number, onPhase: (phase: Phase | null) => void,
 *   stopped?: AbortSignal) => Promise<Sequence>} Show resolves when the last phase is over; `serial` is
 *   unique and names the sequence in the browser's trace. With `stopped` it is one play of a clip: it ends
 *   early when this says so, and what was shown last stays until something else is drawn
 */

/**
 * Return what is drawn from an edge of a sequence on; null for nothing.
 * @param {Phase[]} phases
 * @param {number} i of the phase that begins, or the number of phases at the end
 * @param {boolean} isPlay whether the last phase stays
 */
export function phaseFrom(phases, i, isPlay) {
  return phases[isPlay ? Math.min(i, phases.length - 1) : i] ?? null;
}

/** @param {Phase[]} phases */
export function anchorOf(phases) {
  return Math.max(
    0,
    phases.findIndex((phase) => phase.name === "stimulus"),
  );
}

/**
 * @param {HTMLElement} stage
 * @param {Size} size
 * @param {string} label
 */
export function addCanvas(stage, size, label) {
  const { width_px, height_px, width_css, height_css } = rowOf(size);
  const canvas = document.createElement("canvas");
  canvas.width = width_px;
  canvas.height = height_px;
  canvas.style.width = `${width_css}px`;
  canvas.style.height = `${height_css}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  stage.append(canvas);
  return canvas;
}
