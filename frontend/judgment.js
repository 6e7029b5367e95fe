// @ts-check
/** The question put to evaluators: each judgment is a module `judgment_NAME.js`; the server sends NAME. */

/**
 * @typedef {object} Choice
 * @property {string} answer the response value that the server expects
 * @property {string} label of the button
 * @property {string[]} keys lower case; the first one is shown
 */

/**
 * @typedef {object} Judgment
 * @property {string} heading the question above the buttons
 * @property {string} each word for what one trial shows
 * @property {Choice[]} choices in the order of the buttons
 * @property {(study: import("../types/api.js").PublicStudy) => Element[]} instructions what is shown and asked
 * @property {string} afterFlash what to do once a flash is over
 * @property {(isHalfReal: boolean) => string} shares how often each answer is right, for evaluators who keep repeating one
 * @property {(response: string, wasCorrect: boolean) => string} verdict feedback after a response
 * @property {((pictures: ImageBitmap[]) => Promise<ImageBitmap>) | null} arrange combines several pictures of one
 *   trial into one of the same size; null if a trial shows one picture
 */

/**
 * Return the judgment of a study.
 * @param {{judgment: string}} study
 * @returns {Promise<Judgment>}
 */
export async function judgmentOf({ judgment }) {
  const found = await import(`./judgment_${judgment}.js`);
  return found.judgment;
}
