// @ts-check
/** A button that copies a text and reports the result. */

import { el } from "./screens.js";

/**
 * @param {string} label of the button
 * @param {string} text
 * @param {string} what is copied, as the start of a sentence: “The code”
 * @param {Node} shown where the page shows the text; it is selected if the browser does not permit copying
 */
export function copier(label, text, what, shown) {
  const button = el("button", { type: "button" }, label);
  const told = el("p", { class: "quiet told", role: "status" });
  button.addEventListener("click", async () => {
    const isCopied = await copied(text);
    if (!isCopied) getSelection()?.selectAllChildren(shown);
    told.textContent = isCopied ? `${what} is copied.` : `${what} is selected; please copy it with your keyboard or menu.`;
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
