// @ts-check
/**
 * The scores of a study with their intervals and tests, what there is to download, and metrics of its
 * pictures.
 */

import { intervalBar, range } from "./charts.js";
import { Refused } from "./api.js";
import { downloads } from "./study_downloads.js";
import {
  actionButton,
  details,
  el,
  explained,
  link,
  paragraph,
  section,
  sentences,
  table,
} from "./elements.js";
import { counted, moment, sentence } from "./format.js";
import { pathTo } from "./paths.js";
import { agreementSection } from "./study_agreement.js";
import { correlationSection } from "./study_correlation.js";
import { metricsSection } from "./study_metrics.js";
import { scored } from "./study_format.js";

/**
 * @typedef {{model: string, score: number, ci: number[] | null, interval: {ci: number[]} | null, evaluators:
 *   number, responses: number, not_sure?: number, not_sure_ci?: number[] | null}} Row
 * @typedef {{a: string, b: string, difference: number, ci: number[], p: number}} Pair
 * @typedef {{F: number, df: number[], p: number}} FTest
 * @typedef {{method: string, unit: string, simulated: boolean, models: Row[], anova: FTest | null, pairs:
 *   Pair[], pairs_method?: string, over_pictures: (FTest & {pairs: Pair[], advised: boolean}) | null, ttest?:
 *   {t: number, df: number, p: number} | null, design: string, people: number, responses: number, warnings:
 *   string[], notes: string[]}} Scores
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 */

const PAIRS = /** @type {{[method: string]: string}} */ ({ tukey: "Tukey’s test of all pairs" });

/** Pairs of models above which their differences are folded. */
const MANY_PAIRS = 15;

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export async function showScores(main, record, context) {
  const { study } = record;
  const isSimulated = new URLSearchParams(location.search).has("simulated");
  const here = pathTo`/console/studies/${study}/scores`;
  const other = isSimulated
    ? link(here, "Scores of people")
    : link(`${here}?simulated`, "Scores of simulated evaluators");
  const found = nothingYet(record, isSimulated) || (await scoresOf(study, isSimulated, context));
  const full = link(`${pathTo`/results/${study}`}${isSimulated ? "?simulated=true" : ""}`, "Full results");
  const printing = actionButton("Print", () => print());
  if (typeof found === "string")
    main.append(el("section", {}, paragraph(found), el("p", { class: "no-print" }, other)));
  else main.append(...scoresView(study, found), el("div", { class: "row no-print" }, printing, full, other));
  main.append(downloads(record, isSimulated, context));
  if (record.kind !== "study") return;
  if (record.has_items) {
    main.append(agreementSection(record, isSimulated, context));
    main.append(await correlationSection(record, isSimulated, context));
  } else if (record.medium === "picture") main.append(metricsSection(record, context));
}

/**
 * Return in words that no session is finished from which a score could be; "" if one is.
 * @param {Study} record
 * @param {boolean} isSimulated
 */
function nothingYet({ sessions_finished, sessions_simulated }, isSimulated) {
  if (isSimulated)
    return sessions_simulated ? "" : "There are no simulated evaluators yet. Overview makes some.";
  if (sessions_finished) return "";
  const simulated = sessions_simulated
    ? ` ${counted(sessions_simulated, "simulated session")} can be looked at apart.`
    : "";
  return `Nobody has finished a session yet. The first one brings the first score.${simulated}`;
}

/**
 * Return the scores, or in words why there are none.
 * @param {string} study
 * @param {boolean} isSimulated
 * @param {Context} context
 * @returns {Promise<Scores | string>}
 */
async function scoresOf(study, isSimulated, { api, signal }) {
  try {
    return await api.get(`${pathTo`/api/studies/${study}/scores`}?simulated=${isSimulated}`, { signal });
  } catch (error) {
    if (error instanceof Refused) return explained(error);
    throw error;
  }
}

/** @param {Row} row */
function unsureWords({ not_sure = 0, not_sure_ci }) {
  const share = scored(not_sure, "percent");
  return not_sure_ci ? `${share} (${spanWords(not_sure_ci, "percent")})` : share;
}

/**
 * @param {string} study
 * @param {Scores} scores
 */
function scoresView(study, scores) {
  const { models, unit, people, responses, simulated } = scores;
  const isUnsure = models.some((row) => row.not_sure !== undefined);
  const axis = range(models.map((row) => ({ score: row.score, ci: intervalOf(row) })));
  const rows = models.map((row) => {
    const ci = intervalOf(row);
    const drawn = ci ? el("div", {}, spanWords(ci, unit), intervalBar(row.score, ci, axis)) : "–";
    const unsure = isUnsure ? [unsureWords(row)] : [];
    return [row.model, scored(row.score, unit), drawn, ...unsure, `${row.evaluators}`, `${row.responses}`];
  });
  const who = simulated ? `${counted(people, "simulated evaluator")}` : counted(people, "evaluator");
  const state = el(
    "p",
    { class: simulated ? "warning simulated" : "quiet" },
    ...(simulated ? [el("strong", {}, "Simulated."), " "] : []),
    `${who}, ${counted(responses, "answer")}, ${moment(new Date().toISOString())}`,
  );
  const section = el(
    "section",
    { class: "score-table" },
    el("h2", {}, simulated ? "Scores of simulated evaluators" : "Scores"),
    state,
    table(
      `Scores of ${study}`,
      ["Model", "Score", "95% interval", ...(isUnsure ? ["Not sure"] : []), "Evaluators", "Answers"],
      rows,
    ),
  );
  const words = [...scores.warnings, ...scores.notes];
  if (words.length) section.append(sentences("notes quiet", words));
  return [section, ...testsView(scores)];
}

/** @param {Scores} scores */
function testsView({ anova, ttest, pairs, pairs_method, over_pictures, unit }) {
  /** @type {string[]} */
  const lines = [];
  if (anova) lines.push(`Analysis of variance: ${fTest(anova)}`);
  if (ttest)
    lines.push(`Student’s t test: t(${digits(ttest.df)}) = ${ttest.t.toFixed(2)}, ${pWords(ttest.p)}`);
  const isAdvised = over_pictures?.advised ?? false;
  if (over_pictures && isAdvised)
    lines.push(
      `Over evaluators and pictures: ${fTest(over_pictures)}. Pictures matter here: these tests are ` +
        "the ones to report",
    );
  if (!lines.length && !pairs?.length) return [];
  const used = isAdvised && over_pictures ? over_pictures.pairs : pairs;
  const name = isAdvised
    ? "Differences, over evaluators and pictures"
    : (PAIRS[pairs_method ?? ""] ?? "Differences between models");
  const rows = used.map(({ a, b, difference, ci, p }) => [
    `${a} − ${b}`,
    bare(difference, unit),
    ci ? spanWords(ci, unit) : "–",
    pWords(p).replace(/^p =? ?/, ""),
  ]);
  const pairTable = table(name, ["Pair", "Difference", "95% interval", "p"], rows);
  const shown = rows.length
    ? [
        el("h3", {}, name),
        rows.length > MANY_PAIRS ? details(`All ${counted(rows.length, "pair")}`, pairTable) : pairTable,
      ]
    : [];
  return [section("Tests", ...lines.map((line) => paragraph(sentence(line))), ...shown)];
}

/** @param {Row} row */
function intervalOf({ interval, ci }) {
  return interval ? interval.ci : ci;
}

/**
 * @param {number} value
 * @param {string} unit
 */
function bare(value, unit) {
  return scored(value, unit)
    .replace(/[% a-z]+$/, "")
    .replace("-", "−");
}

/**
 * @param {number[]} ci
 * @param {string} unit
 */
function spanWords(ci, unit) {
  return ci.map((end) => bare(end, unit)).join(" to ");
}

/** @param {FTest} test */
function fTest({ F, df, p }) {
  return `F(${df.map(digits).join(", ")}) = ${F.toFixed(2)}, ${pWords(p)}`;
}

/** @param {number} value */
function digits(value) {
  return Number.isInteger(value) ? `${value}` : value.toFixed(1);
}

/** @param {number} p */
function pWords(p) {
  return p < 0.001 ? "p < .001" : `p = ${p.toFixed(3).replace(/^0/, "")}`;
}
