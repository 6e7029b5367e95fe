// @ts-check
/**
 * Shows flashes exact to the refresh, and knows when one was not. Two back ends behind one interface:
 * a canvas of the page, where the browser itself tells when each phase was presented (Element
 * Timing), and a canvas in a worker, which a busy page does not hold up, with the page as its witness.
 */

import { hasFrameDelays, startFrameDelays } from "./frame_delays.js";
import { startFramedWitness } from "./framed_witness.js";
import { everyFrame } from "./frames.js";
import { drawPhase, warmUp } from "./painting.js";
import { isAsPlanned, planPhases, testimony, timingOfCallbacks, timingOfPresentations } from "./planner.js";
import { hasElementTiming, makeProbes } from "./probes.js";
import { runSequence } from "./sequence.js";
import { makeWitness } from "./witness.js";

/**
 * One thing shown: a picture, a text, or the empty stage.
 * @typedef {{name: string, ms: number, picture?: ImageBitmap, text?: string}} Phase
 * @typedef {import("./planner.js").Timing} Timing
 * @typedef {object} Shown what is known of a sequence that was shown
 * @property {Timing} timing
 * @property {number} frame_ms as measured during the sequence
 * @property {boolean} isPageLate whether the page drew, and came late to it
 * @property {boolean} isContradicted whether the page saw the display not show what the worker had drawn in time
 * @typedef {{canvas: HTMLCanvasElement, show: Show, end: () => void}} Backend
 * @typedef {{settled: Promise<Shown>, wasDrawn: boolean[]}} Sequence `wasDrawn` by phase: false where it was skipped
 * @typedef {(phases: Phase[], frame_ms: number, onPhase: (phase: Phase | null) => void) => Promise<Sequence>} Show
 */

const LATE_AT_MOST = 1;
const OF_THE_LAST = 5;

let sequences = 0;

/**
 * @param {HTMLElement} stage where the canvases stand, one above the other
 * @param {{css: number, px: number}} size of the pictures
 * @param {boolean} flashes false where pictures are only drawn, and no worker is needed
 */
export async function makePresenter(stage, size, flashes = true) {
  const witnesses = flashes ? await startWitnesses(stage) : null;
  const worker = flashes ? await startWorker(stage, size, witnesses) : null;
  const page = pageBackend(stage, size);
  let current = hasElementTiming() || !worker ? page : worker;
  /** @type {boolean[]} */
  let lates = [];
  place(stage, current);
  /** @param {Backend} backend */
  function goOnIn(backend) {
    current = backend;
    lates = [];
    place(stage, current);
  }
  return {
    /** The canvas that is seen. */
    get canvas() {
      return current.canvas;
    },
    /** Whether the worker draws. */
    get isInWorker() {
      return current === worker;
    },
    /**
     * Show the phases; ends when the last one is over. What was shown is known a little later, in `settled`.
     * @param {Phase[]} phases
     * @param {number} frame_ms
     * @param {(phase: Phase | null) => void} [onPhase] told as each phase begins, and null at the end
     */
    async show(phases, frame_ms, onPhase = () => {}) {
      return current.show(phases, frame_ms, onPhase);
    },
    /** Go on in the worker, where there is one. */
    leavePage() {
      if (worker && current === page) goOnIn(worker);
    },
    /** Go on in the worker if the page draws, and the other way round, where there are both. */
    change() {
      if (worker) goOnIn(current === page ? worker : page);
    },
    /**
     * Hear of a flash that the page drew. What it came late to once may be chance; a page that is busy is left.
     * @param {boolean} isPageLate
     */
    note(isPageLate) {
      lates = [...lates, isPageLate].slice(-OF_THE_LAST);
      if (worker && current === page && lates.filter(Boolean).length > LATE_AT_MOST) goOnIn(worker);
    },
    /** Draw one phase and leave it (a picture without time limit); null empties the stage. */
    draw(/** @type {Phase | null} */ phase) {
      if (current !== page) goOnIn(page);
      drawPhase(page.pen, phase);
    },
    end() {
      page.end();
      worker?.end();
      witnesses?.end();
    },
  };
}

/**
 * What can bear witness for the worker in this browser; null for nothing.
 * @typedef {object} Witnesses
 * @property {Timing["evidence"]} evidence where they saw everything
 * @property {import("./witness.js").MakeWitness} make
 * @property {MessagePort | null} worker by which the worker tells them that it drew; null where the page does
 * @property {() => void} end
 * @param {HTMLElement} stage
 * @returns {Promise<Witnesses | null>}
 */
async function startWitnesses(stage) {
  if (hasElementTiming()) {
    const framed = await startFramedWitness();
    if (framed) return { evidence: "worker_element", ...framed };
    const make = makeWitness.bind(null, (/** @type {number} */ count) => makeProbes(stage, count));
    return { evidence: "worker_element", make, worker: null, end() {} };
  }
  const delays = hasFrameDelays() ? await startFrameDelays(stage) : null;
  return delays && { evidence: "worker_video", make: makeWitness.bind(null, delays.probes), worker: null, end: delays.end };
}

/** @param {Phase[]} phases */
function anchorOf(phases) {
  return Math.max(0, phases.findIndex((phase) => phase.name === "stimulus"));
}

/**
 * @param {HTMLElement} stage
 * @param {Backend} backend
 */
function place(stage, backend) {
  for (const canvas of stage.querySelectorAll("canvas")) {
    const isSeen = canvas === backend.canvas;
    canvas.style.visibility = isSeen ? "visible" : "hidden";
    canvas.ariaHidden = `${!isSeen}`;
  }
}

/**
 * @param {HTMLElement} stage
 * @param {{css: number, px: number}} size
 */
function addCanvas(stage, { css, px }) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = px;
  canvas.style.width = canvas.style.height = `${css}px`;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", "The picture to judge");
  stage.append(canvas);
  return canvas;
}

/**
 * @param {HTMLElement} stage
 * @param {{css: number, px: number}} size
 */
function pageBackend(stage, size) {
  const canvas = addCanvas(stage, size);
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  warmUp(pen);
  /** @type {Show} */
  async function show(phases, frame_ms, onPhase) {
    const serial = (sequences += 1);
    const anchor = anchorOf(phases);
    const probes = hasElementTiming() ? await makeProbes(stage, phases.length + 1) : null;
    const { edges, drawn, frame_ms: measured } = await runSequence(
      phases.map((phase) => phase.ms),
      anchor,
      frame_ms,
      everyFrame,
      (i) => {
        drawPhase(pen, phases[i] ?? null);
        probes?.reveal(i);
        const { startTime } = performance.mark(`openhype:${serial}:${i}`);
        onPhase(phases[i] ?? null);
        return startTime;
      },
    );
    const known = timingOfCallbacks(edges, drawn, frame_ms, "callback");
    const wasDrawn = drawn.map((frame) => frame !== null);
    return {
      wasDrawn,
      settled: settle(probes, wasDrawn).then((presented) => ({
        timing: presented ? timingOfPresentations(edges, presented, frame_ms, known.lateness_ms) : known,
        frame_ms: measured,
        isPageLate: !isAsPlanned(known, frame_ms, anchor),
        isContradicted: false,
      })),
    };
  }
  return { canvas, pen, show, end: () => canvas.remove() };
}

/**
 * @param {Awaited<ReturnType<typeof makeProbes>> | null} probes
 * @param {boolean[]} wasDrawn
 */
async function settle(probes, wasDrawn) {
  const presented = await probes?.presentations(wasDrawn);
  for (const mark of performance.getEntriesByType("mark")) {
    if (mark.name.startsWith("openhype:")) performance.clearMarks(mark.name);
  }
  return presented ?? null;
}

/**
 * What the worker knows of a sequence, and what the page saw of it.
 * @param {{timing: Timing, frame_ms: number}} known
 * @param {number[]} edges
 * @param {number} frame_ms
 * @param {number} anchor
 * @param {() => Promise<(number | null)[]>} presentations as the page saw them
 * @param {Timing["evidence"]} evidence where the page saw all
 * @returns {Promise<Shown>}
 */
async function witnessed({ timing, frame_ms: measured }, edges, frame_ms, anchor, presentations, evidence) {
  const seen = await presentations();
  const { isWhole, isContrary } = testimony(edges, seen, frame_ms, anchor, evidence);
  return {
    timing: isWhole ? { ...timing, evidence } : timing,
    frame_ms: measured,
    isPageLate: false,
    isContradicted: isContrary,
  };
}

/**
 * The worker's back end; null where the browser has none that can draw by refreshes.
 * @param {HTMLElement} stage
 * @param {{css: number, px: number}} size
 * @param {Witnesses | null} witnesses
 * @returns {Promise<Backend | null>}
 */
async function startWorker(stage, size, witnesses) {
  if (typeof OffscreenCanvas === "undefined" || !("transferControlToOffscreen" in HTMLCanvasElement.prototype)) return null;
  const canvas = addCanvas(stage, size);
  const worker = new Worker(new URL("./presenter_worker.js", import.meta.url), { type: "module" });
  const ready = new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data.ready === true);
    worker.onerror = () => resolve(false);
  });
  const offscreen = canvas.transferControlToOffscreen();
  worker.postMessage({ canvas: offscreen, witness: witnesses?.worker }, [offscreen, ...(witnesses?.worker ? [witnesses.worker] : [])]);
  if (!(await ready)) {
    worker.terminate();
    canvas.remove();
    return null;
  }
  /** @type {Show} */
  async function show(phases, frame_ms, onPhase) {
    const serial = (sequences += 1);
    const anchor = anchorOf(phases);
    const durations_ms = phases.map((phase) => phase.ms);
    const witness = await witnesses?.make(durations_ms, anchor, frame_ms);
    /** @type {{timing: Timing, frame_ms: number}} */
    const known = await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => {
        if ("phase" in data) {
          witness?.follow(data.at_ms - performance.timeOrigin);
          onPhase(phases[data.phase] ?? null);
        }
        if ("timing" in data) resolve(data);
      };
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage({ serial, phases, anchor, frame_ms });
    });
    const wasDrawn = known.timing.achieved_frames.map((frames) => frames > 0);
    const edges = planPhases(durations_ms, frame_ms, anchor);
    const unseen = async () => edges.map(() => null);
    return {
      settled: witnessed(known, edges, frame_ms, anchor, witness?.presentations ?? unseen, witnesses?.evidence ?? "worker"),
      wasDrawn,
    };
  }
  const end = () => {
    worker.terminate();
    canvas.remove();
  };
  return { canvas, show, end };
}
