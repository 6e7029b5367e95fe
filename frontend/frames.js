// @ts-check
/**
 * The one home of requestAnimationFrame: waiting for frames and measuring how long one is.
 * Times are the frames' own timestamps, in ms.
 */

/**
 * Call `onFrame` on every frame until it returns true.
 * @param {(at: number) => boolean} onFrame
 * @returns {Promise<void>}
 */
export function everyFrame(onFrame) {
  return new Promise((resolve, reject) => {
    /** @param {number} at */
    const tick = (at) => {
      try {
        if (onFrame(at)) resolve();
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
 * Measure the display's refresh: the median interval of `count` frames and how far they scatter.
 * @param {number} count
 * @returns {Promise<{frame_ms: number, jitter_ms: number, refresh_hz: number}>}
 */
export async function measureRefresh(count = 60) {
  /** @type {number[]} */
  const times = [];
  await everyFrame((at) => times.push(at) > count);
  return refreshOf(times);
}

/**
 * Median interval and median absolute deviation of frame times; pure.
 * @param {number[]} times
 */
export function refreshOf(times) {
  const gaps = times.slice(1).map((time, i) => time - times[i]);
  const frame_ms = median(gaps);
  return { frame_ms, jitter_ms: median(gaps.map((gap) => Math.abs(gap - frame_ms))), refresh_hz: 1000 / frame_ms };
}

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
