// @ts-check
/** The debrief of a study: the evaluator's score beside other scores, and the pictures with their truth. */

import { texts } from "../texts/more_en.js";
import { el } from "../shared/elements.js";
import { addTexts, number, percent, sentences, text } from "../texts/texts.js";

addTexts(texts);

const CLIP = /\.clip(\?|$)/;

/**
 * @typedef {{
 *   unit: "percent" | "ms", score: number | null, fakes_error: number | null, reals_error: number | null,
 *   model: string | null, others: {evaluators: number, mean: number | null, values: number[]} | null,
 *   published: {model: string, data: string, score: number}[], pictures: {url: string,
 *   truth: "real" | "fake", response: "real" | "fake" | "not_sure"}[], }} Debrief
 *   its `score` is null for a part, which `demonstration.js` tells
 * @typedef {Debrief & {score: number}} Whole
 */

/**
 * Return the result in one line.
 * @param {Whole} debrief
 */
export function headline({ unit, score, fakes_error }) {
  if (unit === "ms") return text("debrief.threshold", { ms: milliseconds(score) });
  return fakes_error === 0
    ? text("debrief.none_fooled")
    : text("debrief.fooled", { share: wholePercent(fakes_error) });
}

/**
 * Return the result in words, and a table that compares it with other scores.
 * @param {Whole} debrief
 * @param {boolean} [mayRepeat]
 */
export function result(debrief, mayRepeat = false) {
  const isHalf = debrief.pictures.some(isUnsure);
  const words = [
    ...inWords(debrief),
    isHalf ? text("debrief.half") : "",
    mayRepeat ? text("debrief.next_time") : "",
  ];
  const note = text(
    debrief.unit === "ms"
      ? "debrief.note_ms"
      : debrief.published.length
        ? "debrief.note_share"
        : "debrief.note_guessing",
  );
  return [el("p", {}, sentences(...words)), table(debrief), el("p", { class: "quiet" }, note)];
}

/** @param {Debrief["pictures"][number]} picture */
function isUnsure({ response }) {
  return response === "not_sure";
}

/**
 * Return the pictures, those with a wrong response first, then those with “not sure”.
 * @param {Debrief} debrief
 * @param {Pick<import("./visit.js").Visit, "fetchPicture" | "load">} visit
 */
export function gallery({ pictures }, visit) {
  const unsure = pictures.filter(isUnsure);
  const wrong = pictures.filter((picture) => !isUnsure(picture) && picture.truth !== picture.response);
  const right = pictures.filter(({ truth, response }) => truth === response);
  const others = el(
    "details",
    {},
    el("summary", {}, text("debrief.right_ones", { n: right.length })),
    grid(right, visit),
  );
  return el(
    "section",
    { class: "gallery" },
    ...(wrong.length || (right.length && !unsure.length)
      ? [el("h2", {}, text(wrong.length ? "debrief.wrong_ones" : "debrief.all_right"))]
      : []),
    ...(wrong.length ? [grid(wrong, visit)] : []),
    ...(unsure.length ? [el("h2", {}, text("debrief.not_sure_ones")), grid(unsure, visit)] : []),
    ...(right.length ? [others] : []),
  );
}

/** @param {number} ms */
function milliseconds(ms) {
  return text("debrief.ms", { n: number(Math.round(ms)) });
}

/** @param {number | null} percent_wrong */
function wholePercent(percent_wrong) {
  return percent(Math.round(percent_wrong ?? 0) / 100);
}

/**
 * Return the result in sentences, some of which may be empty.
 * @param {Whole} debrief
 */
function inWords({ unit, score, fakes_error, reals_error, model, others }) {
  return [
    unit === "ms" ? text("debrief.flashes", { ms: milliseconds(score) }) : "",
    text("debrief.own", { fakes: wholePercent(fakes_error), reals: wholePercent(reals_error) }),
    model ? text("debrief.made_by", { model }) : "",
    others === null ? "" : beside(others, unit, score, Boolean(model?.includes(", "))),
  ];
}

/**
 * Return how the other sessions did.
 * @param {NonNullable<Debrief["others"]>} others
 * @param {"percent" | "ms"} unit
 * @param {number} score
 * @param {boolean} areSeveral whether a session shows fakes of several models
 */
function beside({ evaluators: n, mean }, unit, score, areSeveral) {
  if (mean === null) return text(areSeveral ? "debrief.no_other_models" : "debrief.no_other");
  if (unit === "ms") {
    const theirs = milliseconds(mean);
    if (n === 1) return text(areSeveral ? "debrief.one_ms_models" : "debrief.one_ms", { theirs });
    return text(areSeveral ? "debrief.others_ms_models" : "debrief.others_ms", { n, theirs });
  }
  const shares = { theirs: wholePercent(mean), yours: wholePercent(score) };
  if (n === 1) return text(areSeveral ? "debrief.one_share_models" : "debrief.one_share", shares);
  return text(areSeveral ? "debrief.others_share_models" : "debrief.others_share", { n, ...shares });
}

/** @param {Whole} debrief */
function table({ unit, score, others, published }) {
  const rows = [
    ...published.map((entry) => ({ ...entry, model: publishedName(entry.model), kind: "" })),
    { model: text("debrief.you"), data: text("debrief.these_pictures"), score, kind: "yours" },
    ...(others === null || others.mean === null
      ? []
      : [
          {
            model: text("debrief.others", { n: others.evaluators }),
            data: text("debrief.these_pictures"),
            score: others.mean,
            kind: "others",
          },
        ]),
  ].sort((a, b) => b.score - a.score);
  const longest = Math.max(...rows.map((row) => row.score), unit === "ms" ? 0 : 50);
  const caption = text(unit === "ms" ? "debrief.table_ms" : "debrief.table_share");
  return el(
    "table",
    { class: "scores" },
    el("caption", {}, caption),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ...[text("debrief.who"), text("debrief.score")].map((name) => el("th", { scope: "col" }, name)),
      ),
    ),
    el(
      "tbody",
      {},
      ...rows.map((row) =>
        el(
          "tr",
          { class: row.kind },
          el("th", { scope: "row" }, el("bdi", {}, row.model), el("span", {}, row.data)),
          scoreCell(row.score, longest, unit),
        ),
      ),
    ),
  );
}

/** @param {string} model as published: a proper name, and whether its samples were truncated */
function publishedName(model) {
  const name = model.replace(/ \(truncated\)$/, "");
  return name === model ? model : text("debrief.truncated", { model: name });
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
  return el(
    "td",
    { class: "score" },
    el("span", { class: "score-text" }, unit === "ms" ? milliseconds(score) : percent(score / 100, 1)),
    el("span", { class: "score-room", "aria-hidden": "true" }, bar),
  );
}

/**
 * @param {Debrief["pictures"]} pictures
 * @param {Parameters<typeof gallery>[1]} visit
 */
function grid(pictures, visit) {
  return el(
    "ul",
    {},
    ...pictures.map(({ url, truth, response }) =>
      el(
        "li",
        {},
        el(
          "figure",
          {},
          image(url, visit),
          el(
            "figcaption",
            {},
            el("strong", {}, text(truth === "real" ? "debrief.is_real" : "debrief.is_fake")),
            " ",
            text(`debrief.said_${response}`),
          ),
        ),
      ),
    ),
  );
}

/**
 * Return the image of a picture, or of the first frame of a clip, which may come later.
 * @param {string} url
 * @param {Parameters<typeof gallery>[1]} visit
 */
function image(url, { fetchPicture, load }) {
  if (!CLIP.test(url)) return el("img", { src: url, alt: "", loading: "lazy" });
  const first = el("img", { alt: "" });
  const part = () => import("./clip_strip.js");
  void load(part, () => false).then(({ showStrip }) => showStrip(first, url, fetchPicture), console.warn);
  return first;
}
