// @ts-check
/** The texts that evaluators see, in English: the catalogue that every other language follows. */

/** @type {Record<string, string>} */
export const texts = {
  "answer.fake": "Fake",
  "answer.real": "Real",
};
