// @ts-check
/**
 * The only module that calls requestAnimationFrame: waits for frames and measures the refresh interval.
 * Times are the timestamps of the frames, in ms.
 */

import { NeverCame, afterSeen } from "../shared/patience.js";

const OFF_GRID = 0.1; // of a refresh: a larger median distance from the grid means that there is no grid
const COARSE = 4 * OFF_GRID; // rounded in steps of this many refreshes, times are as far from the grid
const SAME_MS = 0.1; // two multiples of a clock's step differ by less from whole steps
const WHOLE_MS = 0.02; // a rounded clock's times are nearer to whole steps
const SLOWEST_VARIABLE_MS = 1000 / 40; // displays of variable rate go no lower; a longer gap is the page's
const PATIENCE_MS = 10000; // for a frame, while the page is seen
const SLOWEST_FRAME_MS = 50; // a measurement waits no longer for each of its frames
const FEWEST_OF_COUNT = 1 / 6; // of these frames; fewer tell nothing of the display

/**
 * Call `onFrame` on every frame until it returns true, with the frame's timestamp and the current time.
 * Reject with NeverCame (`no_frames`) if none comes although the page is seen. A worker does not know whether
 * it is, and waits: the page that uses it has a deadline of its own.
 * @param {(at: number, now: number) => boolean} onFrame
 * @returns {Promise<void>}
 */
export function everyFrame(onFrame) {
  return new Promise((resolve, reject) => {
    const stalled = () => end(new NeverCame("no_frames"));
    const patience = globalThis.document ? afterSeen(PATIENCE_MS, stalled) : null;
    let isOver = false;
    /** @param {unknown} [error] */
    function end(error) {
      isOver = true;
      patience?.stop();
      if (error) reject(error);
      else resolve();
    }
    /** @param {number} at */
    function tick(at) {
      if (isOver) return;
      patience?.again();
      try {
        if (onFrame(at, performance.now())) end();
        else requestAnimationFrame(tick);
      } catch (error) {
        end(error);
      }
    }
    requestAnimationFrame(tick);
  });
}

/**
 * Wait, frame by frame, until at least `ms` have passed, also where the clock stands still.
 * @param {number} ms
 */
export function waitFrames(ms) {
  /** @type {number | null} */
  let first = null;
  let count = 0;
  return everyFrame((at) => {
    first ??= at;
    count += 1;
    return at - first >= ms || count > ms;
  });
}

/**
 * A display's refresh as estimated from frame times.
 * @typedef {object} Refresh
 * @property {number} frame_ms one refresh
 * @property {number} refresh_hz
 * @property {number} jitter_ms median distance of a frame from the grid of refreshes
 * @property {number} dropped_frames refreshes without a frame
 * @property {boolean} is_variable whether frames follow no grid at all
 * @property {boolean} is_clock_coarse whether the browser's clock rounds too coarsely to tell refreshes apart
 * @property {boolean} is_busy whether many frames came later than any display shows them, or not at all
 * @property {boolean} has_frames whether enough frames came; nothing else is known if not
 */

/** @type {Refresh} of a page that the browser hardly draws, or not at all */
const UNKNOWN = {
  ...{ frame_ms: NaN, refresh_hz: NaN, jitter_ms: NaN, dropped_frames: 0 },
  ...{ is_variable: false, is_clock_coarse: false, is_busy: false, has_frames: false },
};

/**
 * Measure the display's refresh over `count` frames, or as many as come soon.
 * @param {number} count
 * @param {(at: number) => void} [onFrame]
 * @returns {Promise<Refresh>}
 */
export async function measureRefresh(count, onFrame = () => {}) {
  /** @type {number[]} */
  const times = [];
  /** @type {number[]} */
  const clock = [];
  let isOver = false;
  const frames = everyFrame((at, now) => {
    onFrame(at);
    clock.push(now);
    return times.push(at) > count || isOver;
  });
  // Ends in a hidden page too, which gets no frames: what it then shows says so.
  await Promise.race([frames, new Promise((resolve) => setTimeout(resolve, SLOWEST_FRAME_MS * count))]);
  isOver = true;
  return times.length > FEWEST_OF_COUNT * count ? refreshOf(times, clock) : UNKNOWN;
}

/**
 * Estimate the refresh interval of which the frame times are multiples; pure. Refreshes without a frame are
 * counted, so that a busy page does not make the display seem slower than it is.
 * @param {number[]} times of frames, in ms
 * @param {number[]} [clock] the clock at each frame; some browsers round it, and not the times of frames
 * @returns {Refresh}
 */
export function refreshOf(times, clock = []) {
  const gaps = gapsOf(times);
  // A busy page misses refreshes, so one refresh is estimated from the shorter gaps (their lower quartile).
  const sorted = [...gaps].sort((a, b) => a - b);
  // A clock with steps longer than a refresh gives frames the same time: then every frame is one refresh.
  const haveSameTimes = sorted[gaps.length >> 4] <= 0;
  const usual = haveSameTimes ? Infinity : sorted[gaps.length >> 2];
  // A coarse clock makes single gaps inaccurate; a line fitted to all frames counts the refreshes better.
  const rough_ms = slope(placesOf(gaps, usual), times);
  const places = placesOf(gaps, rough_ms);
  const frame_ms = slopeOfMost(places, times);
  const is_variable = median(distancesFrom(places, times, frame_ms)) > OFF_GRID * frame_ms;
  const dropped_frames = places[places.length - 1] - gaps.length;
  const step = stepOf(gaps);
  const isByClock = step > COARSE * frame_ms && areWhole(times, Math.round(step));
  const off = gaps.map((gap, i) => Math.abs(gap - (places[i + 1] - places[i]) * frame_ms));
  return {
    frame_ms,
    refresh_hz: 1000 / frame_ms,
    jitter_ms: median(off),
    dropped_frames,
    is_variable,
    is_clock_coarse:
      haveSameTimes ||
      (isByClock && (is_variable || dropped_frames > 0)) ||
      isCoarse(gapsOf(clock), frame_ms),
    is_busy:
      dropped_frames >= gaps.length ||
      (is_variable && sorted[Math.floor(0.75 * gaps.length)] > SLOWEST_VARIABLE_MS),
    has_frames: true,
  };
}

/** @param {number[]} times */
function gapsOf(times) {
  return times.slice(1).map((time, i) => time - times[i]);
}

/**
 * Return whether a clock, read while refreshes went by, stood still or went in steps that hide them.
 * @param {number[]} gaps
 * @param {number} frame_ms
 */
function isCoarse(gaps, frame_ms) {
  return gaps.length > 0 && (Math.max(...gaps) <= 0 || stepOf(gaps) > COARSE * frame_ms);
}

/**
 * Return the longest step (ms) of which all gaps are multiples, as times of a rounded clock are; 0 if none.
 * @param {number[]} gaps
 */
function stepOf(gaps) {
  const step = gaps.reduce((common, gap) => {
    let [a, b] = [common, gap];
    while (b > SAME_MS) [a, b] = [b, Math.abs(a - Math.round(a / b) * b)];
    return a;
  }, 0);
  return step > SAME_MS ? step : 0;
}

/**
 * Return whether the times themselves, not only the gaps, are multiples of a step of whole ms.
 * @param {number[]} times
 * @param {number} step
 */
function areWhole(times, step) {
  return step > 0 && times.every((time) => Math.abs(time - Math.round(time / step) * step) < WHOLE_MS);
}

/**
 * Return the index of each frame's refresh, counted from the first frame.
 * @param {number[]} gaps
 * @param {number} frame_ms
 */
function placesOf(gaps, frame_ms) {
  const places = [0];
  for (const gap of gaps) places.push(places[places.length - 1] + Math.max(1, Math.round(gap / frame_ms)));
  return places;
}

/**
 * Return the slope of the least-squares line through all points. With the first and last frame alone,
 * a late or coarse timestamp of either would bias the result.
 * @param {number[]} xs
 * @param {number[]} ys
 */
function slope(xs, ys) {
  const x = mean(xs);
  const y = mean(ys);
  const products = xs.map((each, i) => (each - x) * (ys[i] - y));
  return mean(products) / mean(xs.map((each) => (each - x) ** 2));
}

/**
 * Return the slope of the line through the points on the grid, if most are: the first frames after an idle
 * period come off it, and would bias the interval by what is a third of a refresh after three seconds.
 * @param {number[]} places
 * @param {number[]} times
 */
function slopeOfMost(places, times) {
  const rough_ms = slope(places, times);
  const distances = distancesFrom(places, times, rough_ms);
  const near = places.map((_, i) => i).filter((i) => distances[i] <= OFF_GRID * rough_ms);
  if (2 * near.length <= places.length) return rough_ms;
  const kept = (/** @type {number[]} */ values) => near.map((i) => values[i]);
  return slope(kept(places), kept(times));
}

/**
 * Return the distance of each frame from the grid of refreshes; without a grid, the distances grow large.
 * @param {number[]} places
 * @param {number[]} times
 * @param {number} frame_ms
 */
function distancesFrom(places, times, frame_ms) {
  const offsets = times.map((time, i) => time - places[i] * frame_ms);
  const middle = median(offsets);
  return offsets.map((offset) => Math.abs(offset - middle));
}

/** @param {number[]} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
