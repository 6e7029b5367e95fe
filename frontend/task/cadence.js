// @ts-check
/** How a clip's frames fall on a display's refreshes: one pattern, repeated. Pure. */

/** How much faster or slower than its own rate a clip may play, so that its pattern is short. */
const LARGEST_CHANGE = 0.02;
const LONGEST_PATTERN = 50;

/**
 * Return how many refreshes each frame stays, as the shortest pattern that plays the clip at its rate, to
 * within 2%: [2] for 30 frames a second at 60 Hz, [2, 3] for 24. Null if the display is slower than the clip.
 * @param {[number, number]} fps frames in a number of seconds
 * @param {number} frame_ms one refresh
 * @returns {number[] | null}
 */
export function cadenceOf([count, seconds], frame_ms) {
  const refreshes = (1000 * seconds) / count / frame_ms;
  for (let length = 1; length <= LONGEST_PATTERN; length += 1) {
    const whole = Math.round(refreshes * length);
    if (whole >= length && Math.abs(whole / length / refreshes - 1) <= LARGEST_CHANGE)
      return Array.from({ length }, (_, i) => end(i, whole, length) - end(i - 1, whole, length));
  }
  return null;
}

/**
 * @param {number} i
 * @param {number} whole refreshes of the pattern
 * @param {number} length its frames
 */
function end(i, whole, length) {
  return Math.floor(((i + 1) * whole) / length);
}

/**
 * Return a pattern as it is recorded: `2`, `2:3`.
 * @param {number[]} cadence
 */
export function cadenceText(cadence) {
  return cadence.join(":");
}

/**
 * Return how many of a clip's frames an exposure shows: at least one, at most all.
 * @param {number} exposure_ms
 * @param {import("./clip_file.js").ClipHead} head
 */
export function framesIn(exposure_ms, { fps: [count, seconds], frames }) {
  return Math.min(frames, Math.max(1, Math.round((exposure_ms * count) / seconds / 1000)));
}
