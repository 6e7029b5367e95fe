// @ts-check
/** Keyboard input: Enter or Space presses the screen's primary button; a trial adds its own keys. */

/** @typedef {(key: string, onLatin: string, digit: string) => void} TrialKeys */

/** @type {TrialKeys | null} */
let trialKeys = null;

/**
 * @param {TrialKeys | null} handler receives a key in lower case, the same key on a Latin keyboard, and the
 *   digit on it or ""; null for none
 */
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
      trialKeys?.(event.key.toLowerCase(), onLatin(event), digitOf(event));
    }
  });
}

/**
 * Return the letter that a key has on a Latin keyboard, for layouts of other scripts and input methods.
 * @param {KeyboardEvent} event
 */
function onLatin({ key, code }) {
  const isLatin = /^[\x20-\x7e\u00c0-\u024f]$/.test(key);
  return isLatin ? key.toLowerCase() : (/^Key([A-Z])$/.exec(code)?.[1].toLowerCase() ?? "");
}

/**
 * Return the digit on a key, also where the layout has it beside Shift (France), or "".
 * @param {KeyboardEvent} event
 */
function digitOf({ key, code }) {
  if (/^[0-9]$/.test(key)) return key;
  return key.length === 1 ? (/^Digit([0-9])$/.exec(code)?.[1] ?? "") : "";
}

/**
 * @param {Element | null} screen
 * @param {KeyboardEvent} event
 */
function pressPrimary(screen, event) {
  const target = /** @type {Element | null} */ (event.target);
  if (target?.closest("button, a, summary, input, textarea")) return; // it handles the key itself
  const primary = /** @type {HTMLElement | null | undefined} */ (
    screen?.querySelector(".primary:not([disabled])")
  );
  if (!primary) return;
  event.preventDefault();
  primary.click();
}
