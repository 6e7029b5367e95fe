// @ts-check
/**
 * A second witness of what a worker draws. A worker knows when it drew a phase, not when it was shown; so
 * the page reveals its own probe in the same refresh as each phase, and the browser reports when the probe
 * was presented (`element_timing.js`) or composited (`frame_delays.js`). If the display stalled, both are
 * late. A busy page misses the beginning of some phases, and reports nothing for those.
 */

import { everyFrame } from "./frames.js";
import { planPhases } from "./planner.js";

const LATEST = 0.5; // of a refresh: a callback that runs later may miss it
const FRAMES_AT_MOST = 8; // for each planned refresh, where the clock stands still

/**
 * Probes revealed with each phase, and when the browser reports that each was shown (ms): null if it was not
 * revealed or is not reported.
 * @typedef {object} Probes
 * @property {(i: number) => void} reveal
 * @property {(wasRevealed: boolean[]) => Promise<(number | null)[] | null>} presentations null if none is
 *   reported
 */

/**
 * @param {(count: number) => Promise<Probes> | Probes} makeProbes
 * @param {number[]} durations_ms of the phases
 * @param {number} anchor as for `planPhases`
 * @param {number} frame_ms
 */
export async function makeWitness(makeProbes, durations_ms, anchor, frame_ms) {
  const edges = planPhases(durations_ms, frame_ms, anchor);
  const probes = await makeProbes(edges.length);
  const wasRevealed = edges.map(() => false);
  /** @type {Promise<void> | null} */
  let watched = null;
  let isOver = false;
  return {
    /**
     * Called when the worker has drawn: from its first phase on, the page follows the sequence.
     * @param {number} at when that refresh began, on the page's clock
     */
    follow(at) {
      if (watched) return;
      let began = NaN;
      let count = 0;
      watched = everyFrame((frameAt, now) => {
        // The clocks of page and worker may differ slightly; refreshes are counted by the page's own frames.
        if (Number.isNaN(began)) began = frameAt - Math.round((frameAt - at) / frame_ms) * frame_ms;
        const refresh = Math.round((frameAt - began) / frame_ms);
        const i = edges.indexOf(refresh);
        if (i >= 0 && now - frameAt < LATEST * frame_ms) {
          probes.reveal(i);
          wasRevealed[i] = true;
        }
        count += 1;
        return (
          isOver || refresh >= edges[edges.length - 1] || count > FRAMES_AT_MOST * edges[edges.length - 1]
        );
      });
      watched.catch(() => {}); // `presentations` says so
    },
    /**
     * Return when each phase and the end were presented (ms), null if the page did not see it.
     * @param {boolean} [isStopped] whether the sequence ended before its last phase
     * @returns {Promise<(number | null)[]>}
     */
    async presentations(isStopped = false) {
      isOver = isStopped;
      await watched;
      return (await probes.presentations(wasRevealed)) ?? edges.map(() => null);
    },
  };
}
