// @ts-check
/**
 * The language of a study, and its title and consent text in it. Where evaluators choose the language, a
 * title or consent text follows their choice if the researcher left it as it was, or wrote it in their
 * language.
 */

import { CHOOSE, LANGUAGES, browserLanguage } from "../texts/languages.js";
import { readLanguage, writeLanguage } from "./storage.js";
import { texts as english } from "../texts/text_en.js";
import { currentLanguage, englishOf, nameMedium, text, useLanguage } from "../texts/texts.js";

/**
 * @typedef {Pick<import("../../types/api.js").PublicStudy, "study" | "language" | "texts"> &
 *   {medium?: string}} Spoken
 */

/**
 * Show all further texts in the study's language, or in that of the evaluator if these choose it.
 * @param {Spoken} study
 * @param {string | null} [recorded] the language of the session, if the server knows it
 */
export async function speak(study, recorded = null) {
  await nameMedium(study.medium);
  const language = study.language === CHOOSE ? (recorded ?? chosen(study.study)) : study.language;
  return useLanguage(language, study.texts[language]);
}

/**
 * Show all further texts in a language that the evaluator chose, also when this browser returns.
 * @param {Spoken} study
 * @param {string} language
 */
export function choose(study, language) {
  writeLanguage(study.study, language);
  return useLanguage(language, study.texts[language]);
}

/**
 * Return the language that was chosen for a study in this browser, or else the browser's.
 * @param {string} study
 */
function chosen(study) {
  const stored = readLanguage(study);
  return stored && Object.hasOwn(LANGUAGES, stored) ? stored : browserLanguage();
}

/** @param {Spoken & {title: string}} study */
export function titleOf(study) {
  return following(study, keyOf("title.", study.title) ?? "title.study", study.title);
}

/** @param {Spoken & {consent: {text: string}}} study */
export function consentOf(study) {
  return following(study, keyOf("consent.text", study.consent.text) ?? "consent.text", study.consent.text);
}

/**
 * Return the key of a text that a study was stored with, in English; undefined if it is the researcher's own.
 * @param {string} beginning of the key
 * @param {string} stored
 */
function keyOf(beginning, stored) {
  return Object.keys(english).find((key) => key.startsWith(beginning) && englishOf(key).includes(stored));
}

/**
 * @param {Spoken} study
 * @param {string} key
 * @param {string} stored
 */
function following(study, key, stored) {
  if (study.language !== CHOOSE) return stored;
  const isOwn = study.texts[currentLanguage()]?.[key] !== undefined;
  return isOwn || englishOf(key).includes(stored) ? text(key) : stored;
}
