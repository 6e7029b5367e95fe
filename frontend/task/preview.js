// @ts-check
/** What a preview shows besides the study: that nothing is recorded, and the way back to the console. */

import { el } from "../shared/elements.js";

/**
 * Show a line above the page, and a word in the bar above trials, where all stays as evaluators see it.
 * The words are for researchers, and in the language of the console.
 */
export function showBanner() {
  const english = { lang: "en", dir: "ltr" };
  const back = backTo(location);
  const link = back ? [" ", el("a", { href: back }, "Back to the console")] : [];
  const words = el("p", {}, el("strong", {}, "Preview: nothing is recorded."), ...link);
  document.body.prepend(el("aside", { class: "preview-line", "aria-label": "Preview", ...english }, words));
  document.getElementById("bar")?.prepend(el("span", english, "Preview"));
}

/**
 * Return the path of the console's page that opened a preview, which the fragment names; "" if none did.
 * @param {{hash: string}} address
 */
export function backTo({ hash }) {
  return /^#(\/(?:[\w.~-]+\/)*console\/[\w%.~/-]+)$/.exec(hash)?.[1] ?? "";
}
