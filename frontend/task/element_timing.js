// @ts-check
/**
 * Measures when the browser really presented each phase of a flash. Element Timing reports the first paint
 * of an image; so each phase has its own one-pixel image, decoded in advance, which the callback that draws
 * the phase makes visible.
 */

import { everyFrame } from "./frames.js";
import { within } from "../shared/patience.js";

/** One pixel in the gray of the stage. */
const PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAICAgAAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";
const FRAMES_TO_WAIT = 30;
const DECODED_MS = 2000;

/** @typedef {PerformanceEntry & {identifier: string, renderTime: number}} ElementEntry */

let made = 0;

/** Return whether the browser reports presentation times, in full resolution. */
export function hasElementTiming() {
  return globalThis.crossOriginIsolated === true && hasElementEntries();
}

/** Return whether the browser would report them to a cross-origin isolated page, which requires https. */
export function tellsTimesElsewhere() {
  return globalThis.crossOriginIsolated !== true && hasElementEntries();
}

function hasElementEntries() {
  return (PerformanceObserver.supportedEntryTypes ?? []).includes("element");
}

/**
 * @param {HTMLElement} stage
 * @param {number} count
 */
export async function makeProbes(stage, count) {
  const names = Array.from({ length: count }, (_, i) => `openhype-${made + i + 1}`);
  made += count;
  const box = document.createElement("div");
  // All in one corner of the stage. Inline styles, because the sandboxed frame has no style sheet.
  Object.assign(box.style, { position: "absolute", inset: "auto auto 0 0", display: "grid" });
  const images = names.map((name) => {
    const image = new Image(1, 1);
    image.setAttribute("elementtiming", name);
    image.alt = "";
    image.src = PIXEL;
    Object.assign(image.style, { gridArea: "1 / 1", visibility: "hidden" });
    return image;
  });
  // Undecoded ones are told of late, if at all: the flash is then repeated, or unverified.
  await within(DECODED_MS, Promise.all(images.map((image) => image.decode()))).catch(() => {});
  box.append(...images);
  stage.append(box);
  /** @type {Map<string, number>} */
  const times = new Map();
  const note = (/** @type {PerformanceEntryList} */ entries) => {
    for (const entry of entries) {
      const { identifier, renderTime } = /** @type {ElementEntry} */ (entry);
      if (renderTime > 0) times.set(identifier, renderTime);
    }
  };
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ type: "element" });
  return {
    /** @param {number} i */
    reveal(i) {
      images[i].style.visibility = "visible";
    },
    /**
     * Return when each was presented (ms; null if never revealed), or null if the browser reports nothing.
     * @param {boolean[]} wasRevealed
     */
    async presentations(wasRevealed) {
      const expected = names.filter((_, i) => wasRevealed[i]);
      let frames = 0;
      await everyFrame(() => {
        note(observer.takeRecords());
        frames += 1;
        return frames > FRAMES_TO_WAIT || expected.every((name) => times.has(name));
      });
      observer.disconnect();
      box.remove();
      if (!expected.every((name) => times.has(name))) return null;
      return names.map((name) => times.get(name) ?? null);
    },
  };
}
