// @ts-check
/**
 * Shows flashes exact to the refresh, and knows when one was not. Back ends behind one interface (`backend.js`):
 * a frame with a process of its own (`framed_backend.js`) or the page itself (`page_backend.js`), where the browser tells
 * when each phase was presented; and a worker (`worker_backend.js`), which a busy page does not hold up either.
 */

import { drawPhase } from "./painting.js";
import { hasElementTiming } from "./element_timing.js";
import { hasFrameDelays } from "./frame_delays.js";
import { startFrame } from "./framed_backend.js";
import { makePageBackend } from "./page_backend.js";
import { startWorker } from "./worker_backend.js";

/**
 * @typedef {import("./backend.js").Backend} Backend
 * @typedef {import("./backend.js").Phase} Phase
 */

const LATE_AT_MOST = 1;
const OF_THE_LAST = 5;

let sequences = 0;

/**
 * @param {HTMLElement} stage contains the canvases, one above the other
 * @param {import("./backend.js").Size} size of the pictures
 * @param {boolean} flashes false where pictures are only drawn, and neither frame nor worker is needed
 */
export async function makePresenter(stage, size, flashes = true) {
  const [frame, worker] = flashes ? await Promise.all([startFrame(stage, size), startWorker(stage, size)]) : [null, null];
  const page = makePageBackend(stage, size);
  const first = frame ?? (hasElementTiming() || !worker ? page : worker);
  /** @type {Backend} */
  let current = first;
  /** @type {boolean[]} */
  let lates = [];
  goOnIn(first);
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
     * Show the phases; resolves when the last one is over. `settled` resolves a little later, with what was shown.
     * @param {Phase[]} phases
     * @param {number} frame_ms
     * @param {(phase: Phase | null) => void} [onPhase] called as each phase begins, and with null at the end
     */
    async show(phases, frame_ms, onPhase = () => {}) {
      if (current === frame && frame.isLost()) goOnIn(page);
      return current.show((sequences += 1), phases, frame_ms, onPhase);
    },
    /** Go on in the worker, where there is one. */
    leavePage() {
      if (worker && current !== worker) goOnIn(worker);
    },
    /**
     * Go on in the worker if the page draws, and the other way round, where there are both. A frame has no better; nor has
     * a worker in Firefox, whose page would draw without a witness.
     */
    change() {
      if (worker && current !== frame && !hasFrameDelays()) goOnIn(current === page ? worker : page);
    },
    /**
     * Note a flash that the page drew. Being late once may be chance; a busy page is abandoned, and a
     * frame is not: it is no busier than a worker.
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
      frame?.end();
    },
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
