// @ts-check
/** The languages of the catalogues (`text_LANGUAGE.js`), and which of them a browser's user prefers. */

/** Value of a study's `language` if evaluators choose it. */
export const CHOOSE = "choose";
/** The language of texts that have no other. */
export const FALLBACK = "en";

/** Each language's own name. */
export const LANGUAGES = /** @type {Record<string, string>} */ ({
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  pt: "Português",
  ja: "日本語",
  zh: "简体中文",
  ar: "العربية",
});

const RIGHT_TO_LEFT = ["ar"];

/** @param {string} language */
export function direction(language) {
  return RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
}

/**
 * Return the first of a browser's languages that has a catalogue; English if none has.
 * @param {readonly string[]} preferred language tags, such as `pt-BR`
 */
export function preferredOf(preferred) {
  const found = preferred
    .map((tag) => tag.toLowerCase().split("-")[0])
    .find((language) => Object.hasOwn(LANGUAGES, language));
  return found ?? FALLBACK;
}

/** Return the language of this browser's user. */
export function browserLanguage() {
  return preferredOf(navigator.languages ?? [navigator.language]);
}
