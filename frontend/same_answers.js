// @ts-check
/** A kind word for whoever gives the same answer for long; it tells nothing of the pictures. */

import { ask, el } from "./screens.js";

/** @typedef {"real" | "fake"} Response */

/**
 * Count equal answers in a row, for one block; pure.
 * @param {number} limit after how many to say so; 0 for never
 * @returns {(response: Response) => boolean} told each answer; true once, when it is time
 */
export function countSameAnswers(limit) {
  /** @type {Response | null} */
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
 * @param {Response} response
 * @param {number} count
 * @param {boolean} isHalfReal whether exactly half of the pictures are real
 */
export function saySameAnswers(response, count, isHalfReal) {
  return ask(
    "break",
    "A short break",
    [
      el("p", {}, `Your last ${count} answers were all “${response}”. That is all right if it is what you see.`),
      el("p", {}, `${isHalfReal ? "Half" : "About half"} of all pictures are real, and the others are fake. Please take a moment with each one.`),
    ],
    [{ label: "Continue", value: "on", primary: true }],
  );
}
