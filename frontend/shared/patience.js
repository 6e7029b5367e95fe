// @ts-check
/**
 * Ends what would be waited for without an end. Only time in which the page is seen counts: a hidden page
 * gets no frames, and nobody waits at it.
 */

const STEP_MS = 500; // a computer that slept has waited no longer than this

/** What was waited for did not come. */
export class NeverCame extends Error {
  id = "";
  /** @param {string} code */
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/**
 * Call `onOver` once the page was seen for `ms`. `again` counts from the beginning, `stop` ends it.
 * @param {number} ms
 * @param {() => void} onOver
 */
export function afterSeen(ms, onOver) {
  let left_ms = ms;
  const timer = setInterval(() => {
    if (!globalThis.document?.hidden) left_ms -= STEP_MS;
    if (left_ms > 0) return;
    clearInterval(timer);
    onOver();
  }, STEP_MS);
  return {
    again() {
      left_ms = ms;
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Return what a promise gives; reject with NeverCame if it gives nothing while the page is seen for `ms`.
 * @template T
 * @param {number} ms
 * @param {PromiseLike<T>} promise
 * @param {string} [code] of the error
 * @returns {Promise<T>}
 */
export function within(ms, promise, code = "") {
  return new Promise((resolve, reject) => {
    const { stop } = afterSeen(ms, () => reject(new NeverCame(code)));
    Promise.resolve(promise).then(resolve, reject).finally(stop);
  });
}
