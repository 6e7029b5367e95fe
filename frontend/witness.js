// @ts-check
/**
 * A second witness of what a worker draws. A worker knows when it drew, not when that was shown; so the page reveals
 * a probe of its own in the same refresh as each phase, and the browser tells when that was presented (`element_timing.js`) or
 * composed (`frame_delays.js`).
 * Where the display stood still, both come late. A page that is busy itself sees some phases not begin, and says
 * nothing of those.
 */

import { everyFrame } from "./frames.js";
import { planPhases } from "./planner.js";

const LATEST = 0.5; // of a refresh: a callback that runs later may miss it

/**
 * What is revealed with each phase, and when the browser says that each was shown (ms): null where it was not revealed or
 * it is not reported.
 * @typedef {object} Probes
 * @property {(i: number) => void} reveal
 * @property {(wasRevealed: boolean[]) => Promise<(number | null)[] | null>} presentations null if none is reported
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
  return {
    /**
     * The worker drew: from its first phase on the page keeps step with it.
     * @param {number} at when that refresh began, by the page's clock
     */
    follow(at) {
      if (watched) return;
      let began = NaN;
      watched = everyFrame((frameAt, now) => {
        // The clocks of page and worker may differ a little; refreshes are those of the page's own frames.
        if (Number.isNaN(began)) began = frameAt - Math.round((frameAt - at) / frame_ms) * frame_ms;
        const refresh = Math.round((frameAt - began) / frame_ms);
        const i = edges.indexOf(refresh);
        if (i >= 0 && now - frameAt < LATEST * frame_ms) {
          probes.reveal(i);
          wasRevealed[i] = true;
        }
        return refresh >= edges[edges.length - 1];
      });
    },
    /**
     * When each phase and the end were presented (ms), null where the page did not see it.
     * @returns {Promise<(number | null)[]>}
     */
    async presentations() {
      await watched;
      return (await probes.presentations(wasRevealed)) ?? edges.map(() => null);
    },
  };
}
