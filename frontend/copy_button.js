// @ts-check
/** A button that copies a text, and says what came of it. */

import { el } from "./screens.js";

/**
 * @param {string} label of the button
 * @param {string} text
 * @param {string} what is copied, as a sentence begins: “The code”
 * @param {Node} shown the element that shows the text, which is selected where copying is not allowed
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
 * Whether a text reached the clipboard; pages without TLS have none.
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
