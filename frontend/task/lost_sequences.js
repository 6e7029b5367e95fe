// @ts-check
/** Sequences whose worker or frame no longer answers. */

import { anchorOf } from "./backend.js";
import { planPhases, timingOfCallbacks } from "./planner.js";

/** @typedef {import("./backend.js").Phase} Phase */

/** How much longer than its phases a sequence may take, while the page is seen. */
export const PATIENCE_MS = 3000;

/** @param {Phase[]} phases */
export function longestOf(phases) {
  return phases.reduce((sum, { ms }) => sum + ms, 0) + PATIENCE_MS;
}

/**
 * Return the result for a sequence that was lost: all times unknown, so it counts as mistimed.
 * @param {Phase[]} phases
 * @param {number} frame_ms
 * @returns {import("./backend.js").Shown}
 */
export function unknown(phases, frame_ms) {
  const durations_ms = phases.map(({ ms }) => ms);
  const edges = planPhases(durations_ms, frame_ms, anchorOf(phases));
  const drawn = edges.map(() => null);
  const timing = timingOfCallbacks(edges, drawn, frame_ms, "callback");
  return { timing, frame_ms, isPageLate: false, isContradicted: false };
}
