// @ts-check
/**
 * How settings are grouped and typed, and which of them an error is about; pure.
 */

import { sentence } from "./format.js";

/**
 * @typedef {object} Setting as `GET /api/settings/{method}` describes it
 * @property {string} name
 * @property {string} doc
 * @property {string} group
 * @property {"whole" | "number" | "truth_value" | "choice" | "text" | "long_text" | "list" | "table"} kind
 * @property {unknown} default
 * @property {string} written the default as the command line takes it
 * @property {number | null} low
 * @property {number | null} high
 * @property {string[]} choices
 * @property {string[]} choice_labels what each of them is called
 * @property {boolean} is_open whether other values than the choices are taken
 * @property {boolean} applies whether studies of the method use it
 * @property {string} label
 * @property {number} asked its place among those that are asked for first, or 0
 */

/** Headings of the groups, in order. */
const GROUPS = /** @type {Record<string, string>} */ ({
  stimuli: "Pictures and trials",
  judgment: "Of this method alone",
  clips: "Clips",
  timing: "Flashes, masks and timing",
  page: "The page that evaluators see",
  follow_ups: "Questions after each answer",
  unscored: "Practice and attention checks",
  exclusion: "Leaving evaluators out",
  looks: "Planned looks",
  pay: "Pay",
  language: "Language and texts",
  consent: "Consent and contact",
  admission: "Who may take part",
});

const TRUTH = [
  ["true", "yes"],
  ["false", "no"],
];
const BESIDE = ["panel", "texts"];

/**
 * Return the settings that stand first, and the others in groups with headings; those that a method does not
 * use are left out.
 * @param {Setting[]} all
 */
export function arranged(all) {
  const settings = all.filter(({ applies }) => applies);
  const common = settings.filter(({ asked }) => asked).sort((a, b) => a.asked - b.asked);
  const others = settings.filter(({ asked }) => !asked);
  const names = [...Object.keys(GROUPS), ...others.map(({ group }) => group)];
  const groups = [...new Set(names)]
    .map((group) => ({
      heading: GROUPS[group] ?? group,
      settings: others.filter((setting) => setting.group === group),
    }))
    .filter((group) => group.settings.length);
  return { common, groups };
}

/**
 * Return the setting that an error of the server is about; "" if none.
 * Some of them are entries beside the settings.
 * @param {(string | number)[]} keys of the error
 */
export function settingAt([first, second]) {
  if (first === "settings") return `${second ?? ""}`;
  return BESIDE.includes(`${first}`) ? `${first}` : "";
}

/**
 * Return settings as the API takes them: without those that are empty, which keep their defaults.
 * @param {Record<string, string>} values as typed
 * @param {Setting[]} settings
 */
export function asSettings(values, settings) {
  const isTable = new Set(settings.filter(({ kind }) => kind === "table").map(({ name }) => name));
  const given = Object.entries(values)
    .map(([name, text]) => [name, text.trim()])
    .filter(([, text]) => text !== "");
  return Object.fromEntries(given.map(([name, text]) => [name, isTable.has(name) ? asTable(text) : text]));
}

/**
 * Return a stored value as it is typed.
 * @param {unknown} value
 */
export function asTyped(value) {
  if (value === null || typeof value !== "object") return `${value ?? ""}`;
  return Array.isArray(value)
    ? value.join(",")
    : Object.entries(value)
        .map(([key, text]) => `${key} = ${text}`)
        .join("\n");
}

/**
 * Return a table from lines of the form `key = text`.
 * @param {string} text
 */
function asTable(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  return Object.fromEntries(
    lines.map((line) => [line.split("=")[0].trim(), line.slice(line.indexOf("=") + 1).trim()]),
  );
}

/**
 * Return what a field says of its values: the default, and the limits of numbers.
 * @param {Setting} setting
 */
export function inShort(setting) {
  const { kind, written, low, high } = setting;
  const usual = valueWords(setting, written);
  const limits =
    low !== null && high !== null && ["whole", "number"].includes(kind) ? `From ${low} to ${high}.` : "";
  return [usual && kind !== "long_text" ? sentence(`Default: ${usual}`) : "", limits]
    .filter(Boolean)
    .join(" ");
}

/**
 * Return values and words to choose from; none where anything can be typed.
 * @param {Setting} setting
 * @param {string} [present] the value at present, which may be none of the choices
 * @returns {string[][]}
 */
export function optionsOf({ kind, choices, choice_labels }, present = "") {
  if (kind === "truth_value") return TRUTH;
  const options = choices.map((choice, i) => [choice, choice_labels[i]]);
  const isOther = options.length && present && !choices.includes(present);
  if (!isOther) return options;
  // None of the choices: a rule that is spelled out, or the record of a panel.
  const words = present.startsWith("{") ? `${JSON.parse(present).name} (a panel of its own)` : present;
  return [...options, [present, words]];
}

/**
 * Return a setting's value in words.
 * @param {Setting} setting
 * @param {string} value as it is typed
 */
export function valueWords(setting, value) {
  return optionsOf(setting, value).find(([each]) => each === value)?.[1] ?? value.trim();
}

/**
 * Return what is wrong with what was typed, as far as the field's kind tells; "" if nothing.
 * @param {Setting} setting
 * @param {string} typed
 */
export function problemOf({ kind, low, high }, typed) {
  const text = typed.trim();
  if (!text || (kind !== "whole" && kind !== "number")) return "";
  const number = Number(text);
  if (kind === "whole" && !Number.isInteger(number)) return "A whole number is expected here.";
  if (!Number.isFinite(number)) return "A number is expected here.";
  return (low !== null && number < low) || (high !== null && number > high)
    ? `It must be from ${low} to ${high}.`
    : "";
}

/**
 * Return a panel as it is posted: its name, or its record from JSON.
 * @param {string} typed
 * @returns {string | Record<string, unknown>}
 */
export function panelOf(typed) {
  const text = typed.trim();
  if (!text.startsWith("{")) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`a panel's record must be an object of JSON: ${/** @type {Error} */ (error).message}`);
  }
}
