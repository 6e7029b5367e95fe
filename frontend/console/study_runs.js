// @ts-check
/** The same study again: making another run of a study, and how the scores of its runs differ. */

import { runsChart } from "./charts.js";
import {
  details,
  el,
  estimate,
  link,
  paragraph,
  quiet,
  section,
  simulatedWarning,
  statusLine,
  table,
} from "./elements.js";
import { elementsOf, numberField, textField, tickField, valuesOf } from "./fields.js";
import { count, counted, moment } from "./format.js";
import { commandForm } from "./forms.js";
import { jobResult, tellEnd } from "./jobs.js";
import { pathTo } from "./paths.js";

/**
 * @typedef {{model: string, run: string, score: number, ci: number[] | null}} Score
 * @typedef {{model: string, a: string, b: string, difference: number, ci: number[] | null,
 *   p_holm: number | null, equivalence: {equivalent_within: number | null} | null,
 *   verdict: keyof typeof VERDICTS}} Difference
 * @typedef {{unit: string, level: number, simulated: boolean, runs: {run: string}[], scores: Score[],
 *   differences: Difference[], notes: string[], warnings: string[], sentences: string[]}} Replication
 * @typedef {import("../../types/api.js").StudyLines["studies"][0]} StudyLine
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 */

const VERDICTS = {
  changed: "changed",
  equivalent: "equivalent",
  changed_within_margin: "changed, within the margin",
  undecided: "not decided",
};
const UNITS = /** @type {Record<string, string>} */ ({ percent: "points", ms: "ms" });
const LONGEST_NAME = 64;

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export async function showRuns(main, record, context) {
  main.append(section("Run it again", ...rerunForm(record, context)));
  main.append(await scheduleSection(record, context));
  const { studies } = await context.api.get("/api/studies", { signal: context.signal });
  const others = studies.filter(
    (/** @type {StudyLine} */ { study, kind, method }) =>
      study !== record.study && kind === record.kind && method === record.method,
  );
  others.sort((/** @type {StudyLine} */ a, /** @type {StudyLine} */ b) =>
    a.study.localeCompare(b.study, "en", { numeric: true }),
  );
  main.append(comparison(record, others, context));
}

/**
 * @param {Study} record
 * @param {Context} context
 */
function rerunForm({ study }, { api, signal }) {
  const name = textField(
    "Name of the new study",
    { maxlength: `${LONGEST_NAME}`, autocapitalize: "off", spellcheck: "false" },
    "Empty for this study’s name with the next number.",
  );
  const done = statusLine();
  const form = commandForm([name.element], "Run again", async () => {
    done.textContent = "";
    const wish = { name: name.value() || null };
    const { job, study: again } = await api.post(pathTo`/api/studies/${study}/rerun`, wish);
    done.textContent = `${again} is being made.`;
    const { state, reason } = await api.job(job, () => {}, signal);
    if (state !== "done") {
      done.textContent = "";
      throw new Error(reason ?? `${again} was not made`);
    }
    done.replaceChildren(link(pathTo`/console/studies/${again}`, again), " is made.");
  });
  const words =
    "Makes a study with the same pictures, settings, pages and questions for other people: in another " +
    "month, at another panel, in another country. Its settings can be changed until somebody begins. " +
    "Whoever took part in one run is not admitted to another.";
  return [quiet(words), form, done];
}

/**
 * @param {Study} record
 * @param {Context} context
 */
async function scheduleSection({ study }, { api, signal }) {
  const path = pathTo`/api/studies/${study}/rerun-schedule`;
  const days = numberField(
    "Days between runs",
    { min: "1", max: "3650", step: "1" },
    "Counted from now on. Empty for no schedule.",
  );
  const state = quiet();
  const tell = (/** @type {import("../../types/api.js").RerunSchedule} */ { days: every, next_at }) => {
    days.input.value = every === null ? "" : `${every}`;
    state.textContent =
      next_at === null
        ? "It is not run again by itself."
        : `It is run again every ${counted(every ?? 0, "day")}, next on ${moment(next_at)}.`;
  };
  tell(await api.get(path, { signal }));
  const form = commandForm(
    [days.element],
    "Set the schedule",
    async () => {
      const set = await api.post(path, { days: days.value() ?? 0 });
      tell(set);
      return set.days === null ? "There is no schedule." : "The schedule is set.";
    },
    { isPrimary: false },
  );
  const words =
    "The server makes a run by itself, under the next number. Recruiting people for it, which costs money, " +
    "is left to you.";
  return section("On a schedule", quiet(words), state, form);
}

/**
 * @param {Study} record
 * @param {StudyLine[]} others studies of the same method
 * @param {Context} context
 */
function comparison({ study }, others, context) {
  const { found, list } = jobResult(study, context, "replicate", comparisonView);
  const boxes = others.map(({ study: name }) => {
    const box = el("input", { type: "checkbox", value: name });
    return { box, element: el("label", { class: "option" }, box, name) };
  });
  const margin = numberField(
    "Margin",
    { min: "0", step: "any" },
    "Difference from which on a score counts as changed; empty for 5 percentage points. Scores in ms or " +
      "log-odds have no margin unless you give one.",
  );
  const asked = { margin, simulated: tickField("Of simulated evaluators") };
  const form = commandForm(
    [
      el(
        "fieldset",
        {},
        el("legend", {}, `Runs after ${study}, in this order`),
        ...boxes.map(({ element }) => element),
      ),
      details("Options", ...elementsOf(asked)),
    ],
    "Compare the runs",
    async (told) => {
      const chosen = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
      if (!chosen.length) throw new Error("choose another run");
      const wish = { ...valuesOf(asked), others: chosen };
      const { job } = await context.api.post(pathTo`/api/studies/${study}/replicate`, wish);
      void tellEnd(job, told, "They are compared.", context);
      return "The server is at work: see below.";
    },
    { isPrimary: false, isInline: false },
  );
  const words =
    "Did scores change between runs, or stay within a margin? People are random, and so is what a picture " +
    "does in one run and not in another.";
  const none = "There is no other study of this method yet.";
  return section(
    "Runs against each other",
    quiet(words),
    found,
    ...(others.length ? [form, list] : [quiet(none)]),
  );
}

/** @param {Replication} data */
function comparisonView(data) {
  const { unit, level, runs, scores, differences, simulated } = data;
  const names = runs.map(({ run }) => run);
  const digits = unit === "percent" || unit === "ms" ? 1 : 2;
  const shown = (/** @type {number} */ value) => value.toFixed(digits).replace("-", "−");
  const models = [...new Set(scores.map(({ model }) => model))];
  const charts = models.map((model) => {
    const own = scores.filter((score) => score.model === model);
    const words = own.map(({ run, score }) => `${run} ${shown(score)}`).join(", ");
    const drawn = runsChart(own, names, scores, `Scores of ${model}: ${words}`);
    return el("li", {}, el("h3", {}, model), drawn);
  });
  const rows = differences.map((row) => [
    row.model,
    row.a,
    row.b,
    estimate(row.difference, row.ci, digits),
    row.p_holm === null ? "–" : row.p_holm < 0.001 ? "< .001" : row.p_holm.toFixed(3).replace(/^0/, ""),
    row.equivalence?.equivalent_within == null ? "–" : shown(row.equivalence.equivalent_within),
    VERDICTS[row.verdict],
  ]);
  const columns = [
    "Model",
    "From",
    "To",
    `Change (${UNITS[unit] ?? "log-odds"})`,
    "p (Holm)",
    "Within",
    "Verdict",
  ];
  const percent = count(Math.round(1000 * level) / 10);
  return [
    ...(simulated ? [simulatedWarning()] : []),
    ...data.sentences.map((words) => paragraph(words)),
    el("ul", { class: "run-charts" }, ...charts),
    table("Changes between runs", columns, rows),
    quiet(`With ${percent}% intervals. Within: the smallest margin within which a change is shown to be.`),
    ...[...data.warnings, ...data.notes].map((words) => quiet(words)),
  ];
}
