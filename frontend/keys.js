// @ts-check
/** Keys: Enter or Space press the screen's primary button; a trial adds its own. */

/** @type {((key: string) => void) | null} */
let trialKeys = null;

/** @param {((key: string) => void) | null} handler gets lower-case keys; null for none */
export function onTrialKeys(handler) {
  trialKeys = handler;
}

/** @param {Document} page */
export function listenToKeys(page) {
  page.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" || event.key === " ") {
      pressPrimary(page, event);
    } else {
      trialKeys?.(event.key.toLowerCase());
    }
  });
}

/**
 * @param {Document} page
 * @param {KeyboardEvent} event
 */
function pressPrimary(page, event) {
  const target = /** @type {Element | null} */ (event.target);
  if (target?.closest("button, a, summary, input, textarea")) return; // it presses itself
  const primary = /** @type {HTMLElement | null} */ (page.querySelector("main .primary:not([disabled])"));
  if (!primary) return;
  event.preventDefault();
  primary.click();
}
