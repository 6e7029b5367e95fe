// @ts-check
/** How distances' scores by a 2AFC and by a JND study correlate. */

import { scatterChart } from "./charts.js";
import { el, estimate, paragraph, quiet, sentences, simulatedWarning, table } from "./elements.js";
import { choiceField } from "./fields.js";
import { count, counted } from "./format.js";
import { jobResult } from "./jobs.js";
import { pathTo } from "./paths.js";
import { distancesForm } from "./study_agreement.js";

/**
 * @typedef {{metric: string, two_afc: number, two_afc_ci: number[] | null, jnd: number | null,
 *   jnd_ci: number[] | null}} Score
 * @typedef {{level: number, simulated: boolean, metrics: Score[], studies: {name: string, kind: string,
 *   items: number, evaluators: number | null}[], correlations: {coefficient: keyof typeof COEFFICIENTS,
 *   value: number | null, ci: number[] | null}[], sentences: string[], notes: string[],
 *   remarks: string[]}} Correlation
 * @typedef {import("../../types/api.js").StudyLines["studies"][0]} StudyLine
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 */

const COEFFICIENTS = { pearson: "Pearson’s r", spearman: "Spearman’s ρ", kendall: "Kendall’s τ" };
const SCORES = ["2AFC score (%)", "JND area (mAP, %)"];
const OTHER = /** @type {Record<string, string>} */ ({ "2afc": "jnd", jnd: "2afc" });

/**
 * @param {Study} record
 * @param {boolean} isSimulated
 * @param {Context} context
 */
export async function correlationSection({ study, method }, isSimulated, context) {
  const { studies } = await context.api.get("/api/studies", { signal: context.signal });
  const others = studies
    .filter((/** @type {StudyLine} */ each) => each.kind === "study" && each.method === OTHER[method])
    .map((/** @type {StudyLine} */ each) => [each.study, each.study]);
  const { found, list } = jobResult(study, context, "correlate", (result) =>
    result?.correlations !== undefined && result.simulated === isSimulated ? correlationView(result) : null,
  );
  const other = choiceField("Correlate with", others);
  const path = pathTo`/api/studies/${study}/correlate`;
  const wish = () => ({ other: other.value(), simulated: isSimulated });
  const form = distancesForm("Correlate the scores", path, wish, context, [other.element]);
  const judgment = (OTHER[method] ?? "").toUpperCase();
  const words = `Is a distance that is good by ${method.toUpperCase()} good by ${judgment} too?`;
  const none = `There is no ${judgment} study to correlate with yet.`;
  return el(
    "section",
    { class: "no-print" },
    el("h2", {}, "2AFC with JND"),
    quiet(words),
    found,
    ...(others.length ? [form, list] : [quiet(none)]),
  );
}

/** @param {Correlation} data */
function correlationView({ level, simulated, metrics, studies, correlations, ...data }) {
  const points = metrics.flatMap(({ metric, two_afc, two_afc_ci, jnd, jnd_ci }) =>
    jnd === null ? [] : [{ name: metric, x: two_afc, x_ci: two_afc_ci, y: jnd, y_ci: jnd_ci }],
  );
  const chart = el(
    "figure",
    { class: "scatter quiet" },
    SCORES[1],
    scatterChart(points, `JND area against 2AFC score of ${points.map(({ name }) => name).join(", ")}`),
    el("figcaption", {}, SCORES[0]),
  );
  const scores = metrics.map(({ metric, two_afc, two_afc_ci, jnd, jnd_ci }) => [
    metric,
    estimate(two_afc, two_afc_ci),
    estimate(jnd, jnd_ci),
  ]);
  const coefficients = correlations.map(({ coefficient, value, ci }) => [
    COEFFICIENTS[coefficient],
    estimate(value, ci, 3),
  ]);
  const about = studies.map(({ name, kind, items, evaluators }) => {
    const people = evaluators === null ? "" : `, ${counted(evaluators, "evaluator")}`;
    return `${name} (${kind.toUpperCase()}, ${counted(items, "item")}${people})`;
  });
  return [
    ...(simulated ? [simulatedWarning()] : []),
    ...data.sentences.map((words) => paragraph(words)),
    quiet(`${about.join(" and ")}. With ${count(Math.round(1000 * level) / 10)}% intervals.`),
    ...(points.length ? [chart] : []),
    table("Scores of distances", ["Distance", ...SCORES], scores),
    table("Correlation of 2AFC and JND scores", ["Coefficient", "Value"], coefficients),
    sentences("notes quiet", [...data.remarks, ...data.notes]),
  ];
}
