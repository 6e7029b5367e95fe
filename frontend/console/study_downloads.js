// @ts-check
/** What there is to download of a study, with what can be asked of each file. */

import { downloadButton } from "./download.js";
import { details, el, field } from "./elements.js";
import { choiceField, elementsOf, numberField, textField, tickField, valuesOf } from "./fields.js";
import { pathTo } from "./paths.js";

/**
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
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
    const [button, progressPlace] = downloadButton(label, `${record.study}-${file}`, path, context);
    return el(
      "li",
      {},
      button,
      el("span", { class: "quiet" }, what),
      progressPlace,
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

/**
 * @param {Study} record
 * @returns {Options}
 */
function reportOptions({ settings }) {
  const percent = numberField("Intervals (%)", { min: "50", max: "99.9", step: "any", placeholder: "95" });
  const asked = {
    title: textField("Title of the page"),
    level: { ...percent, value: () => share(percent.input.value) },
    margin: numberField(
      "Margin around 50%, in percentage points",
      { min: "0.1", max: "49", step: "any", placeholder: "5" },
      "Within it, a model counts as indistinguishable.",
    ),
    exposures: choiceField("Exposures", [
      ["", "as the staircase asked for them"],
      ["shown", "as displays showed them"],
    ]),
  };
  const { exposures, ...others } = asked;
  return options("Options of the report", settings.staircase ? asked : others);
}

/** @param {string} percent */
function share(percent) {
  return percent ? `${Number(percent) / 100}` : undefined;
}

/**
 * @param {Study} record
 * @returns {Options}
 */
function exportOptions({ has_items }) {
  const names = el("textarea", { rows: "2", spellcheck: "false" });
  const asked = {
    creator: {
      ...field("Creators", names, "One on each line, such as Lovelace, Ada."),
      value: () => names.value.split("\n").flatMap((name) => name.trim() || []),
    },
    license: textField("Licence", { placeholder: "CC-BY-4.0" }, "Its SPDX name, or an address."),
    url: textField("Where it is published", { type: "url" }),
    release: textField("Version of the data set", { placeholder: "1.0.0" }),
    croissant: tickField("Answers and their description only, without what publishing needs", "false"),
    bapps: tickField("With pictures and votes in the layout of BAPPS"),
  };
  const { bapps, ...others } = asked;
  return options("Options of the data set", has_items ? asked : others);
}

/**
 * @param {string} summary
 * @param {Record<string, {element: HTMLElement, value: () => unknown}>} fields
 * @returns {Options}
 */
function options(summary, fields) {
  return {
    element: details(summary, ...elementsOf(fields)),
    query: () =>
      Object.entries(valuesOf(fields)).flatMap(([name, values]) =>
        [values].flat().map((value) => [name, `${value}`]),
      ),
  };
}
