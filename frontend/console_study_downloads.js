// @ts-check
/** What there is to download of a study, with what can be asked of each file. */

import { downloadButton } from "./console_download.js";
import { el, field } from "./console_elements.js";
import { pathTo } from "./console_paths.js";

/**
 * @typedef {import("./console_study.js").Study} Study
 * @typedef {import("./console_study.js").Context} Context
 * @typedef {{element: HTMLElement, query: () => string[][]}} Options
 */

/** What a study offers to download: a name and what is in it. */
const FILES = /** @type {{[file: string]: [string, string]}} */ ({
  "report.zip": ["Report", "the page with every number, figures, and tables for papers"],
  "export.zip": ["Data set", "all answers with their description, as Psych-DS and Croissant, to publish"],
  "responses.csv": ["Answers", "one row each, as CSV"],
  "masks.png": ["Masks", "what is shown after a flash"],
  "site.zip": ["Demo", "a small page with some of the pictures, for any web server"],
});

/**
 * @param {Study} record
 * @param {boolean} isSimulated
 * @param {Context} context
 */
export function downloads(record, isSimulated, context) {
  const options = /** @type {{[file: string]: Options}} */ ({
    "report.zip": reportOptions(record),
    "export.zip": exportOptions(record),
  });
  const items = record.downloads.map((file) => {
    const [label, what] = FILES[file] ?? [file, ""];
    const asked = options[file];
    const path = () => {
      const query = new URLSearchParams([
        ...(isSimulated ? [["simulated", "true"]] : []),
        ...(asked?.query() ?? []),
      ]);
      return `${pathTo`/api/studies/${record.study}/${file}`}${query.size ? `?${query}` : ""}`;
    };
    return el(
      "li",
      {},
      downloadButton(label, path, context),
      el("span", { class: "quiet" }, what),
      ...(asked ? [asked.element] : []),
    );
  });
  return el(
    "section",
    { class: "no-print" },
    el("h2", {}, "Download"),
    el("ul", { class: "downloads" }, ...items),
  );
}

/** @param {Study} record */
function reportOptions({ method }) {
  const title = line();
  const level = line({ type: "number", min: "50", max: "99.9", step: "any", placeholder: "95" });
  const margin = line({ type: "number", min: "0.1", max: "49", step: "any", placeholder: "5" });
  const exposures = el(
    "select",
    {},
    el("option", { value: "" }, "as the staircase asked for them"),
    el("option", { value: "shown" }, "as displays showed them"),
  );
  const fields = [
    field("Title of the page", title),
    field("Intervals (%)", level),
    field(
      "Margin around 50%, in percentage points",
      margin,
      "Within it, a model counts as indistinguishable.",
    ),
    ...(method === "time" ? [field("Exposures", exposures)] : []),
  ];
  return options("Options of the report", fields, () => [
    ...typed("title", title.value),
    ...typed("level", level.value && `${Number(level.value) / 100}`),
    ...typed("margin", margin.value),
    ...typed("exposures", exposures.value),
  ]);
}

/** @param {Study} record */
function exportOptions({ method }) {
  const creators = el("textarea", { rows: "2", spellcheck: "false" });
  const licence = line({ placeholder: "CC-BY-4.0" });
  const url = line({ type: "url" });
  const release = line({ placeholder: "1.0.0" });
  const isPlain = el("input", { type: "checkbox" });
  const withPictures = el("input", { type: "checkbox" });
  const fields = [
    field("Creators", creators, "One on each line, such as Lovelace, Ada."),
    field("Licence", licence, "Its SPDX name, or an address."),
    field("Where it is published", url),
    field("Version of the data set", release),
  ];
  const ticks = [
    tick(isPlain, "Answers and their description only, without what publishing needs"),
    ...(method === "2afc" || method === "jnd"
      ? [tick(withPictures, "With pictures and votes in the layout of BAPPS")]
      : []),
  ];
  return options(
    "Options of the data set",
    fields,
    () => [
      ...creators.value.split("\n").flatMap((name) => typed("creator", name)),
      ...typed("license", licence.value),
      ...typed("url", url.value),
      ...typed("release", release.value),
      ...(isPlain.checked ? [["croissant", "false"]] : []),
      ...(withPictures.checked ? [["bapps", "true"]] : []),
    ],
    ticks,
  );
}

/**
 * @param {string} summary
 * @param {ReturnType<typeof field>[]} fields
 * @param {() => string[][]} query
 * @param {HTMLElement[]} [others]
 * @returns {Options}
 */
function options(summary, fields, query, others = []) {
  return {
    element: el(
      "details",
      {},
      el("summary", {}, summary),
      ...fields.map(({ element }) => element),
      ...others,
    ),
    query,
  };
}

/** @param {Record<string, string>} [attributes] */
function line(attributes = {}) {
  return el("input", { type: "text", autocomplete: "off", ...attributes });
}

/**
 * @param {HTMLInputElement} box
 * @param {string} words
 */
function tick(box, words) {
  return el("label", { class: "option" }, box, words);
}

/**
 * @param {string} name
 * @param {string} value
 */
function typed(name, value) {
  return value.trim() ? [[name, value.trim()]] : [];
}
