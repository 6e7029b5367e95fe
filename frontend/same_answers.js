// @ts-check
/** A kind word for whoever gives the same answer for long; it tells nothing of the pictures. */

import { ask, el } from "./screens.js";

/**
 * Count equal answers in a row, for one block; pure.
 * @param {number} limit after how many to say so; 0 for never
 * @returns {(response: string) => boolean} called with each answer; true once, when the warning is due
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
 * @param {string} answer as its button has it, in lower case
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
