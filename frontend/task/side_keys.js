// @ts-check
/** Keys on the left and on the right of the keyboard, whatever the language, and how a key is shown. */

import { el } from "../shared/elements.js";

export const SIDES = { left: ["f", "arrowleft"], right: ["j", "arrowright"] };

/** @param {string[]} keys of an answer, the first of which is shown */
export function keyHint([key]) {
  return el("kbd", { translate: "no" }, key.toUpperCase());
}
