// @ts-check
/** Keyboard input: Enter or Space presses the screen's primary button; a trial adds its own keys. */

/** @type {((key: string) => void) | null} */
let trialKeys = null;

/** @param {((key: string) => void) | null} handler receives lower-case keys; null for none */
export function onTrialKeys(handler) {
  trialKeys = handler;
}

/** @param {Document} page */
export function listenToKeys(page) {
  page.addEventListener("keydown", (event) => {
    page.documentElement.classList.add("has-keys"); // key hints are useful here
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const cover = page.querySelector("dialog[open]");
    if (event.key === "Enter" || event.key === " ") {
      pressPrimary(cover ?? page.querySelector("main"), event);
    } else if (!cover) {
      trialKeys?.(event.key.toLowerCase());
    }
  });
}

/**
 * @param {Element | null} screen
 * @param {KeyboardEvent} event
 */
function pressPrimary(screen, event) {
  const target = /** @type {Element | null} */ (event.target);
  if (target?.closest("button, a, summary, input, textarea")) return; // it handles the key itself
  const primary = /** @type {HTMLElement | null | undefined} */ (screen?.querySelector(".primary:not([disabled])"));
  if (!primary) return;
  event.preventDefault();
  primary.click();
}
