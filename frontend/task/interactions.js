// @ts-check
/** Interactions besides responses: leaving the window and returning, entering and leaving full screen. */

const MOST_KEPT = 40; // per trial; the server accepts no more

/**
 * @typedef {{event: "focus" | "blur" | "fullscreenenter" | "fullscreenexit", time_ms: number}} Interaction
 */

/** @type {Interaction[]} */
let kept = [];

/**
 * @param {EventTarget} view the window
 * @param {EventTarget & {fullscreenElement: unknown}} page the document
 * @param {() => number} now ms since the page was opened
 */
export function listenToInteractions(view, page, now = () => performance.now()) {
  /** @param {Interaction["event"]} event */
  const keep = (event) => {
    if (kept.length < MOST_KEPT) kept.push({ event, time_ms: Math.round(now()) });
  };
  view.addEventListener("focus", () => keep("focus"));
  view.addEventListener("blur", () => keep("blur"));
  page.addEventListener("fullscreenchange", () =>
    keep(page.fullscreenElement ? "fullscreenenter" : "fullscreenexit"),
  );
}

/**
 * Return the interactions since the last call, in order, and clear them.
 * @returns {Interaction[]}
 */
export function takeInteractions() {
  const taken = kept;
  kept = [];
  return taken;
}
