// @ts-check
/**
 * The question put to evaluators: each judgment is a module `judgment_NAME.js`; the server sends NAME.
 * Its texts are getters or functions, since the language may change after the module was loaded.
 */

/**
 * @typedef {object} Choice
 * @property {string} answer the response value that the server expects
 * @property {string} label of the button
 * @property {string[]} keys lower case; the first one is shown
 */

/**
 * @typedef {object} Judgment
 * @property {string} heading the question above the buttons
 * @property {(n: number, total: number) => string} progress which trial this is, of how many
 * @property {(values: {part: number, parts: number, answered: number, total: number}) => string} partDone
 *   what a block's end says
 * @property {() => (Node | string)[]} press how to answer with keys, or the buttons
 * @property {() => string} tap how to answer with the buttons
 * @property {Choice[]} choices in the order of the buttons
 * @property {(study: import("../../types/api.js").PublicStudy) => Element[]} instructions what is shown and
 *   asked
 * @property {string} afterFlash what to do once a flash is over
 * @property {string} [ready] what a block of flashes begins with, where it is not the countdown's usual text
 * @property {(response: string, count: number) => string} repeated what an evaluator is told who gave one
 *   answer `count` times in a row
 * @property {(isHalfReal: boolean) => string} shares how often each answer is right, for such an evaluator
 * @property {(response: string, wasCorrect: boolean, rightAnswer?: string | null) => string} verdict feedback
 *   after a response; the right answer is known after “not sure”
 * @property {number} pictures how many pictures the stage shows side by side, in the order in which the
 *   server names them; 1 also where a trial shows several, one after the other
 * @property {string[]} [captions] words below the pictures, from left to right; "" for none below one of them
 */

/**
 * Return the judgment of a study, with the choices that the study allows.
 * @param {{judgment: string, answers: string[]}} study
 * @returns {Promise<Judgment>}
 */
export async function judgmentOf({ judgment, answers }) {
  const found = (await import(`./judgment_${judgment}.js`)).judgment;
  const allowed = Object.create(found, {
    choices: {
      get: () => found.choices.filter((/** @type {Choice} */ { answer }) => answers.includes(answer)),
    },
  });
  if (!answers.includes("not_sure")) return allowed;
  return (await import("./not_sure.js")).withNotSure(allowed);
}
