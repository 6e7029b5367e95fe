// @ts-check
/**
 * Which settings of a study stand first, how the others are grouped, and which of them an error is about;
 * pure.
 */

import { sentence } from "./console_format.js";

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
 * @property {boolean} is_open whether other values than the choices are taken
 * @property {boolean} applies whether studies of the method use it
 */

/** Those that most studies decide on, in this order. */
const COMMON = [
  "evaluators",
  "images",
  "judgments_per_item",
  "exposures_ms",
  "size_px",
  "base_usd_cents",
  "bonus_usd_cents",
  "minutes",
  "contact",
  "title",
  "language",
  "panel",
];

/** Headings of the groups, in order. */
const GROUPS = /** @type {Record<string, string>} */ ({
  stimuli: "Pictures and trials",
  contest: "Tournaments",
  timing: "Flashes, masks and timing",
  page: "The page that evaluators see",
  follow_ups: "Questions after each answer",
  unscored: "Practice and attention checks",
  exclusion: "Leaving evaluators out",
  pay: "Pay",
  language: "Language and texts",
  consent: "Consent and contact",
  admission: "Who may take part",
});

const BESIDE = ["panel", "texts"];

/** Labels of the common settings; others are called by their names. */
const LABELS = /** @type {Record<string, string>} */ ({
  evaluators: "Evaluators for each model",
  images: "Pictures that an evaluator judges",
  judgments_per_item: "Judgments of each pair or triplet",
  exposures_ms: "Exposures (ms)",
  size_px: "Width and height of pictures (px)",
  base_usd_cents: "Pay for taking part (cents)",
  bonus_usd_cents: "Pay for each right answer (cents)",
  minutes: "Minutes that a session takes",
  contact: "Whom evaluators can write to",
  title: "Title that evaluators see",
  language: "Language",
  panel: "Where evaluators come from",
});

/**
 * What the common settings mean, for who knows no other, and those whose description names options of the
 * command line.
 */
const MEANINGS = /** @type {Record<string, string>} */ ({
  evaluators: "How many people are to finish for each model.",
  images:
    "One session has so many: pictures, half of them real; in pairs, tournaments and comparisons so " +
    "many pairs or triplets.",
  judgments_per_item:
    "How often each pair or triplet is to be judged, by different people; the number of evaluators " +
    "follows from it.",
  exposures_ms: "How long pictures are shown, such as 50, 100, 200; each time equally often.",
  size_px: "Pictures of both sides are brought to this size.",
  base_usd_cents: "Who finishes gets it, whatever the answers.",
  bonus_usd_cents: "It comes on top of that.",
  minutes: "Evaluators read it before they begin, and the wage an hour follows from it.",
  contact:
    "An e-mail address, a web address or a text; it stands at the consent, with errors and at the end.",
  title: "It stands above the first page.",
  language: "“choose” lets each evaluator choose one.",
  panel:
    "“link”: whoever has the link. “private”: a link for each person. The others are panels that recruit.",
  draw:
    "How the pictures of a session are drawn. `random`; `least-seen`: those with the fewest answers; " +
    "`uncertain`: those that need more evaluators, as the study’s page last found. With the last two, " +
    "scores use the random share alone (`infinity`).",
  practice_images:
    "Pictures of the practice before the first block, half of them real, always with feedback; neither " +
    "scored nor paid by answer. They are the study’s practice pictures, or are set aside from its " +
    "others.",
  picture_checks:
    "Attention checks in a session by pictures whose truth is beyond doubt, half of them real. They " +
    "stand among the scored pictures and are not scored; not with `time`.",
  masks:
    "How masks are made from the pictures: `texture` (Portilla and Simoncelli) or `phase` (quick: " +
    "scrambled phases); `own`: the masks given with the pictures.",
  builtin_instructions:
    "Show the built-in instructions, after the study’s own pages if there are any; no: only its own.",
  reasons:
    "Reasons that evaluators can choose for an answer, several or none: 1 to 12, separated by vertical " +
    "bars; `none`: not asked.",
  target_wage_usd_cents:
    "Wage an hour that the study aims at, in cents; the study’s page warns where the median is lower.",
  keep_days:
    "Days after a session’s end for which the panel’s parameters and the facts of devices are stored; " +
    "after that the study’s page can delete them. 0: as long as the study.",
  texts: "Texts of the page in place of its own: on each line a key, =, and the text.",
  consent_text: "The text that evaluators agree to; empty lines separate paragraphs.",
});

/**
 * Return what a setting means.
 * @param {Setting} setting
 */
export function meaningOf({ name, doc }) {
  return MEANINGS[name] ?? sentence(doc);
}

/**
 * Return the settings that stand first, and the others in groups with headings; those that a method does not
 * use are left out.
 * @param {Setting[]} all
 */
export function arranged(all) {
  const settings = all.filter(({ applies }) => applies);
  const isCommon = (/** @type {Setting} */ { name }) => COMMON.includes(name);
  const common = settings.filter(isCommon).sort((a, b) => COMMON.indexOf(a.name) - COMMON.indexOf(b.name));
  const others = settings.filter((setting) => !isCommon(setting));
  const names = [...Object.keys(GROUPS), ...others.map(({ group }) => group)];
  const groups = [...new Set(names)]
    .map((group) => ({
      heading: GROUPS[group] ?? group,
      settings: others.filter((setting) => setting.group === group),
    }))
    .filter((group) => group.settings.length);
  return { common, groups };
}

/** @param {string} name */
export function labelOf(name) {
  return LABELS[name] ?? name;
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
export function inShort({ kind, written, low, high }) {
  const usual = kind === "truth_value" ? ({ true: "yes", false: "no" }[written] ?? "") : written;
  const limits =
    low !== null && high !== null && ["whole", "number"].includes(kind) ? `From ${low} to ${high}.` : "";
  return [usual && kind !== "long_text" ? sentence(`Default: ${usual}`) : "", limits]
    .filter(Boolean)
    .join(" ");
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
