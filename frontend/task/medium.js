// @ts-check
/** The medium of stimuli, such as pictures: each is a module `medium_NAME.js`; the server sends NAME. */

/**
 * @typedef {object} Medium
 * @property {typeof import("./pictures.js").loadPictures} load fetches and decodes stimuli ahead of time
 * @property {(stimuli: ImageBitmap[], ms: number) => import("./presenter.js").Phase} phase shows the stimuli
 *   of a trial for `ms`
 */

/**
 * Return the medium of a study's stimuli.
 * @param {{medium: string}} study
 * @returns {Promise<Medium>}
 */
export async function mediumOf({ medium }) {
  const found = await import(`./medium_${medium}.js`);
  return found.medium;
}
