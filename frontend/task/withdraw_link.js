// @ts-check
/** The task page's note on withdrawing: a link that works now and later, for its owner only. */

import { addressOf } from "../shared/base_path.js";
import { copier } from "../shared/copy_button.js";
import { el } from "../shared/elements.js";
import { text } from "../texts/texts.js";

/**
 * Return a note that can be expanded; the secret is in the URL's fragment, so it appears in no log.
 * @param {string} path of the page on which to withdraw
 * @param {boolean} [isOpen]
 */
export function withdrawalNote(path, isOpen = false) {
  const href = addressOf(path);
  const url = new URL(href, location.href).href;
  const link = el("a", { href, target: "_blank", rel: "noopener", dir: "ltr", translate: "no" }, url);
  const { button, told } = copier(url, link, {
    label: text("withdraw.copy_link"),
    copied: text("withdraw.link_copied"),
    selected: text("withdraw.link_selected"),
  });
  const note = el(
    "details",
    { class: "withdrawal", ...(isOpen ? { open: "" } : {}) },
    el("summary", {}, text("withdraw.note")),
    el("p", {}, text("withdraw.keep_link")),
    el("p", { class: "link" }, link),
    el("p", {}, text("withdraw.agreed_there")),
    button,
    told,
  );
  return note;
}
