// @ts-check
/** Pictures: the page's side of `stimuli/media/picture.py`. */

import { loadPictures } from "./pictures.js";
import { makeStill, showStill } from "./untimed_pictures.js";

const DECODED_AHEAD = 3;

/** @returns {import("./medium.js").Medium} */
export function mediumFor() {
  return {
    load: loadPictures,
    trialsDecoded: () => DECODED_AHEAD,
    isDecodedAside: true,
    phases: (stimuli, ms) => [{ name: "stimulus", ms, pictures: /** @type {ImageBitmap[]} */ (stimuli) }],
    present: async (stage, size) => makeStill(stage, size),
    show: showStill,
    facts: () => ({}),
    controls: () => null,
    notes: () => [],
  };
}
