// @ts-check
/** The task page's note on withdrawing: a link that works now and later, for its owner only. */

import { copier } from "./copy_button.js";
import { el } from "./screens.js";

/**
 * Return a note that can be expanded; the secret is in the URL's fragment, so it appears in no log.
 * @param {string} path of the page on which to withdraw
 * @param {boolean} [isOpen]
 */
export function withdrawalNote(path, isOpen = false) {
  const url = new URL(path, location.href).href;
  const link = el("a", { href: path, target: "_blank", rel: "noopener" }, url);
  const { button, told } = copier("Copy the link", url, "The link", link);
  const note = el(
    "details",
    { class: "withdrawal", ...(isOpen ? { open: "" } : {}) },
    el("summary", {}, "You can withdraw, now or later"),
    el("p", {}, "Keep this link to yourself. It opens a page on which you can have your answers deleted. What you earned is paid all the same."),
    el("p", { class: "link" }, link),
    button,
    told,
  );
  return note;
}
