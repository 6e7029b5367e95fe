// @ts-check
/** A friendly notice after many equal responses in a row; it reveals nothing about the pictures. */

import { ask, el } from "./screens.js";

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
 * @param {string} answer the label of its button, in lower case
 * @param {number} count
 * @param {string} shares how often each answer is right
 */
export function saySameAnswers(answer, count, shares) {
  return ask(
    "break",
    "A short break",
    [
      el("p", {}, `Your last ${count} answers were all “${answer}”. That is all right if it is what you see.`),
      el("p", {}, `${shares} Please take a moment with each one.`),
    ],
    [{ label: "Continue", value: "on", primary: true }],
  );
}
