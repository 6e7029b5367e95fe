// @ts-check
/** Fields of forms that know their values as the API takes them: undefined for an empty one. */

import { el, field, numberInput, select, textInput } from "./elements.js";

/** @typedef {Record<string, string>} Attributes */

/**
 * Return a field for one line of text.
 * @param {string} label
 * @param {Attributes} [attributes]
 * @param {string} [hint]
 */
export function textField(label, attributes = {}, hint = "") {
  const input = textInput(attributes);
  return { ...field(label, input, hint), input, value: () => input.value.trim() || undefined };
}

/**
 * @param {string} label
 * @param {Attributes} [attributes]
 * @param {string} [hint]
 */
export function numberField(label, attributes = {}, hint = "") {
  const input = numberInput(attributes);
  const value = () => (input.value === "" ? undefined : Number(input.value));
  return { ...field(label, input, hint), input, value };
}

/**
 * Return a field for an amount, which is typed in whole units of the currency.
 * @param {string} label
 * @param {number | null} [cents]
 * @param {string} [hint]
 */
export function centsField(label, cents = null, hint = "") {
  const value = cents === null ? "" : (cents / 100).toFixed(2);
  const typed = numberField(label, { min: "0", step: "0.01", value }, hint);
  return {
    ...typed,
    value: () => (typed.input.value ? Math.round(100 * Number(typed.input.value)) : undefined),
  };
}

/**
 * Return a field for a percentage, which stays a text.
 * @param {string} label
 * @param {string} [value]
 */
export function percentField(label, value = "") {
  return textField(label, { inputmode: "decimal", class: "number", value });
}

/**
 * @param {string} label
 * @param {string[][]} options value and words of each; the value "" for what need not be said
 * @param {string} [hint]
 */
export function choiceField(label, options, hint = "") {
  const input = select(options);
  return { ...field(label, input, hint), input, value: () => input.value || undefined };
}

/**
 * @template [T=string | boolean]
 * @param {string} words
 * @param {T} [ticked] its value while it is ticked
 */
export function tickField(words, ticked = /** @type {T} */ (true)) {
  const input = el("input", { type: "checkbox" });
  return {
    element: el("label", { class: "option" }, input, words),
    input,
    value: () => (input.checked ? ticked : undefined),
  };
}

/**
 * Return the values of fields that are not empty, by the names that the API gives them.
 * @param {Record<string, {value: () => unknown}>} fields
 * @returns {Record<string, any>}
 */
export function valuesOf(fields) {
  const values = Object.entries(fields).map(([name, { value }]) => [name, value()]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** @param {Record<string, {element: HTMLElement}>} fields */
export function elementsOf(fields) {
  return Object.values(fields).map(({ element }) => element);
}
