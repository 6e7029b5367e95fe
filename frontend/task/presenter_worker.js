// @ts-check
/** The presenter's back end in a worker: the same sequence, on a canvas that the page cannot delay. */

import { phaseFrom } from "./backend.js";
import { everyFrame } from "./frames.js";
import { drawPhase, warmUp } from "./painting.js";
import { timingOfCallbacks } from "./planner.js";
import { runSequence } from "./sequence.js";

/**
 * The part of a worker's global scope that is used here.
 * @typedef {object} Scope
 * @property {((event: MessageEvent) => void) | null} onmessage
 * @property {(message: object) => void} postMessage
 * @property {typeof requestAnimationFrame} [requestAnimationFrame]
 */

const scope = /** @type {Scope} */ (globalThis);
/** @type {OffscreenCanvasRenderingContext2D} */
let pen;
let isStopped = false;

scope.onmessage = async (/** @type {MessageEvent} */ { data }) => {
  if (data.canvas) {
    pen = data.canvas.getContext("2d", { alpha: false });
    if (pen) warmUp(pen);
    scope.postMessage({ ready: Boolean(pen) && typeof scope.requestAnimationFrame === "function" });
    return;
  }
  if (data.stop) {
    isStopped = true;
    return;
  }
  isStopped = false;
  const { serial, phases, anchor, frame_ms, lead_ms, isPlay } = data;
  const lead = lead_ms.length;
  const durations = [...lead_ms, ...phases.map((/** @type {{ms: number}} */ phase) => phase.ms)];
  const {
    edges,
    drawn,
    frame_ms: measured,
  } = await runSequence(
    durations,
    lead + anchor,
    frame_ms,
    everyFrame,
    (step, at) => {
      const i = step - lead;
      const at_ms = performance.timeOrigin + at; // the page has another time origin
      if (i < 0) {
        scope.postMessage({ at_ms });
        return;
      }
      drawPhase(pen, phaseFrom(phases, i, isPlay));
      const { startTime } = performance.mark(`openhype:${serial}:${i}`);
      scope.postMessage({ phase: i, at_ms });
      return startTime;
    },
    () => isStopped,
  );
  for (const { pictures = [] } of phases) for (const picture of pictures) picture.close();
  performance.clearMarks();
  const timing = timingOfCallbacks(edges.slice(lead), drawn.slice(lead), frame_ms, "worker");
  scope.postMessage({ timing, frame_ms: measured });
};
