// @ts-check
/**
 * Shows a sequence of phases (countdown, picture, masks) on a canvas, each for its planned number of
 * refreshes, and tells what was really shown.
 *
 * The whole sequence is planned at once on cumulative frame edges; the phase of a frame is looked up
 * by the refresh the callback is in, lateness included, so that one late frame does not shift the rest.
 */

/**
 * @typedef {{name: string, ms: number, draw: () => void}} Phase
 * @typedef {{planned: number, achieved: number, achieved_ms: number}} Shown
 */

const GATE_FRAMES = 6;
const GATE_LIMIT = 120;

/**
 * First refresh of each phase and, last, the first one after them all; no phase shorter than one.
 * Four masks of 30 ms at 60 Hz end at 30, 60, 90, 120 ms: 2, 2, 1, 2 refreshes.
 * @param {number[]} durations_ms
 * @param {number} frame_ms
 * @returns {number[]}
 */
export function planPhases(durations_ms, frame_ms) {
  const edges = [0];
  let end_ms = 0;
  for (const ms of durations_ms) {
    end_ms += ms;
    edges.push(Math.max(edges[edges.length - 1] + 1, Math.round(end_ms / frame_ms - 1e-9)));
  }
  return edges;
}

/**
 * The phase that refresh `refresh` belongs to; as many as there are phases once they are over.
 * @param {number[]} edges
 * @param {number} refresh
 */
export function phaseAt(edges, refresh) {
  let phase = 0;
  while (phase < edges.length - 1 && refresh >= edges[phase + 1]) phase += 1;
  return phase;
}

/**
 * Show the phases one after the other, then call `clear`.
 * @param {Phase[]} phases
 * @param {number} frame_ms the display's refresh interval
 * @param {(onFrame: (at: number) => boolean) => Promise<void>} everyFrame
 * @param {() => void} clear
 * @returns {Promise<Shown[]>} by phase; a phase that was skipped has 0 refreshes
 */
export async function present(phases, frame_ms, everyFrame, clear) {
  await steadyFrames(frame_ms, everyFrame);
  const edges = planPhases(phases.map((phase) => phase.ms), frame_ms);
  /** @type {(number | null)[]} */
  const drawnAt = phases.map(() => null);
  let began = NaN;
  let ended = NaN;
  let current = -1;
  await everyFrame((at) => {
    if (current < 0) began = at;
    const phase = phaseAt(edges, Math.round((at - began) / frame_ms));
    if (phase === current) return false;
    current = phase;
    if (phase === phases.length) {
      clear();
      ended = at;
      return true;
    }
    phases[phase].draw();
    drawnAt[phase] = at;
    return false;
  });
  return phases.map((_, i) => shown(i, edges, drawnAt, ended, frame_ms));
}

/**
 * @param {number} phase
 * @param {number[]} edges
 * @param {(number | null)[]} drawnAt
 * @param {number} ended
 * @param {number} frame_ms
 * @returns {Shown}
 */
function shown(phase, edges, drawnAt, ended, frame_ms) {
  const planned = edges[phase + 1] - edges[phase];
  const from = drawnAt[phase];
  if (from === null) return { planned, achieved: 0, achieved_ms: 0 };
  const next = drawnAt.slice(phase + 1).find((at) => at !== null) ?? ended;
  return { planned, achieved: Math.round((next - from) / frame_ms), achieved_ms: next - from };
}

/**
 * Wait for callbacks one refresh apart: the first ones after an idle spell come late.
 * @param {number} frame_ms
 * @param {(onFrame: (at: number) => boolean) => Promise<void>} everyFrame
 */
async function steadyFrames(frame_ms, everyFrame) {
  let last = NaN;
  let steady = 0;
  let count = 0;
  await everyFrame((at) => {
    steady = Math.abs(at - last - frame_ms) < frame_ms / 4 ? steady + 1 : 0;
    last = at;
    count += 1;
    return steady >= GATE_FRAMES || count >= GATE_LIMIT;
  });
}
