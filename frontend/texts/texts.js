// @ts-check
/**
 * Texts by key, in the language of the study; `{name}` in a text stands for a value. Numbers, money and
 * durations are written as the language writes them.
 */

import { FALLBACK, direction } from "./languages.js";
import { texts } from "./text_en.js";

/** Unicode's first strong isolate and its end: the value's own direction orders its characters. */
const ISOLATE = ["\u2068", "\u2069"];
/** Arabic with the digits of codes and ids. */
const LOCALES = /** @type {Record<string, string>} */ ({ ar: "ar-u-nu-latn" });

const english = { ...texts };
/** Beginnings of the names of the catalogues in use; a later one replaces texts of those before. */
const parts = { text: true, more: false, clip: false };
/** Texts in English that name the medium, where this is not pictures. */
let ofMedium = /** @type {Record<string, string>} */ ({});
let current = FALLBACK;
let catalogue = english;
/** @typedef {{language: string, own: Record<string, string>}} Wanted */
/** @type {Wanted} */
let wanted = { language: FALLBACK, own: {} };
/** @type {Promise<void>} */
let change = Promise.resolve();
/** The page's `lang` as we wrote it; another one is a translator's, which knows what is shown. */
let written = globalThis.document?.documentElement.lang;
/** @type {<T extends object>(imported: () => Promise<T>, isAwaited?: () => boolean) => Promise<T>} */
let load = (imported) => imported();

/**
 * Load catalogues as a page loads all its code: repeatedly, and in words for whoever waits.
 * @param {typeof load} loadOfPage
 */
export function loadTextsBy(loadOfPage) {
  load = loadOfPage;
}

/**
 * Have the texts of `more_LANGUAGE.js` too, here in English; `loadTexts` loads them in the language in use.
 * Each module that shows them calls this when it is loaded.
 * @param {Record<string, string>} more
 */
export function addTexts(more) {
  parts.more = true;
  Object.assign(english, more, ofMedium);
}

/**
 * Have texts that name the medium of a study, where this is not pictures: `clip_LANGUAGE.js`, here in
 * English; the next language that is loaded has them.
 * @param {string} [medium]
 */
export async function nameMedium(medium) {
  if (medium !== "clip") return;
  ofMedium = (await load(() => import("./clip_en.js"))).texts;
  parts.clip = true;
  Object.assign(english, ofMedium);
}

/**
 * Load a language, and show all further texts in it.
 * If another call follows before it is loaded, only the last call has an effect, and both wait for it.
 * @param {string} language
 * @param {Record<string, string>} [own] the researcher's texts, by key
 * @param {() => boolean} [isAwaited] whether somebody waits for it
 */
export function useLanguage(language, own = {}, isAwaited = () => true) {
  wanted = { language, own };
  change = changeTo(wanted, isAwaited);
  return change;
}

/**
 * @param {Wanted} asked
 * @param {() => boolean} isAwaited
 * @returns {Promise<void>}
 */
async function changeTo(asked, isAwaited) {
  const { language, own } = asked;
  const needed = Object.entries(parts).flatMap(([part, isNeeded]) => (isNeeded ? [part] : []));
  const loaded = language === FALLBACK ? [english] : await Promise.all(needed.map(inLanguage));
  if (asked !== wanted) return change;
  current = language;
  catalogue = Object.assign({}, ...loaded, own);
  const page = globalThis.document?.documentElement; // none in the tests of Node
  if (!page) return;
  if (page.lang === written) page.lang = written = language;
  page.dir = direction(language);

  /** @param {string} part */
  async function inLanguage(part) {
    return (await load(() => import(`./${part}_${language}.js`), isAwaited)).texts;
  }
}

/**
 * Load, in the language in use, the texts that modules added.
 * @param {() => boolean} [isAwaited]
 */
export function loadTexts(isAwaited) {
  return useLanguage(wanted.language, wanted.own, isAwaited);
}

/**
 * Return a text as it is stored with studies in English that have no other: of pictures, and of their medium.
 * @param {string} key
 */
export function englishOf(key) {
  return [texts[key], ofMedium[key]];
}

/** Return the language in use. */
export function currentLanguage() {
  return current;
}

/**
 * Return a text with its values filled in.
 * @param {string} key as in `text_en.js` or `more_en.js`
 * @param {Record<string, string | number>} [values] by the names that stand in braces
 */
export function text(key, values = {}) {
  return pieces(key)
    .map((piece, i) => (i % 2 ? isolated(requiredValue(key, values, piece)) : piece))
    .join("");
}

/**
 * Return a text whose values may be elements, as nodes.
 * @param {string} key
 * @param {Record<string, Node | string | number>} values
 * @returns {(Node | string)[]}
 */
export function textNodes(key, values) {
  return pieces(key).map((piece, i) => {
    if (i % 2 === 0) return piece;
    const value = requiredValue(key, values, piece);
    return typeof value === "object" ? value : isolated(value);
  });
}

/**
 * Return sentences as one text.
 * @param {string[]} all empty ones are left out
 */
export function sentences(...all) {
  return all.filter(Boolean).join(text("between.sentences"));
}

/** @param {number} value */
export function number(value) {
  return format({ useGrouping: false }).format(value);
}

/** @param {number} value written with all its decimals */
export function exactly(value) {
  return format({ useGrouping: false, maximumFractionDigits: 15 }).format(value);
}

/**
 * @param {number} share 0 to 1
 * @param {number} [digits] after the decimal separator
 */
export function percent(share, digits = 0) {
  return format({ style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    share,
  );
}

/**
 * @param {number} cents hundredths of the currency: for pounds, pence
 * @param {string} currency ISO 4217
 */
export function money(cents, currency) {
  // among Arabic letters, `US$` reads `$US`
  const currencyDisplay = direction(current) === "rtl" ? "name" : "symbol";
  return format({ style: "currency", currency, currencyDisplay }).format(cents / 100);
}

/**
 * Return a number with its unit, in the plural form that it needs: `1 minute`, `10 minutes`.
 * @param {number} count
 * @param {"second" | "minute" | "day"} unit
 */
export function counted(count, unit) {
  return format({ style: "unit", unit, unitDisplay: "long" }).format(count);
}

/**
 * Return a catalogue's text in pieces: at odd places the names of values.
 * @param {string} key
 */
function pieces(key) {
  const found = catalogue[key] ?? english[key];
  if (found === undefined) throw new Error(`there is no text ${key}`);
  return found.split(/\{(\w+)\}/);
}

/**
 * @template T
 * @param {string} key
 * @param {Record<string, T>} values
 * @param {string} name
 */
function requiredValue(key, values, name) {
  if (!Object.hasOwn(values, name)) throw new Error(`the text ${key} needs a value for {${name}}`);
  return values[name];
}

/** @param {string | number} value */
function isolated(value) {
  return direction(current) === "rtl" ? `${ISOLATE[0]}${value}${ISOLATE[1]}` : `${value}`;
}

/** @param {Intl.NumberFormatOptions} options */
function format(options) {
  return new Intl.NumberFormat(LOCALES[current] ?? current, options);
}
