// @ts-check
/**
 * What of a draft is ordered; pure. A draft keeps what was given for another method, in case that is chosen
 * again.
 */

import { methodOf } from "./console_methods.js";

/** @typedef {import("./console_draft.js").StudyDraft} StudyDraft */

/**
 * What the last check of the pictures found.
 * @typedef {object} Checked
 * @property {string} of the pictures, as `picturesOf` writes them
 * @property {number} pictures of the side that has the fewest
 */

/**
 * Return the order of a study: the pictures and settings of the draft that its method takes, and all else.
 * @param {StudyDraft} body
 * @param {Pick<import("./console_setting_groups.js").Setting, "name" | "applies">[]} settings all settings,
 *   for the method
 * @returns {StudyDraft}
 */
export function orderOf(
  { real, models, items, equalise, settings: given = {}, checked: _checked, ...others },
  settings,
) {
  const applying = new Set(settings.filter(({ applies }) => applies).map(({ name }) => name));
  const pictures = methodOf(others).parts.length ? { items } : { real, models, equalise };
  return {
    ...others,
    ...pictures,
    settings: Object.fromEntries(Object.entries(given).filter(([name]) => applying.has(name))),
  };
}

/**
 * Return which uploads an order is of, as text.
 * @param {StudyDraft} order
 */
export function picturesOf({ real, models, items, skip_bad }) {
  const named = [...(models ?? []), ...(items ?? [])].map(({ upload }) => upload);
  return JSON.stringify([real, named, Boolean(skip_bad)]);
}

/**
 * Return how many pictures the side with the fewest has; null if these pictures were not checked.
 * @param {StudyDraft} order
 * @param {Checked | undefined} checked
 */
export function picturesASide(order, checked) {
  return checked && checked.of === picturesOf(order) && checked.pictures >= 2 ? checked.pictures : null;
}

/**
 * Return what of an order the check of its pictures depends on.
 * @param {StudyDraft} order
 * @returns {StudyDraft}
 */
export function checkedOf({ name: _name, pages: _pages, questions: _questions, ...checked }) {
  return checked;
}
