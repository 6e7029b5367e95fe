// @ts-check
/**
 * What of a draft is ordered; pure. A draft keeps what was given for another method, in case that is chosen
 * again.
 */

import { methodOf } from "./methods.js";

/** @typedef {import("./draft.js").StudyDraft} StudyDraft */

/**
 * Return the order of a study: the pictures and settings of the draft that its method takes, and all else.
 * @param {StudyDraft} body
 * @param {Pick<import("./setting_groups.js").Setting, "name" | "applies">[]} settings all settings,
 *   for the method
 * @returns {StudyDraft}
 */
export function orderOf(
  { real, models, items, preprocess, flat, settings: given = {}, ...others },
  settings,
) {
  const applying = new Set(settings.filter(({ applies }) => applies).map(({ name }) => name));
  const pictures = methodOf(others).parts.length ? { items } : { real, models, preprocess, flat };
  return {
    ...others,
    ...pictures,
    settings: Object.fromEntries(Object.entries(given).filter(([name]) => applying.has(name))),
  };
}

/**
 * Return whether an order has all the pictures that its method needs.
 * @param {StudyDraft} order
 */
export function hasPictures({ real, models, items }) {
  return Boolean(items?.length || (real && models?.length));
}

/**
 * Return what of an order the check of its pictures depends on.
 * @param {StudyDraft} order
 * @returns {StudyDraft}
 */
export function checkedOf({ name: _name, pages: _pages, questions: _questions, ...checked }) {
  return checked;
}
