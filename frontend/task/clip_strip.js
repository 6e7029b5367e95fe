// @ts-check
/** The first frame of a clip as an image, from the film strip in its file: nothing is decoded for it. */

import { stripOf } from "./clip_file.js";

/**
 * Show the film strip of a clip once its image is seen; the style cuts it to the first frame.
 * @param {HTMLImageElement} image
 * @param {string} url of the clip
 * @param {import("./visit.js").Visit["fetchPicture"]} fetchPicture
 */
export function showStrip(image, url, fetchPicture) {
  new IntersectionObserver(async (entries, watch) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    watch.disconnect();
    try {
      const clip = await fetchPicture(url, () => false);
      const strip = stripOf(await clip.arrayBuffer());
      image.onload = () => URL.revokeObjectURL(image.src);
      image.src = URL.createObjectURL(new Blob([strip], { type: "image/jpeg" }));
    } catch (error) {
      console.warn("a clip of the debrief cannot be shown:", error);
    }
  }).observe(image);
}
