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
 * The script in which each catalogue is written, where it is not Latin, and other codes of the same language.
 */
const SCRIPTS = /** @type {Record<string, string>} */ ({ ja: "jpan", zh: "hans", ar: "arab" });
const ALIASES = /** @type {Record<string, string>} */ ({ cmn: "zh", arb: "ar" });
const TRADITIONAL = ["tw", "hk", "mo"]; // regions that write Chinese in its traditional characters

/**
 * Return the language of the catalogue that a reader of `tag` reads, which is the same language in the same
 * script; null if there is none.
 * @param {string} tag such as `pt-BR`, `zh-Hant-TW` or `sr-Latn`
 */
function catalogueOf(tag) {
  const parts = tag.toLowerCase().split(/[-_]/);
  const language = Object.hasOwn(ALIASES, parts[0]) ? ALIASES[parts[0]] : parts[0];
  if (!Object.hasOwn(LANGUAGES, language)) return null;
  const end = parts.findIndex((part) => part.length === 1);
  const rest = parts.slice(1, end < 0 ? undefined : end);
  const isOther = rest[0]?.length === 3 && /[a-z]{3}/.test(rest[0]) && ALIASES[rest[0]] !== language;
  const isTraditional = language === "zh" && rest.some((part) => TRADITIONAL.includes(part));
  const script = rest.find((part) => /^[a-z]{4}$/.test(part)) ?? (isTraditional ? "hant" : null);
  return isOther || (script && script !== (SCRIPTS[language] ?? "latn")) ? null : language;
}

/**
 * Return the first of a browser's languages that has a catalogue; English if none has.
 * @param {readonly string[]} preferred language tags, such as `pt-BR`
 */
export function preferredOf(preferred) {
  return preferred.map(catalogueOf).find((language) => language !== null) ?? FALLBACK;
}

/** Return the language of this browser's user. */
export function browserLanguage() {
  return preferredOf(navigator.languages ?? [navigator.language]);
}
