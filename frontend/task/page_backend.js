// @ts-check
/**
 * The back end that draws on a canvas of its own document, of the page or of a frame in it
 * (`framed_backend.js`); the browser itself reports when each phase was presented (Element Timing).
 */

import { addCanvas, anchorOf, phaseFrom } from "./backend.js";
import { everyFrame } from "./frames.js";
import { drawPhase, warmUp } from "./painting.js";
import { isAsPlanned, timingOfCallbacks, timingOfPresentations } from "./planner.js";
import { hasElementTiming, makeProbes } from "./element_timing.js";
import { runSequence } from "./sequence.js";

/**
 * @param {HTMLElement} stage
 * @param {import("./backend.js").Size} size
 * @param {string} label of the canvas
 */
export function makePageBackend(stage, size, label) {
  const canvas = addCanvas(stage, size, label);
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  warmUp(pen);
  /** @type {import("./backend.js").Show} */
  async function show(serial, phases, frame_ms, onPhase, stopped) {
    const anchor = anchorOf(phases);
    const probes = hasElementTiming() ? await makeProbes(stage, phases.length + 1) : null;
    const {
      edges,
      drawn,
      frame_ms: measured,
    } = await runSequence(
      phases.map((phase) => phase.ms),
      anchor,
      frame_ms,
      everyFrame,
      (i) => {
        drawPhase(pen, phaseFrom(phases, i, Boolean(stopped)));
        probes?.reveal(i);
        const { startTime } = performance.mark(`openhype:${serial}:${i}`);
        onPhase(phases[i] ?? null);
        return startTime;
      },
      () => stopped?.aborted === true,
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
  return { element: canvas, pen, show, end: () => canvas.remove() };
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
