// @ts-check
/**
 * Measures when Firefox, which has no Element Timing, composited each phase of a flash. For a video,
 * Firefox reports how late its compositor showed the last frame (`mozFrameDelay`). So a video of 2 × 2
 * pixels, fed from a canvas, gets its own frame with each phase.
 */

import { everyFrame } from "./frames.js";

/** Grays of the stage that differ by one level, so the change is invisible. */
const GRAYS = ["#808080", "#818181"];
const SIDE_PX = 2;
const FRAMES_TO_WAIT = 30;
const FRAMES_TO_START = 90;
const STARTED_AFTER = 5; // frames reported by the browser
const QUIET_FRAMES = 10;
const FRAMES_TO_QUIET = 120;

/**
 * Firefox's properties of a video, and methods of a canvas's stream or its track.
 * @typedef {HTMLVideoElement & {mozPaintedFrames: number, mozFrameDelay: number}} Video
 * @typedef {{requestFrame?: () => void, getVideoTracks: () => CanvasCaptureMediaStreamTrack[]} & MediaStream}
 *   CanvasStream
 */

/** Return whether the browser reports how late a video frame was. */
export function hasFrameDelays() {
  return "mozFrameDelay" in HTMLVideoElement.prototype && "captureStream" in HTMLCanvasElement.prototype;
}

/**
 * @param {HTMLElement} stage
 * @returns {Promise<{probes: () => Promise<import("./second_witness.js").Probes>, end: () => void} | null>}
 *   null if the browser does not report frames after all
 */
export async function startFrameDelays(stage) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = SIDE_PX;
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  const video = /** @type {Video} */ (document.createElement("video"));
  video.className = "probes";
  video.muted = video.playsInline = true;
  video.width = video.height = SIDE_PX;
  video.ariaHidden = "true";
  let frames = 0;
  const draw = () => {
    frames += 1;
    pen.fillStyle = GRAYS[frames % 2];
    pen.fillRect(0, 0, SIDE_PX, SIDE_PX);
  };
  draw();
  const stream = /** @type {CanvasStream} */ (canvas.captureStream(0));
  const feed = () => {
    draw();
    if (stream.requestFrame) stream.requestFrame();
    else stream.getVideoTracks()[0].requestFrame();
  };
  video.srcObject = stream;
  stage.append(video);
  const end = () => {
    for (const track of stream.getTracks()) track.stop();
    video.remove();
  };
  /** A video that another screen removed from the page is paused until it is started again. */
  const starts = () => {
    video.play().catch(() => {});
    return tellsSoon(video, feed);
  };
  if (await starts()) {
    return {
      probes: async () => (!video.paused || (await starts()) ? makeFrameProbes(video, feed) : SILENT),
      end,
    };
  }
  end();
  return null;
}

/** @type {import("./second_witness.js").Probes} */
const SILENT = { reveal() {}, presentations: async () => null };

/**
 * Feed frames until the browser has reported some, and wait until it has reported all of them.
 * @param {Video} video
 * @param {() => void} feed
 */
async function tellsSoon(video, feed) {
  const before = video.mozPaintedFrames;
  const tells = () => video.mozPaintedFrames - before >= STARTED_AFTER && video.mozFrameDelay > 0;
  let count = 0;
  await everyFrame(() => {
    feed();
    count += 1;
    return count > FRAMES_TO_START || tells();
  });
  let told = NaN;
  let quiet = 0;
  count = 0;
  await everyFrame(() => {
    quiet = video.mozPaintedFrames === told ? quiet + 1 : 0;
    told = video.mozPaintedFrames;
    count += 1;
    return quiet > QUIET_FRAMES || count > FRAMES_TO_QUIET;
  });
  return tells();
}

/**
 * @param {Video} video
 * @param {() => void} feed
 * @returns {import("./second_witness.js").Probes}
 */
function makeFrameProbes(video, feed) {
  let told = video.mozPaintedFrames;
  /** @type {number[]} */
  const order = [];
  /** @type {Map<number, number | null>} */
  const times = new Map();
  /** @type {Map<number, number>} */
  const fed = new Map();
  let isOver = false;
  const note = () => {
    for (; told < video.mozPaintedFrames && times.size < order.length; told += 1) {
      const i = order[times.size];
      const isLast = told + 1 === video.mozPaintedFrames;
      times.set(i, isLast ? /** @type {number} */ (fed.get(i)) + 1000 * video.mozFrameDelay : null);
    }
  };
  everyFrame(() => {
    note();
    return isOver;
  }).catch(() => {}); // `presentations` says so
  return {
    reveal(i) {
      order.push(i);
      fed.set(i, performance.now());
      feed();
    },
    async presentations(wasRevealed) {
      let waited = 0;
      await everyFrame(() => {
        note();
        waited += 1;
        return waited > FRAMES_TO_WAIT || times.size === order.length;
      });
      isOver = true;
      if (times.size === 0) return null;
      // A frame that was never composited, while others were, contradicts any plan.
      return wasRevealed.map((was, i) =>
        was ? (times.has(i) ? /** @type {number | null} */ (times.get(i)) : Infinity) : null,
      );
    },
  };
}
