// @ts-check
/** The debrief of a study: the evaluator's score beside other scores, and the pictures with their truth. */

import { el } from "./screens.js";

/**
 * @typedef {{
 *   unit: "percent" | "ms", score: number, fakes_error: number | null, reals_error: number | null, model: string | null,
 *   others: {evaluators: number, mean: number | null, values: number[]} | null,
 *   published: {model: string, data: string, score: number}[],
 *   pictures: {url: string, truth: "real" | "fake", response: "real" | "fake"}[],
 * }} Debrief
 */

/**
 * Format a score with its unit.
 * @param {number} score
 * @param {"percent" | "ms"} unit
 */
export function scoreText(score, unit) {
  return unit === "ms" ? `${Math.round(score)} ms` : `${score.toFixed(1)}%`;
}

/**
 * Return the result in one line.
 * @param {Debrief} debrief
 */
export function headline({ unit, score, fakes_error }) {
  if (unit === "ms") return `Your threshold: ${Math.round(score)} ms`;
  return fakes_error === 0 ? "No fake fooled you" : `${Math.round(fakes_error ?? 0)}% of the fakes fooled you`;
}

/**
 * Return the result in words, and a table that compares it with other scores.
 * @param {Debrief} debrief
 * @param {boolean} [mayRepeat]
 */
export function result(debrief, mayRepeat = false) {
  const again = mayRepeat ? " Next time the fakes may be of another kind." : "";
  return [el("p", {}, inWords(debrief) + again), table(debrief), el("p", { class: "quiet" }, NOTES[debrief.unit])];
}

/**
 * Return the pictures, those with a wrong response first.
 * @param {Debrief} debrief
 */
export function gallery({ pictures }) {
  const wrong = pictures.filter(({ truth, response }) => truth !== response);
  const right = pictures.filter(({ truth, response }) => truth === response);
  const others = el("details", {}, el("summary", {}, `The ${right.length} that you got right`), grid(right));
  return el(
    "section",
    { class: "gallery" },
    el("h2", {}, wrong.length ? "What you got wrong" : "You got every picture right"),
    ...(wrong.length ? [grid(wrong)] : []),
    ...(right.length ? [others] : []),
  );
}

const NOTES = {
  percent: "50% is what guessing gives. The published scores are means of thirty people, of pictures of faces, from Zhou et al. (2019), HYPE.",
  ms: "The threshold is the exposure that was shown most often: the shorter, the better one tells real from fake. The published scores are means of thirty people, of pictures of faces, from Zhou et al. (2019), HYPE.",
};

/** @param {Debrief} debrief */
function inWords({ unit, score, fakes_error, reals_error, model, others }) {
  const flashes = unit === "ms" ? `Most of your flashes lasted ${Math.round(score)} ms: right answers made them shorter, wrong ones longer. ` : "";
  const own = `${flashes}You took ${Math.round(fakes_error ?? 0)}% of the fakes for real and ${Math.round(reals_error ?? 0)}% of the real pictures for fake.`;
  const made = model ? ` The fakes were made by “${model}”.` : "";
  const judged = model?.includes(", ") ? "these models" : "this model";
  if (others === null) return `${own}${made}`;
  if (others.mean === null) return `${own}${made} No other session has judged ${judged} yet.`;
  const who = others.evaluators === 1 ? `One other session with ${judged}` : `The ${others.evaluators} other sessions with ${judged}`;
  const theirs = unit === "ms" ? `came to ${Math.round(others.mean)} ms` : `${others.evaluators === 1 ? "was" : "were"} wrong about ${Math.round(others.mean)}% of all pictures, you about ${Math.round(score)}%`;
  return `${own}${made} ${who} ${theirs}${others.evaluators === 1 ? "" : ", on average"}.`;
}

/** @param {Debrief} debrief */
function table({ unit, score, others, published }) {
  const rows = [
    ...published.map((entry) => ({ ...entry, kind: "" })),
    { model: "You, just now", data: "these pictures", score, kind: "yours" },
    ...(others === null || others.mean === null ? [] : [{ model: `Other sessions (${others.evaluators})`, data: "these pictures", score: others.mean, kind: "others" }]),
  ].sort((a, b) => b.score - a.score);
  const longest = Math.max(...rows.map((row) => row.score), unit === "ms" ? 0 : 50);
  const caption = unit === "ms" ? "How long a picture must be seen to be told real from fake" : "How often pictures were judged wrong";
  return el(
    "table",
    { class: "scores" },
    el("caption", {}, caption),
    el("thead", {}, el("tr", {}, ...["Who, or which model", "Score"].map((name) => el("th", { scope: "col" }, name)))),
    el("tbody", {}, ...rows.map((row) => el("tr", { class: row.kind }, el("th", { scope: "row" }, row.model, el("span", {}, row.data)), scoreCell(row.score, longest, unit)))),
  );
}

/**
 * Return a table cell with a score and a bar of proportional length.
 * @param {number} score
 * @param {number} longest
 * @param {"percent" | "ms"} unit
 */
function scoreCell(score, longest, unit) {
  const bar = el("span", { class: "score-bar", "aria-hidden": "true" });
  bar.style.width = `${(100 * score) / longest}%`;
  return el("td", { class: "score" }, el("span", { class: "score-text" }, scoreText(score, unit)), el("span", { class: "score-room", "aria-hidden": "true" }, bar));
}

/** @param {Debrief["pictures"]} pictures */
function grid(pictures) {
  const said = { real: "real", fake: "fake" };
  return el(
    "ul",
    {},
    ...pictures.map(({ url, truth, response }) =>
      el("li", {}, el("figure", {}, el("img", { src: url, alt: "", loading: "lazy" }), el("figcaption", {}, el("strong", {}, truth === "real" ? "Real" : "Computer-generated"), ` you said ${said[response]}`))),
    ),
  );
}
