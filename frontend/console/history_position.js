// @ts-check
/**
 * What the browser's Back, and a reload, bring back of a screen: what was looked for, which stands in the
 * address, and how far down it was, which stands in the history's entry.
 */

import { el, field } from "./elements.js";

const RESTORED_WITHIN_MS = 15_000; // what a screen shows can come in several replies, and late
const SCROLLED_MS = 150;
const BY_HAND = ["wheel", "touchstart", "pointerdown", "keydown"];

/**
 * Return a part of the address after the question mark; "" if it is not there.
 * @param {string} name
 */
export function inAddress(name) {
  return new URLSearchParams(location.search).get(name) ?? "";
}

/**
 * Put parts into the address of the present entry of the history; "" removes one.
 * @param {Record<string, string>} parts
 */
export function putIntoAddress(parts) {
  history.replaceState(history.state, "", addressWith(parts));
}

/**
 * Return the present address with other parts after the question mark; "" removes one.
 * @param {Record<string, string>} parts
 */
export function addressWith(parts) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(parts)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  return `${location.pathname}${query.size ? `?${query}` : ""}`;
}

/**
 * Return a field that looks for something, whose text stands in the address.
 * @param {string} label
 * @param {() => void} onInput
 */
export function findField(label, onInput) {
  const input = el("input", { type: "search", autocomplete: "off", spellcheck: "false", maxlength: "200" });
  input.value = inAddress("find");
  input.addEventListener("input", () => {
    putIntoAddress({ find: input.value });
    onInput();
  });
  return { ...field(label, input), input, wanted: () => input.value.trim().toLowerCase() };
}

/** @type {ReturnType<typeof setTimeout>} */
let timer;
let isScrollingBack = false; // what the page passes on its way is not where somebody left it

/** Note in the present entry of the history how far down the page is, whenever that changes. */
export function noteScrolling() {
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => clearTimeout(timer)); // it was of the entry that is left
  addEventListener("scroll", () => {
    clearTimeout(timer);
    timer = setTimeout(noteScroll, SCROLLED_MS);
  });
}

/** Note how far down the page is now, before another screen is shown. */
export function noteScroll() {
  clearTimeout(timer);
  if (!isScrollingBack) history.replaceState({ ...history.state, scroll: scrollY }, "");
}

/**
 * Scroll to where this entry of the history was left, once the screen is long enough, unless somebody scrolls
 * or types meanwhile.
 * @param {HTMLElement} main
 * @param {number} wanted CSS pixels
 * @param {AbortSignal} signal aborts when the screen is left
 */
export function scrollBack(main, wanted, signal) {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(RESTORED_WITHIN_MS)]);
  const watcher = new ResizeObserver(() => scrollTo(0, wanted));
  const stop = () => {
    watcher.disconnect();
    isScrollingBack = false;
  };
  isScrollingBack = true;
  ended.addEventListener("abort", stop);
  for (const what of BY_HAND) addEventListener(what, stop, { once: true, signal: ended, passive: true });
  watcher.observe(main);
}
