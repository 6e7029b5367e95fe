// @ts-check
/** Time that passes as a test says, and animation frames at given times, or none. */
import { mock } from "node:test";

const STEP_MS = 10;
const TURNS = 8;

/**
 * Return what `act` gives, while frames come at `times`.
 * @template T
 * @param {number[]} times ms from now
 * @param {() => Promise<T>} act
 * @param {number} [most_ms] that may pass
 * @param {(at: number) => {hidden: boolean} | undefined} [page] the document at a time; none in a worker
 * @param {() => Promise<unknown>} [turn] lets go on what does not wait for time
 * @returns {Promise<T>}
 */
export async function atFrames(
  times,
  act,
  most_ms = 20000,
  page = () => ({ hidden: false }),
  turn = async () => {},
) {
  const world = /** @type {any} */ (globalThis);
  const before = world.document;
  /** @type {((at: number) => void)[]} */
  let waiting = [];
  world.requestAnimationFrame = (/** @type {(at: number) => void} */ tick) => waiting.push(tick);
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const now = mock.method(performance, "now", () => at);
  const left = [...times];
  let at = 0;
  let isOver = false;
  try {
    world.document = page(0);
    const result = act().finally(() => (isOver = true));
    result.catch(() => {});
    for (; !isOver; at += STEP_MS) {
      if (at > most_ms) throw new Error(`not over after ${most_ms} ms`);
      world.document = page(at);
      while (left.length && left[0] <= at) {
        const frame = /** @type {number} */ (left.shift());
        for (const tick of waiting.splice(0)) tick(frame);
      }
      mock.timers.tick(STEP_MS);
      for (let i = 0; i < TURNS; i += 1) await turn();
    }
    return await result;
  } finally {
    mock.timers.reset();
    now.mock.restore();
    world.document = before;
    waiting = [];
  }
}
