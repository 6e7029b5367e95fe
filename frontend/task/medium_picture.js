// @ts-check
/** Pictures: the page's side of `stimuli/media/picture.py`. */

import { loadPictures } from "./pictures.js";

/** @type {import("./medium.js").Medium} */
export const medium = {
  load: loadPictures,
  phase: (pictures, ms) => ({ name: "stimulus", ms, pictures }),
};
