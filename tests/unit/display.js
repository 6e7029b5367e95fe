// @ts-check
/**
 * A simulated display and the frame callbacks of a page on it. It knows what was shown, whatever the
 * page believes: what a callback draws stands from the refresh on in which the callback runs.
 */

const REFRESHES_AT_MOST = 100000;

/**
 * Random numbers from 0 to 1, the same for the same seed (mulberry32).
 * @param {number} seed
 */
export function randomFrom(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * How a display and the page's callbacks behave; shares are 0 to 1.
 * @typedef {object} Habits
 * @property {number} [stretch] each refresh lasts longer by up to this share of one: a variable rate
 * @property {number} [drops] share of refreshes without a callback
 * @property {number} [delays] share of callbacks that run after their refresh began
 * @property {number} [delay] and by how many refreshes at most; from 1 on they are in a later one
 * @property {number} [lates] share of callbacks with a time stamp after the refresh began
 * @property {number} [late] and by how many refreshes at most, under 1
 * @property {number} [coarse_ms] stamp and clock are rounded down to multiples of this
 * @property {number} [calm] refreshes at the start without drops, delays and late stamps
 */

/**
 * @param {number} hz
 * @param {() => number} random
 * @param {Habits} [habits]
 */
export function makeDisplay(hz, random, habits = {}) {
  const {
    stretch = 0,
    drops = 0,
    delays = 0,
    delay = 0,
    lates = 0,
    late = 0,
    coarse_ms = 0,
    calm = 0,
  } = habits;
  const frame_ms = 1000 / hz;
  /** @type {number[]} when each refresh began, ms */
  const begins = [1000 * random()];
  /** @type {{refresh: number, name: string}[]} */
  const drawn = [];
  let current = -1;

  const beginOf = (/** @type {number} */ refresh) => {
    if (refresh > REFRESHES_AT_MOST) throw new Error("the page never came to an end");
    while (begins.length <= refresh)
      begins.push(begins[begins.length - 1] + frame_ms * (1 + stretch * random()));
    return begins[refresh];
  };
  const told = (/** @type {number} */ time) =>
    coarse_ms ? Math.floor(time / coarse_ms + 1e-6) * coarse_ms : time;

  /** The next callback's time stamp, and the clock as it runs. */
  function next() {
    current += 1;
    const isCalm = current < calm;
    while (!isCalm && random() < drops) current += 1;
    const stamp = beginOf(current) + (!isCalm && random() < lates ? late * random() * frame_ms : 0);
    const clock = stamp + (!isCalm && random() < delays ? delay * random() * frame_ms : 0);
    while (beginOf(current + 1) <= clock) current += 1;
    return { at: told(stamp), now: told(clock) };
  }

  return {
    frame_ms,

    /** The page's `everyFrame`, see frontend/task/frames.js. */
    async everyFrame(/** @type {(at: number, now: number) => boolean} */ onFrame) {
      for (let isOver = false; !isOver; ) {
        const { at, now } = next();
        isOver = onFrame(at, now);
      }
    },

    /** What the page calls, from within a callback, to show something else. */
    draw(/** @type {string} */ name) {
      drawn.push({ refresh: current, name });
    },

    /** What was shown, in order: from which refresh on, for how many, for how long; the last is up still. */
    shown() {
      return drawn.map(({ refresh, name }, i) => {
        const end = drawn[i + 1]?.refresh ?? Infinity;
        return {
          name,
          refresh,
          count: end - refresh,
          ms: beginOf(Math.min(end, begins.length - 1)) - beginOf(refresh),
        };
      });
    },
  };
}
