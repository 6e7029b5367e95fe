// @ts-check
/** Metrics of a study's pictures: those that are kept with it, and computing them. */

import { details, el, quiet, sentences, table } from "./elements.js";
import { elementsOf, tickField, valuesOf } from "./fields.js";
import { count, moment } from "./format.js";
import { commandForm } from "./forms.js";
import { jobList, tellEnd } from "./jobs.js";
import { pathTo } from "./paths.js";

/**
 * @typedef {{value: number | null, ci?: number[] | null}} Value
 * @typedef {{[metric: string]: Value} & {model: string, reals: number, fakes: number}} Row
 * @typedef {{extractor: {name: string}, names: {[metric: string]: string}, models: Row[], reals: number,
 *   picture_px: string, computed_at: string, notes: string[]}} Run
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 */

const METRICS = ["frechet", "kid", "precision", "recall", "density", "coverage", "f1_8", "f8"];

/**
 * @param {Study} record
 * @param {Context} context
 */
export function metricsSection({ study }, context) {
  const path = pathTo`/api/studies/${study}/metrics`;
  const kept = el("div");
  const asked = {
    extrapolate: tickField("Extrapolate the Frechet distance to infinitely many pictures"),
    skip_bad: tickField("Leave out files that cannot be read"),
  };
  const refresh = async () => {
    const { runs } = await context.api.get(path, { signal: context.signal });
    kept.replaceChildren(...runs.flatMap(runView));
  };
  const form = commandForm(
    [details("Options", ...elementsOf(asked))],
    "Compute the metrics",
    async (told) => {
      const { job } = await context.api.post(path, valuesOf(asked));
      void tellEnd(job, told, "They are computed.", context);
      return "The server is at work: see below.";
    },
    { isPrimary: false, isInline: false },
  );
  const words =
    "Frechet and kernel distance, precision, recall, density, coverage, F1/8 and F8 of each model’s " +
    "pictures against the reals. They are kept with the study, and stand in its full results and report.";
  void refresh().catch(() => {}); // a table that cannot be read is made anew
  return el(
    "section",
    { class: "metrics" },
    el("h2", {}, "Metrics of the pictures"),
    el("p", { class: "quiet no-print" }, words),
    kept,
    el("div", { class: "no-print" }, form, jobList(study, context, { kinds: ["metrics"], onEnd: refresh })),
  );
}

/** @param {Run} run */
function runView({ extractor, names, models, reals, computed_at, notes }) {
  const rows = models.map((row) => [
    row.model,
    ...METRICS.map((metric) => cell(row[metric])),
    count(row.fakes),
  ]);
  const name = `Features: ${extractor.name}`;
  return [
    el("h3", {}, name),
    table(name, ["Model", ...METRICS.map((metric) => names[metric]), "Pictures"], rows),
    quiet(`Against ${count(reals)} reals, computed ${moment(computed_at)}.`),
    ...(notes.length ? [sentences("notes quiet", notes)] : []),
  ];
}

/** @param {Value} found */
function cell({ value, ci }) {
  if (value === null) return "–";
  return ci
    ? el("span", {}, short(value), el("span", { class: "quiet span" }, `${short(ci[0])} to ${short(ci[1])}`))
    : short(value);
}

/** @param {number} value */
function short(value) {
  return Math.abs(value) >= 100
    ? value.toFixed(0)
    : Number(value.toPrecision(3)).toString().replace("-", "−");
}
