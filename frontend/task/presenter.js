// @ts-check
/**
 * Shows flashes exact to the refresh, and detects those that were not. Three back ends share one interface
 * (`backend.js`): a frame with its own process (`framed_backend.js`) and the page itself (`page_backend.js`),
 * for which the browser reports when each phase was presented; and a worker (`worker_backend.js`), which a
 * busy page does not delay either.
 */

import { drawPhase } from "./painting.js";
import { hasElementTiming } from "./element_timing.js";
import { hasFrameDelays } from "./frame_delays.js";
import { startFrame } from "./framed_backend.js";
import { makePageBackend } from "./page_backend.js";
import { stageLabel } from "./untimed_pictures.js";
import { startWorker } from "./worker_backend.js";

/**
 * @typedef {import("./backend.js").Backend} Backend
 * @typedef {import("./backend.js").Phase} Phase
 */

const LATE_AT_MOST = 1;
const OF_THE_LAST = 5;

let sequences = 0;

/**
 * @param {HTMLElement} stage contains the canvases, stacked
 * @param {import("./backend.js").Size} size
 */
export async function makePresenter(stage, size) {
  const label = stageLabel(size);
  const [frame, worker] = await Promise.all([
    startFrame(stage, size, label),
    startWorker(stage, size, label),
  ]);
  const page = makePageBackend(stage, size, label);
  const first = frame ?? (hasElementTiming() || !worker ? page : worker);
  /** @type {Backend} */
  let current = first;
  /** @type {Backend | null} draws the flashes while the page shows a picture without time limit */
  let behind = null;
  /** @type {boolean[]} */
  let lates = [];
  goOnIn(first);
  const workerAtHand = () => (worker?.isLost?.() ? null : worker);
  /** @param {Backend} backend */
  function goOnIn(backend) {
    current = backend;
    lates = [];
    for (const each of [frame, worker, page]) if (each) setSeen(each.element, each === backend);
  }
  return {
    /** Which back end draws: `frame`, `page` or `worker`. */
    get drawnBy() {
      return current === frame ? "frame" : current === worker ? "worker" : "page";
    },
    /**
     * Show the phases; resolves when the last one is over. `settled` later resolves to what was shown.
     * @param {Phase[]} phases
     * @param {number} frame_ms
     * @param {(phase: Phase | null) => void} [onPhase] called with each phase as it begins, and with null at
     *   the end
     */
    async show(phases, frame_ms, onPhase = () => {}) {
      if (behind) goOnIn(behind);
      behind = null;
      if (current.isLost?.()) goOnIn(page);
      sequences += 1;
      return current.show(sequences, phases, frame_ms, onPhase);
    },
    /**
     * Show one play of a clip without time limit, at once on the page, which need not be handed its frames;
     * in Firefox in the worker, whose frames can be verified.
     * @param {Phase[]} phases
     * @param {number} frame_ms
     * @param {(phase: Phase | null) => void} onPhase
     * @param {AbortSignal} stopped
     */
    play(phases, frame_ms, onPhase, stopped) {
      const drawer = (hasFrameDelays() && workerAtHand()) || page;
      if (current !== drawer) {
        behind ??= current;
        goOnIn(drawer);
      }
      sequences += 1;
      return drawer.show(sequences, phases, frame_ms, onPhase, stopped);
    },
    /** Continue in the worker, if there is one. */
    leavePage() {
      goOnIn(workerAtHand() ?? current);
    },
    /**
     * Switch from the page to the worker or back, if there are both. A frame is not replaced, since nothing
     * is better; nor is a worker in Firefox, where flashes drawn by the page could not be verified.
     */
    change() {
      const other = current === page ? workerAtHand() : page;
      if (worker && other && current !== frame && !hasFrameDelays()) goOnIn(other);
    },
    /**
     * Record whether the page was late in drawing a flash. A single late flash may be chance; after more, the
     * worker replaces a busy page. A frame is not replaced: it is no busier than a worker.
     * @param {boolean} isPageLate
     */
    note(isPageLate) {
      lates = [...lates, isPageLate].slice(-OF_THE_LAST);
      if (current === page && lates.filter(Boolean).length > LATE_AT_MOST) goOnIn(workerAtHand() ?? page);
    },
    /**
     * Draw one phase and leave it until the next flash (a picture without time limit); null clears the stage.
     */
    draw(/** @type {Phase | null} */ phase) {
      if (current !== page) {
        behind = current;
        goOnIn(page);
      }
      drawPhase(page.pen, phase);
    },
    end() {
      page.end();
      worker?.end();
      frame?.end();
    },
  };
}

/**
 * Return what plays clips without time limit, in studies without flashes: as `makePresenter` does, with the
 * one back end that this needs.
 * @param {HTMLElement} stage
 * @param {import("./backend.js").Size} size
 */
export async function makePlayer(stage, size) {
  const label = stageLabel(size);
  const worker = hasFrameDelays() ? await startWorker(stage, size, label) : null;
  /** @type {Backend} */
  let drawer = worker ?? makePageBackend(stage, size, label);
  return {
    /** @type {Awaited<ReturnType<typeof makePresenter>>["play"]} */
    play(phases, frame_ms, onPhase, stopped) {
      if (drawer.isLost?.()) {
        drawer.end();
        drawer = makePageBackend(stage, size, label);
      }
      sequences += 1;
      return drawer.show(sequences, phases, frame_ms, onPhase, stopped);
    },
    draw() {},
    end: () => drawer.end(),
  };
}

/**
 * @param {HTMLElement} element
 * @param {boolean} isSeen
 */
function setSeen(element, isSeen) {
  element.style.visibility = isSeen ? "visible" : "hidden";
  element.ariaHidden = `${!isSeen}`;
}
