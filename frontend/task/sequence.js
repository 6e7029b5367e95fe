// @ts-check
/** Runs a planned sequence of phases frame by frame, on the page or in a worker. */

import { refreshOf } from "./frames.js";
import { phaseAt, planPhases, refreshOfCallback } from "./planner.js";

const GATE_FRAMES = 6;
const GATE_LIMIT = 120;
const FEWEST_FRAMES = 20; // enough to measure the refresh interval to within a few percent
const FRAMES_AT_MOST = 8; // for each planned refresh: a clock that stands still ends no phase

/**
 * @typedef {import("./planner.js").Drawn} Drawn
 * @typedef {(onFrame: (at: number, now: number) => boolean) => Promise<void>} EveryFrame
 */

/**
 * Show the phases in order. The complete sequence is planned in advance, and the phase of a frame is looked
 * up by the refresh in which its callback really runs, so that one late frame does not shift the rest.
 * @param {number[]} durations_ms
 * @param {number} anchor index of the picture, see `planPhases`
 * @param {number} frame_ms the display's refresh interval
 * @param {EveryFrame} everyFrame
 * @param {(phase: number, at: number) => number | void} draw called once for each phase that is shown, and
 *   for the end, with the time of its frame; may return the time at which it finished
 * @param {() => boolean} [isStopped] whether to end now, in the phase that is shown
 * @returns {Promise<{edges: number[], drawn: (Drawn | null)[], frame_ms: number}>} when each phase and the
 *   end were drawn, null if never; and the refresh interval measured during the sequence
 */
export async function runSequence(durations_ms, anchor, frame_ms, everyFrame, draw, isStopped = () => false) {
  await steadyFrames(frame_ms, everyFrame);
  const edges = planPhases(durations_ms, frame_ms, anchor);
  /** @type {(Drawn | null)[]} */
  const drawn = edges.map(() => null);
  /** @type {number[]} */
  const times = [];
  let began = NaN;
  let current = -1;
  await everyFrame((at, now) => {
    if (isStopped()) return true;
    if (current < 0) began = at;
    times.push(at);
    const isStuck = !(times.length <= FRAMES_AT_MOST * edges[durations_ms.length]);
    const phase = isStuck
      ? durations_ms.length
      : phaseAt(edges, refreshOfCallback({ at, now }, began, frame_ms));
    if (phase === current) return false;
    current = phase;
    drawn[phase] = { at, now: draw(phase, at) ?? now };
    return phase === durations_ms.length;
  });
  return { edges, drawn, frame_ms: times.length > FEWEST_FRAMES ? refreshOf(times).frame_ms : frame_ms };
}

/**
 * Wait until callbacks run one refresh apart and on time: the first ones after an idle period are late,
 * and would shorten the first phase.
 * @param {number} frame_ms
 * @param {EveryFrame} everyFrame
 */
async function steadyFrames(frame_ms, everyFrame) {
  let last = NaN;
  let steady = 0;
  let count = 0;
  await everyFrame((at, now) => {
    const isOnTime = Math.abs(at - last - frame_ms) < frame_ms / 4 && now - at < frame_ms / 2;
    steady = isOnTime ? steady + 1 : 0;
    last = at;
    count += 1;
    return steady >= GATE_FRAMES || count >= GATE_LIMIT;
  });
}
