// @ts-check
/** What people are asked: each judgment is a module `judgment_NAME.js`, of the name that the server gives it. */

/**
 * @typedef {object} Choice
 * @property {string} answer as the server knows it
 * @property {string} label of the button
 * @property {string[]} keys lower case; the first one is shown
 */

/**
 * @typedef {object} Judgment
 * @property {string} heading the question above the buttons
 * @property {string} each what one trial shows, in a word
 * @property {Choice[]} choices in the order of the buttons
 * @property {(study: import("../types/api.js").PublicStudy) => Element[]} instructions what is seen, and asked
 * @property {string} afterFlash what to do once a flash is over
 * @property {(isHalfReal: boolean) => string} shares how often each answer is right, for who gives one for long
 * @property {(response: string, wasCorrect: boolean) => string} verdict the feedback after an answer
 * @property {((pictures: ImageBitmap[]) => Promise<ImageBitmap>) | null} arrange several pictures of one trial in one of
 *   their size; null where a trial shows one
 */

/**
 * The judgment that a study asks for.
 * @param {{judgment: string}} study
 * @returns {Promise<Judgment>}
 */
export async function judgmentOf({ judgment }) {
  const found = await import(`./judgment_${judgment}.js`);
  return found.judgment;
}
