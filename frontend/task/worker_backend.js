// @ts-check
/**
 * The back end that draws on a canvas in a worker, which a busy page does not delay. A worker knows when it
 * drew a phase, not when it was shown; so the page acts as its witness where the browser permits it
 * (`second_witness.js`).
 */

import { addCanvas, anchorOf } from "./backend.js";
import { hasFrameDelays, startFrameDelays } from "./frame_delays.js";
import { longestOf, unknown } from "./lost_sequences.js";
import { planPhases, testimony } from "./planner.js";
import { hasElementTiming, makeProbes } from "./element_timing.js";
import { afterSeen, within } from "../shared/patience.js";
import { makeWitness } from "./second_witness.js";

const STARTED_MS = 10000; // it may come over a slow network
/** Before a sequence whose first phase is to be seen by the witness, which follows a refresh or two later. */
const LEAD_MS = 100;

/**
 * @typedef {import("./backend.js").Backend} Backend
 * @typedef {import("./backend.js").Timing} Timing
 */

/**
 * Return the means to verify the worker's flashes in this browser; null if there are none.
 * @typedef {{evidence: Timing["evidence"], makeProbes: Parameters<typeof makeWitness>[0]}} Witnesses
 * @param {HTMLElement} stage
 * @param {Awaited<ReturnType<typeof startFrameDelays>>} delays
 * @returns {Witnesses | null}
 */
function witnessesFor(stage, delays) {
  if (hasElementTiming())
    return { evidence: "worker_element", makeProbes: (count) => makeProbes(stage, count) };
  return delays && { evidence: "worker_video", makeProbes: delays.probes };
}

/**
 * Combine the worker's record of a sequence with the page's observations.
 * @param {{timing: Timing, frame_ms: number}} known
 * @param {number[]} edges
 * @param {number} frame_ms
 * @param {number} anchor
 * @param {() => Promise<(number | null)[]>} presentations as the page observed them
 * @param {Timing["evidence"]} evidence if the page observed all of them
 * @returns {Promise<import("./backend.js").Shown>}
 */
async function witnessed({ timing, frame_ms: measured }, edges, frame_ms, anchor, presentations, evidence) {
  const seen = (await presentations()).slice(0, edges.length);
  const { isWhole, isContrary } = testimony(edges, seen, frame_ms, anchor, evidence);
  return {
    timing: isWhole ? { ...timing, evidence } : timing,
    frame_ms: measured,
    isPageLate: false,
    isContradicted: isContrary,
  };
}

/**
 * Start the worker's back end; return null if no worker of this browser can draw on animation frames.
 * @param {HTMLElement} stage
 * @param {import("./backend.js").Size} size
 * @param {string} label of the canvas
 * @returns {Promise<Backend | null>}
 */
export async function startWorker(stage, size, label) {
  if (
    typeof OffscreenCanvas === "undefined" ||
    !("transferControlToOffscreen" in HTMLCanvasElement.prototype)
  )
    return null;
  const delays = hasFrameDelays() ? await startFrameDelays(stage) : null;
  const witnesses = witnessesFor(stage, delays);
  const canvas = addCanvas(stage, size, label);
  const worker = new Worker(new URL("./presenter_worker.js", import.meta.url), { type: "module" });
  const ready = new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data.ready === true);
    worker.onerror = () => resolve(false);
  });
  const offscreen = canvas.transferControlToOffscreen();
  worker.postMessage({ canvas: offscreen }, [offscreen]);
  const end = () => {
    worker.terminate();
    canvas.remove();
    delays?.end();
  };
  if (!(await within(STARTED_MS, ready).catch(() => false))) {
    end();
    return null;
  }
  let isLost = false;
  /** @type {import("./backend.js").Show} */
  async function show(serial, phases, frame_ms, onPhase, stopped) {
    const anchor = anchorOf(phases);
    const durations_ms = phases.map((phase) => phase.ms);
    const lead_ms = witnesses && phases[0].name === "stimulus" ? [LEAD_MS] : [];
    const lead = lead_ms.length;
    const all_ms = [...lead_ms, ...durations_ms];
    const witness = witnesses && (await makeWitness(witnesses.makeProbes, all_ms, lead + anchor, frame_ms));
    const reached = phases.map(() => false);
    /** @type {{timing: Timing, frame_ms: number} | null} null from a worker that does not answer */
    const known = await new Promise((resolve) => {
      const patience = afterSeen(longestOf(phases), () => resolve(null));
      worker.onmessage = ({ data }) => {
        if ("at_ms" in data) witness?.follow(data.at_ms - performance.timeOrigin);
        if ("phase" in data) {
          reached[data.phase] = true;
          onPhase(phases[data.phase] ?? null);
        }
        if (!("timing" in data)) return;
        patience.stop();
        resolve(data);
      };
      worker.onerror = () => resolve(null);
      worker.postMessage({ serial, phases, anchor, frame_ms, lead_ms, isPlay: Boolean(stopped) });
      stopped?.addEventListener("abort", () => worker.postMessage({ stop: true }), { once: true });
    });
    if (!known) {
      isLost = true;
      witness?.presentations().catch(() => {}); // ends its watch
      return {
        settled: Promise.resolve(unknown(phases, frame_ms)),
        wasDrawn: reached.slice(0, phases.length),
      };
    }
    const wasDrawn = known.timing.achieved_frames.map((frames) => frames > 0);
    const planned = planPhases(durations_ms, frame_ms, anchor);
    const edges = stopped?.aborted ? planned.slice(0, wasDrawn.lastIndexOf(true) + 2) : planned;
    return {
      settled: witnessed(
        known,
        edges,
        frame_ms,
        anchor,
        async () =>
          witness ? (await witness.presentations(stopped?.aborted)).slice(lead) : edges.map(() => null),
        witnesses?.evidence ?? "worker",
      ),
      wasDrawn,
    };
  }
  return { element: canvas, show, end, isLost: () => isLost };
}
