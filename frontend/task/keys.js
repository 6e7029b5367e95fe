// @ts-check
/**
 * Keys and pointers: Enter or Space presses the screen's primary button; a trial adds its own keys. A press
 * counts once, and for the screen on which it began; keys that a trial may use are not the browser's.
 */

/** @typedef {(key: string, onLatin: string, digit: string, event: KeyboardEvent) => void} TrialKeys */

/** Screens of a trial, on which every letter, digit and Space is the page's, also before the question. */
const TRIAL = ["countdown", "stimulus", "mask", "gap", "question", "feedback", "followup"];
const TEXT_FIELDS = "textarea,select,[contenteditable],input:not([type=checkbox],[type=radio])";
const META = /^Meta/;
const OLDEST_MS = 60000;
const CLICK_WITHIN_MS = 500; // of lifting the pointer

/** @type {TrialKeys | null} */
let trialKeys = null;
let entered = 0;
let pressed = 0;
let pointed = 0;

/**
 * @param {TrialKeys | null} handler receives a key in lower case, the same key on a Latin keyboard, and the
 *   digit on it or ""; null for none
 */
export function onTrialKeys(handler) {
  trialKeys = handler;
}

/** Count presses from now on only: another screen is shown, and takes none of those for the one before. */
export function countPressesFromNow() {
  entered = performance.now();
}

/** Return when the last press happened that counted, on the clock of `performance.now()`. */
export function lastPress() {
  return pressed;
}

/**
 * Return when an event happened, on the clock of `performance.now()`, however late it is handled; now if its
 * own time is of another clock.
 * @param {Event} event
 */
export function timeOf({ timeStamp }) {
  const now = performance.now();
  return timeStamp > 0 && timeStamp <= now && now - timeStamp < OLDEST_MS ? timeStamp : now;
}

/**
 * Return when a press began: that of a click, when the pointer went down.
 * @param {Event} event
 */
export function beginOf(event) {
  return event.type === "click" && pointed ? pointed : timeOf(event);
}

/** @param {Document} page */
export function listenToKeys(page) {
  /** @type {Set<string>} */
  const held = new Set();
  let isStale = false;
  const release = () => held.clear();
  addEventListener("blur", release);
  const onKeyUp = (/** @type {KeyboardEvent} */ { code, key }) =>
    META.test(key) ? release() : held.delete(code || key); // macOS reports no key lifted while Meta is held
  page.addEventListener("keyup", onKeyUp, true);
  listenToPointers(page);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    page.documentElement.classList.add("has-keys"); // key hints are useful here
    if (hasModifier(event)) return;
    isStale = event.repeat || held.has(event.code || event.key) || timeOf(event) < entered;
    held.add(event.code || event.key);
    if (!isStale) pressed = timeOf(event);
    else if (event.key === "Enter" || (event.key === " " && !isTyping(event))) stop(event);
  };
  page.addEventListener("keydown", onKeyDown, true);
  page.addEventListener("keydown", (event) => {
    if (hasModifier(event) || isTyping(event)) return;
    if (isOfTrial(page, event)) event.preventDefault();
    if (isStale) return;
    const cover = page.querySelector("dialog[open]");
    if (event.key === "Enter" || event.key === " ") {
      pressPrimary(cover ?? page.querySelector("main"), event);
    } else if (!cover) {
      trialKeys?.(event.key.toLowerCase(), onLatin(event), digitOf(event), event);
    }
  });
}

/** @param {Document} page */
function listenToPointers(page) {
  page.addEventListener("pointerdown", (event) => (pointed = timeOf(event)), true);
  const forget = () => {
    const down = pointed;
    setTimeout(() => {
      if (pointed === down) pointed = 0;
    }, CLICK_WITHIN_MS);
  };
  page.addEventListener("pointerup", forget, true);
  page.addEventListener("pointercancel", forget, true);
  page.addEventListener(
    "click",
    (event) => {
      if (event.detail === 0) pointed = 0; // by a key or a program: no pointer went down
      if (beginOf(event) < entered) stop(event);
      else if (event.isTrusted) pressed = timeOf(event);
    },
    true,
  );
}

/** @param {Event} event */
function stop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {KeyboardEvent} event */
function hasModifier({ ctrlKey, metaKey, altKey }) {
  return ctrlKey || metaKey || altKey;
}

/** @param {KeyboardEvent} event */
function isTyping({ target }) {
  return target instanceof Element && target.closest(TEXT_FIELDS) !== null;
}

/**
 * Return whether a key is the page's: browsers search the page for letters, or scroll by Space.
 * @param {Document} page
 * @param {KeyboardEvent} event
 */
function isOfTrial({ body }, { key, target }) {
  const isOwn = key === " " && /** @type {Element} */ (target).closest("button, a, summary, input");
  return key.length === 1 && !isOwn && TRIAL.includes(body.dataset.screen ?? "");
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
