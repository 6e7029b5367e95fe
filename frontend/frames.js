// @ts-check
/**
 * The only module that calls requestAnimationFrame: waits for frames and measures the refresh interval.
 * Times are the timestamps of the frames, in ms.
 */

const OFF_GRID = 0.1; // of a refresh: a larger median distance from the grid means that there is no grid
const COARSE = 4 * OFF_GRID; // rounded in steps of this many refreshes, times are as far from the grid
const SAME_MS = 0.1; // two multiples of a clock's step differ by less from whole steps
const WHOLE_MS = 0.02; // a rounded clock's times are nearer to whole steps
const SLOWEST_VARIABLE_MS = 1000 / 40; // displays of variable rate go no lower; a longer gap is the page's

/**
 * Call `onFrame` on every frame until it returns true, with the frame's timestamp and the current time.
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
 * Wait, frame by frame, until at least `ms` have passed.
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
 * A display's refresh as estimated from frame times.
 * @typedef {object} Refresh
 * @property {number} frame_ms one refresh
 * @property {number} refresh_hz
 * @property {number} jitter_ms median distance of a frame from the grid of refreshes
 * @property {number} dropped_frames refreshes without a frame
 * @property {boolean} is_variable whether frames follow no grid at all
 * @property {boolean} is_clock_coarse whether that may be due to the browser's clock, which rounds coarsely
 * @property {boolean} is_busy whether many frames came later than any display shows them
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
 * Estimate the refresh interval of which the frame times are multiples; pure. Refreshes without a frame are
 * counted, so that a busy page does not make the display seem slower than it is.
 * @param {number[]} times of frames, in ms
 * @returns {Refresh}
 */
export function refreshOf(times) {
  const gaps = times.slice(1).map((time, i) => time - times[i]);
  // A busy page misses refreshes, so one refresh is estimated from the shorter gaps (their lower quartile).
  const sorted = [...gaps].sort((a, b) => a - b);
  // A clock with steps longer than a refresh gives frames the same time: then every frame is one refresh.
  const haveSameTimes = sorted[gaps.length >> 4] <= 0;
  const usual = haveSameTimes ? Infinity : sorted[gaps.length >> 2];
  // A coarse clock makes single gaps inaccurate; a line fitted to all frames counts the refreshes better.
  const rough_ms = slope(placesOf(gaps, usual), times);
  const places = placesOf(gaps, rough_ms);
  const frame_ms = slope(places, times);
  const is_variable = median(distancesFrom(places, times, frame_ms)) > OFF_GRID * frame_ms;
  const dropped_frames = places[places.length - 1] - gaps.length;
  const step = stepOf(gaps);
  const isGapByClock = dropped_frames > 0 && areWhole(times, Math.round(step));
  const off = gaps.map((gap, i) => Math.abs(gap - (places[i + 1] - places[i]) * frame_ms));
  return {
    frame_ms,
    refresh_hz: 1000 / frame_ms,
    jitter_ms: median(off),
    dropped_frames,
    is_variable,
    is_clock_coarse: haveSameTimes || (step > COARSE * frame_ms && (is_variable || isGapByClock)),
    is_busy: is_variable && sorted[Math.floor(0.75 * gaps.length)] > SLOWEST_VARIABLE_MS,
  };
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
