// @ts-check
/** The keys for “fake” and “real”: those of the language first, then those that every language has. */

import { text } from "../texts/texts.js";

/** Keys with the same meaning in every language. */
const EVERYWHERE = { fake: ["f"], real: ["j", "r"] };

/** Return the keys of both answers, lower case; the first ones are shown. */
export function answerKeys() {
  return {
    fake: firstAndOthers(text("answer.fake_key"), EVERYWHERE.fake),
    real: firstAndOthers(text("answer.real_key"), EVERYWHERE.real),
  };
}

/**
 * @param {string} shown
 * @param {string[]} others
 */
function firstAndOthers(shown, others) {
  const first = shown.toLowerCase();
  return [first, ...others.filter((key) => key !== first)];
}
