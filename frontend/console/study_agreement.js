// @ts-check
/** How well distances between pictures agree with people's votes on triplets or pairs. */

import { el, estimate, quiet, sentences, sideBySide, table } from "./elements.js";
import { count, counted } from "./format.js";
import { commandForm } from "./forms.js";
import { jobResult, tellEnd } from "./jobs.js";
import { pathTo } from "./paths.js";

/**
 * @typedef {{metric?: string, column: string, score: number | null, ci: number[] | null}} Line
 * @typedef {{items: number, votes: number | null, evaluators: number | null, human: (Line & {unbiased: number
 *   | null})[], metrics: Line[], remarks: string[], simulated: boolean}} Agreement
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 */

/** Distances that need no weights; those that are ticked at first, with `true`. */
const DISTANCES = /** @type {[string, string, boolean][]} */ ([
  ["l2", "L2", true],
  ["psnr", "PSNR", true],
  ["ssim", "SSIM", true],
  ["ms-ssim", "MS-SSIM", false],
]);

/**
 * @param {Study} record
 * @param {boolean} isSimulated
 * @param {Context} context
 */
export function agreementSection({ study }, isSimulated, context) {
  const { found, list } = jobResult(study, context, "agree", (result) =>
    // votes of people and of simulated evaluators stand apart
    result?.metrics !== undefined && result.simulated === isSimulated ? agreementView(result) : null,
  );
  const path = pathTo`/api/studies/${study}/agree`;
  const form = distancesForm(
    "Score them against the votes",
    path,
    () => ({ simulated: isSimulated }),
    context,
  );
  const words =
    "How often a distance says what people said (2AFC), or how well it ranks the pairs that they saw " +
    "as the same (JND). Networks such as LPIPS need files of weights, and are scored on the command line.";
  return el(
    "section",
    { class: "no-print" },
    el("h2", {}, "Distances and people’s votes"),
    quiet(words),
    found,
    form,
    list,
  );
}

/**
 * Return a form that has the server work on the distances that are ticked in it.
 * @param {string} label of its button
 * @param {string} path of the API
 * @param {() => object} wish returns what is posted beside the distances
 * @param {Context} context
 * @param {Node[]} [fields] that stand above the distances
 */
export function distancesForm(label, path, wish, context, fields = []) {
  const boxes = DISTANCES.map(([name, words, isChosen]) => {
    const box = el("input", { type: "checkbox", value: name, ...(isChosen ? { checked: "" } : {}) });
    return { box, element: el("label", { class: "option" }, box, words) };
  });
  const legend = el("legend", {}, "Distances");
  return commandForm(
    [...fields, el("fieldset", {}, legend, sideBySide(...boxes.map(({ element }) => element)))],
    label,
    async (told) => {
      const distances = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
      if (!distances.length) throw new Error("choose a distance");
      const { job } = await context.api.post(path, { ...wish(), distances });
      void tellEnd(job, told, "It is done.", context);
      return "The server is at work: see below.";
    },
    { isPrimary: false, isInline: false },
  );
}

/** @param {Agreement} agreement */
function agreementView({ items, votes, evaluators, human, metrics, remarks }) {
  const columns = [...new Set([...metrics, ...human].map(({ column }) => column))];
  const names = [...new Set(metrics.map(({ metric }) => metric ?? ""))];
  const cells = (/** @type {Line[]} */ lines) =>
    columns.map((column) => {
      const line = lines.find((each) => each.column === column);
      return estimate(line?.score ?? null, line?.ci ?? null);
    });
  const rows = [
    ...(human.length
      ? [["People with one another", ...cells(human.map((line) => ({ ...line, score: line.unbiased })))]]
      : []),
    ...names.map((name) => [name, ...cells(metrics.filter(({ metric }) => metric === name))]),
  ];
  const parts = [counted(items, "item")];
  if (votes !== null) parts.push(counted(votes, "vote"));
  if (evaluators !== null) parts.push(`${count(evaluators)} evaluators`);
  const of = `${parts.join(", ")}. Percent, with 95% intervals.`;
  const notes = remarks.length ? [sentences("notes quiet", remarks)] : [];
  return [table("Distances against votes", ["Distance", ...columns], rows), quiet(of), ...notes];
}
