// @ts-check
/** A button that copies a text and reports the result. */

import { el } from "./elements.js";

/**
 * Return the button, which dispatches the event `copied`, and the line that reports the result.
 * @param {string} copy what is copied
 * @param {Node} shown where the page shows it; it is selected if the browser does not permit copying
 * @param {{label: string, copied: string, selected: string}} words of the button, and for both results
 */
export function copier(copy, shown, words) {
  const button = el("button", { type: "button" }, words.label);
  const told = el("p", { class: "quiet told", role: "status" });
  button.addEventListener("click", async () => {
    const isCopied = await copied(copy);
    if (!isCopied) getSelection()?.selectAllChildren(shown);
    told.textContent = isCopied ? words.copied : words.selected;
    if (isCopied) button.dispatchEvent(new Event("copied", { bubbles: true }));
  });
  return { button, told };
}

/**
 * Copy a text to the clipboard and return whether that succeeded; pages without TLS have no clipboard.
 * @param {string} text
 */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
