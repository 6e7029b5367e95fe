// @ts-check
/** A friendly notice after many equal responses in a row; it reveals nothing about the pictures. */

import { el } from "../shared/elements.js";
import { ask } from "./screens.js";
import { text } from "../texts/texts.js";

/**
 * Count equal responses in a row, for one block; pure.
 * @param {number} limit number of equal responses after which to show the notice; 0 for never
 * @returns {(response: string) => boolean} called with each response; true once, when the notice is due
 */
export function countSameAnswers(limit) {
  /** @type {string | null} */
  let last = null;
  let inARow = 0;
  let isSaid = false;
  return (response) => {
    inARow = response === last ? inARow + 1 : 1;
    last = response;
    if (limit === 0 || isSaid || inARow < limit) return false;
    isSaid = true;
    return true;
  };
}

/**
 * @param {string} repeated which answer was given how often
 * @param {string} shares how often each answer is right
 */
export function saySameAnswers(repeated, shares) {
  return ask(
    "break",
    text("break.short"),
    [el("p", {}, repeated), el("p", {}, shares)],
    [{ label: text("break.continue"), value: "on", primary: true }],
  );
}
