// @ts-check
/**
 * The witness (`witness.js`) in a frame of its own. Chromium runs a sandboxed frame in a process of its own, so that the
 * page may be as busy as it will: the frame keeps step with the worker, which tells it of each phase directly.
 */

import { hasElementTiming } from "./probes.js";

const PATIENCE_MS = 3000;

let sequences = 0;

/**
 * @returns {Promise<{worker: MessagePort, make: import("./witness.js").MakeWitness, end: () => void} | null>} null where the
 *   frame does not start or does not tell; `worker` is for the worker, which posts `{at_ms}` as it draws
 */
export async function startFramedWitness() {
  if (!hasElementTiming()) return null;
  const frame = document.createElement("iframe");
  frame.className = "witness";
  frame.sandbox.add("allow-scripts");
  frame.allow = "cross-origin-isolated";
  frame.ariaHidden = "true";
  frame.tabIndex = -1;
  frame.title = "Timing of the pictures";
  frame.srcdoc = `<!doctype html><script type="module" src="${new URL("./witness_frame.js", import.meta.url).href}"></script>`;
  const loaded = heard(window, ({ source }) => source === frame.contentWindow);
  // Not in the place of screens: a frame that leaves the page forgets everything.
  document.body.append(frame);
  const end = () => frame.remove();
  const page = new MessageChannel();
  const worker = new MessageChannel();
  page.port1.start();
  if (await loaded) {
    const answer = heard(page.port1);
    frame.contentWindow?.postMessage(null, "*", [page.port2, worker.port2]);
    if ((await answer)?.data.tells) return { worker: worker.port1, make: (...sequence) => make(page.port1, sequence), end };
  }
  end();
  return null;
}

/**
 * @param {MessagePort} frame
 * @param {[number[], number, number]} sequence
 * @returns {ReturnType<import("./witness.js").MakeWitness>}
 */
async function make(frame, [durations_ms, anchor, frame_ms]) {
  const id = (sequences += 1);
  const made = heard(frame, ({ data }) => data.made === id);
  frame.postMessage({ id, durations_ms, anchor, frame_ms });
  const isThere = Boolean(await made);
  return {
    follow() {}, // the worker tells the frame
    async presentations() {
      const told = heard(frame, ({ data }) => data.told === id);
      frame.postMessage({ id });
      return (isThere && (await told)?.data.presentations) || [...durations_ms, 0].map(() => null);
    },
  };
}

/**
 * The next message that is meant; null if none comes in time.
 * @param {Window | MessagePort} place
 * @param {(event: MessageEvent) => boolean} [isMeant]
 * @returns {Promise<MessageEvent | null>}
 */
function heard(place, isMeant = () => true) {
  return new Promise((resolve) => {
    const done = (/** @type {MessageEvent | null} */ event) => {
      place.removeEventListener("message", /** @type {any} */ (hear));
      clearTimeout(patience);
      resolve(event);
    };
    const hear = (/** @type {MessageEvent} */ event) => isMeant(event) && done(event);
    const patience = setTimeout(() => done(null), PATIENCE_MS);
    place.addEventListener("message", /** @type {any} */ (hear));
  });
}
