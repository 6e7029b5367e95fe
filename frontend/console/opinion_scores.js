// @ts-check
/** Metrics against opinion scores that others collected, from files that are chosen here. */

import { pointsChart } from "./charts.js";
import { el, estimate, field, paragraph, quiet, section, sentences, table } from "./elements.js";
import { count, counted } from "./format.js";
import { commandForm } from "./forms.js";
import { jobResult, tellEnd } from "./jobs.js";
import { sendingView } from "./sending.js";

/**
 * @typedef {{metric: string, rho: number | null, rho_ci: number[] | null, tau: number | null, tau_ci:
 *   number[] | null}} Row
 * @typedef {{file: string, level: number, stimuli: number, references: number | null, votes: number | null,
 *   metrics: Row[], points: {scores: number[], values: Record<string, number[]>}, sentences: string[],
 *   notes: string[], remarks: string[]}} Opinions
 * @typedef {import("./main.js").Context} Context
 */

export const title = () => "Opinion scores";

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} _parameters
 * @param {Context} context
 */
export function show(main, _parameters, context) {
  const { found, list } = jobResult(null, context, "opinions", opinionsView);
  const sending = sendingView("Sending the files");
  const file = el("input", { type: "file", multiple: "", accept: ".csv,.tsv,.txt,text/*", required: "" });
  const hint =
    "One with the opinion scores (columns stimulus and score; also sd, votes and reference; or lines of a " +
    "score and a name, like TID2013’s), and one of each metric (columns item and d), called after it.";
  const form = commandForm(
    [field("Files", file, hint).element, sending.element],
    "Correlate them",
    async (told) => {
      const items = [...(file.files ?? [])].map((each) => ({ path: each.name, file: each }));
      const upload = await sending.send({ isZip: false, items }, context.api);
      const { job } = await context.api.post("/api/opinion-scores", { upload });
      void tellEnd(job, told, "It is done.", context);
      return "The server is at work: see below.";
    },
    { isInline: false },
  );
  const words =
    "How well metrics order pictures as people did whose mean opinion scores were published: rank " +
    "correlations with intervals. Metrics against answers in a study of yours are among its scores.";
  main.append(section("Metrics and opinion scores", quiet(words), form, list), found);
}

/** @param {Opinions} opinions */
function opinionsView({ file, level, stimuli, references, votes, metrics, points, ...data }) {
  const charts = metrics.map(({ metric, rho }) => {
    const coefficient = rho === null ? "" : `: Spearman’s ρ = ${rho.toFixed(3)}`;
    const words = `Opinion score against ${metric}${coefficient}`;
    const drawn = pointsChart(points.values[metric], points.scores, words);
    return el("li", {}, el("h3", {}, metric), drawn);
  });
  const rows = metrics.map(({ metric, rho, rho_ci, tau, tau_ci }) => [
    metric,
    estimate(rho, rho_ci, 3),
    estimate(tau, tau_ci, 3),
  ]);
  const parts = [counted(stimuli, "stimulus", "stimuli")];
  if (references !== null) parts.push(counted(references, "reference"));
  if (votes !== null) parts.push(counted(votes, "opinion"));
  const shown = points.scores.length < stimuli ? ` ${count(points.scores.length)} stimuli are shown.` : "";
  return [
    section(
      file,
      ...data.sentences.map((words) => paragraph(words)),
      quiet(`${parts.join(", ")}. With ${count(Math.round(1000 * level) / 10)}% intervals.${shown}`),
      ...(metrics.length
        ? [table("Rank correlations", ["Metric", "Spearman’s ρ", "Kendall’s τ"], rows)]
        : []),
      el("ul", { class: "run-charts" }, ...charts),
      sentences("notes quiet", [...data.remarks, ...data.notes]),
    ),
  ];
}
