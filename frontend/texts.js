// @ts-check
/** Texts by key, in the language of the study; `{name}` in a text stands for a value. */

import { texts as english } from "./text_en.js";

/**
 * Return a text with its values filled in.
 * @param {string} key as in `text_en.js`
 * @param {Record<string, string | number>} [values] by the names that stand in braces
 */
export function text(key, values = {}) {
  const found = english[key];
  if (found === undefined) throw new Error(`text_en.js has no text ${key}`);
  return found.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
