// @ts-check
/** The texts that a study has unless its researcher writes others, in the study's language. */

import { CHOOSE, FALLBACK } from "../texts/languages.js";

/**
 * Return a default text in a language: in English where evaluators choose theirs.
 * @param {string} english
 * @param {string} language its code; "" for the default
 * @returns {Promise<string>}
 */
export async function defaultIn(english, language) {
  if (!language || language === CHOOSE || language === FALLBACK) return english;
  const [{ texts }, translated] = await Promise.all([
    import("../texts/text_en.js"),
    import(`../texts/text_${language}.js`),
  ]);
  const key = Object.keys(texts).find((each) => texts[each] === english);
  return key ? translated.texts[key] : english;
}
