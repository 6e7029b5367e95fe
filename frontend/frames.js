// @ts-check
/**
 * The one home of requestAnimationFrame: waiting for frames and measuring how long one is.
 * Times are the frames' own timestamps, in ms.
 */

const OFF_GRID = 0.1; // of a refresh: half of all frames further from the grid than this keep to none

/**
 * Call `onFrame` on every frame until it returns true, with the frame's time and the clock's.
 * @param {(at: number, now: number) => boolean} onFrame
 * @returns {Promise<void>}
 */
export function everyFrame(onFrame) {
  return new Promise((resolve, reject) => {
    /** @param {number} at */
    const tick = (at) => {
      try {
        if (onFrame(at, performance.now())) resolve();
        else requestAnimationFrame(tick);
      } catch (error) {
        reject(error);
      }
    };
    requestAnimationFrame(tick);
  });
}

/**
 * Wait until at least `ms` have gone by, frame by frame.
 * @param {number} ms
 */
export function waitFrames(ms) {
  /** @type {number | null} */
  let first = null;
  return everyFrame((at) => {
    first ??= at;
    return at - first >= ms;
  });
}

/**
 * What frame times tell of a display.
 * @typedef {object} Refresh
 * @property {number} frame_ms one refresh
 * @property {number} refresh_hz
 * @property {number} jitter_ms median distance of a frame from the grid of refreshes
 * @property {number} dropped_frames refreshes without a frame
 * @property {boolean} is_variable whether frames keep to no grid at all
 */

/**
 * Measure the display's refresh over `count` frames.
 * @param {number} count
 * @param {(at: number) => void} [onFrame]
 * @returns {Promise<Refresh>}
 */
export async function measureRefresh(count, onFrame = () => {}) {
  /** @type {number[]} */
  const times = [];
  await everyFrame((at) => {
    onFrame(at);
    return times.push(at) > count;
  });
  return refreshOf(times);
}

/**
 * The refresh that frame times are multiples of; pure. Refreshes without a frame are counted, so that
 * a busy page does not make a display look slower than it is.
 * @param {number[]} times of frames, in ms
 * @returns {Refresh}
 */
export function refreshOf(times) {
  const gaps = times.slice(1).map((time, i) => time - times[i]);
  // A busy page misses refreshes, so that the shorter gaps tell what one refresh is.
  const usual = [...gaps].sort((a, b) => a - b)[gaps.length >> 2];
  // A coarse clock tells one gap badly; the line through all of them then counts the refreshes better.
  const rough_ms = slope(placesOf(gaps, usual), times);
  const places = placesOf(gaps, rough_ms);
  const frame_ms = slope(places, times);
  const off = gaps.map((gap, i) => Math.abs(gap - (places[i + 1] - places[i]) * frame_ms));
  return {
    frame_ms,
    refresh_hz: 1000 / frame_ms,
    jitter_ms: median(off),
    dropped_frames: places[places.length - 1] - gaps.length,
    is_variable: median(distancesFrom(places, times, frame_ms)) > OFF_GRID * frame_ms,
  };
}

/**
 * The refreshes of frames, counted from the first one.
 * @param {number[]} gaps
 * @param {number} frame_ms
 */
function placesOf(gaps, frame_ms) {
  const places = [0];
  for (const gap of gaps) places.push(places[places.length - 1] + Math.max(1, Math.round(gap / frame_ms)));
  return places;
}

/**
 * Rise of the straight line nearest to the points (least squares): of all frames, where first and last
 * alone would turn a late or coarse time stamp of either into an error of the estimate.
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
 * How far frames are from the grid of refreshes; where there is none, it runs away from them.
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
