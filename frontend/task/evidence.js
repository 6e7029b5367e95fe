// @ts-check
/** What is known about browsers: how each reports what was shown, and what external measurements found. */

import { hasElementTiming, tellsTimesElsewhere } from "./element_timing.js";

/** @typedef {import("./planner.js").Timing["evidence"]} Evidence */

const IN_WORDS = {
  element: "told by the browser",
  worker_element: "clock of the worker, and told by the browser",
  worker_video: "clock of the worker, and of the compositor",
  worker: "clock of the worker",
  callback: "clock of the page",
};

/** @param {Evidence} evidence */
export function inWords(evidence) {
  return IN_WORDS[evidence];
}

/**
 * Return what is known about this browser: whether it reports when pictures were really shown, and what
 * follows (docs/timing.md has the figures).
 * @returns {{tellsTimes: boolean, known: string[]}}
 */
export function browserAtHand() {
  if (hasElementTiming()) {
    return {
      tellsTimes: true,
      known: [
        "This browser tells when each picture was really shown, whether the page draws it or a worker. " +
          "A flash that stood too long or too short is known, and another picture takes its place.",
      ],
    };
  }
  if (tellsTimesElsewhere()) {
    return {
      tellsTimes: false,
      known: [
        "This browser tells when a picture was really shown, but only to pages with an https address. " +
          "Here it is known only when a picture was drawn.",
      ],
    };
  }
  if (CSS.supports("-moz-appearance", "none")) {
    return {
      tellsTimes: false,
      known: [
        "Firefox does not tell when a picture was really shown, but how late the part of it was that " +
          "puts a page together. A flash that was drawn or put together late is known, and another " +
          "picture takes its place.",
        "What stays unknown is a display that stands still after that.",
      ],
    };
  }
  return {
    tellsTimes: false,
    known: [
      "This browser does not tell a page when a picture was really shown, only when it was drawn. A " +
        "flash that was drawn late is known, and another picture takes its place.",
      "What stays unknown is a display that stands still after a picture was drawn in time. Of Safari " +
        "on its own devices nothing was measured so far.",
    ],
  };
}
