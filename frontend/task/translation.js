// @ts-check
/** Whether the page's texts are a machine's translation, of the browser or of an extension, by its traces. */

import { currentLanguage } from "../texts/texts.js";

/** Of Chrome and its kin, Edge, Yandex, extensions. The page itself has no `font`. */
const TRACES = [
  ".translated-ltr",
  ".translated-rtl",
  "[_msttexthash]",
  "[_msthash]",
  "font",
  "ya-tr-span",
  ".immersive-translate-target-wrapper",
].join();
const LANGUAGE = /^[a-z]{2,3}(-[a-z0-9]+)*?(?=-x-|$)/i; // Chrome may add "-x-mtfrom-en"

/**
 * Return the language that the page was translated to (BCP 47), `unknown` if no trace tells it, or null if
 * nothing was translated. Firefox leaves no trace but the page's `lang`, otherwise ours (`texts.js`).
 */
export function translatedTo() {
  const { lang } = document.documentElement;
  if (lang !== currentLanguage()) return LANGUAGE.exec(lang)?.[0] ?? "unknown";
  return document.querySelector(TRACES) ? "unknown" : null;
}
