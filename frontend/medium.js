// @ts-check
/** What stimuli are made of: each medium is a module `medium_NAME.js`, of the name that the server gives it. */

/**
 * @typedef {object} Medium
 * @property {typeof import("./pictures.js").loadPictures} load fetches and decodes stimuli ahead of time
 * @property {(stimulus: ImageBitmap, ms: number) => import("./presenter.js").Phase} phase that shows one for so long
 */

/**
 * The medium of what a study shows.
 * @param {{medium: string}} study
 * @returns {Promise<Medium>}
 */
export async function mediumOf({ medium }) {
  const found = await import(`./medium_${medium}.js`);
  return found.medium;
}
