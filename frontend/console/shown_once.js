// @ts-check
/** What is shown once, such as a new token: until it was copied, leaving it is asked about. */

import { isConfirmed } from "./forms.js";

/** What was not copied yet, in words, by the element that shows it. */
const uncopied = /** @type {Map<Element, string>} */ (new Map());

addEventListener("beforeunload", (event) => {
  if (isWaiting()) event.preventDefault();
});

/**
 * Ask about an element before it goes, until what it shows was copied by its button or by hand.
 * @param {HTMLElement} element
 * @param {string} what it shows, as a sentence begins
 */
export function shownOnce(element, what) {
  uncopied.set(element, what);
  for (const event of ["copied", "copy"]) element.addEventListener(event, () => uncopied.delete(element));
}

/**
 * Return whether a part of the page can go: nothing in it waits to be copied, or that was agreed to.
 * @param {Element} [part]
 */
export async function mayGo(part = document.body) {
  const elements = waiting(part);
  if (!elements.length) return true;
  const [what] = elements.map((element) => uncopied.get(element));
  const words = `${what} was not copied, and cannot be shown again.`;
  if (!(await isConfirmed("Go on without copying?", words, "Go on without it"))) return false;
  for (const element of elements) uncopied.delete(element);
  return true;
}

/** Return whether anything on the page waits to be copied. */
export function isWaiting() {
  return waiting(document.body).length > 0;
}

/** @param {Element} part */
function waiting(part) {
  return [...uncopied.keys()].filter((element) => part.contains(element));
}
