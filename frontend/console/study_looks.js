// @ts-check
/** The course of a study against the boundaries of its planned looks: as a picture, a table, and in words. */

import { courseOf, looksChart, namedLines } from "./charts.js";
import { el, paragraph, quiet, sentences, table } from "./elements.js";
import { scored } from "./study_format.js";

/** @typedef {import("../../types/api.js").LooksProgress} LooksProgress */

/** @returns {{element: HTMLElement, update: (looks: LooksProgress | null) => void}} */
export function courseOfLooks() {
  const element = el("section", { hidden: "" });
  let shown = "";
  return {
    element,
    update(looks) {
      const text = JSON.stringify(looks);
      if (text === shown) return;
      shown = text;
      const newcomers = looks?.newcomers.filter(({ decided }) => decided.length) ?? [];
      element.hidden = !looks?.decided.length && !newcomers.length;
      if (!looks) return;
      element.replaceChildren(
        el("h2", {}, "Planned looks"),
        ...(looks.decided.length ? course(looks, "evaluators of each model") : []),
        ...newcomers.map((row) => ofNewcomer(looks, row)),
        ...(looks.stopped ? [paragraph("The study has ended: nobody else is admitted.")] : []),
      );
    },
  };
}

/**
 * The looks of a model that joined: folded once they have ended.
 * @param {LooksProgress} looks
 * @param {LooksProgress["newcomers"][0]} newcomer
 */
function ofNewcomer(looks, { model, against, boundary, decided, stopped, next }) {
  const course_ = course({ ...looks, boundary, decided, stopped }, `evaluators of ${model}`);
  const said = next === null ? "has ended" : `the next look is at ${next} evaluators`;
  const summary = el("summary", {}, el("h3", {}, `${model}, which joined: ${said}`));
  const others = quiet(`Compared with ${against.join(", ")}, on the evaluators of their looks.`);
  return el("details", { class: "newcomer", ...(stopped ? {} : { open: "" }) }, summary, others, ...course_);
}

/**
 * @param {LooksProgress} looks
 * @param {string} whose evaluators, in words
 */
function course(looks, whose) {
  const { aim, decided, unit } = looks;
  const isWidth = aim.startsWith("half-width");
  const value = (/** @type {number | null} */ number) =>
    number === null ? "–" : isWidth ? scored(number, unit) : number.toFixed(2);
  const told = decided.map(
    ({ look, evaluators, decision, reason }) =>
      `look ${look}, at ${Math.round(evaluators)} ${whose}: ${decision}; ${reason}`,
  );
  const what = isWidth ? "Half-widths" : "z of pairs";
  const label = `${what} at planned looks by number of evaluators; the table beneath has the values`;
  const lines = courseOf(looks);
  const { series } = lines;
  const named = namedLines(lines);
  const rest = series.map((_, i) => i).filter((i) => !named.includes(i));
  const cell = (/** @type {string} */ name, /** @type {LooksProgress["decided"][0]} */ { points }) => {
    const point = points.find(({ of }) => of.join(" – ") === name);
    if (!point) return "–";
    const p = point.p === null ? null : bareP(point.p);
    return [value(point.value), p, point.state].filter(Boolean).join(", ");
  };
  const row = (/** @type {number} */ i, /** @type {number} */ place) => {
    const { name } = series[i];
    const number = place < named.length && series.length > 1 ? `${place + 1}: ` : "";
    return [`${number}${name}`, ...decided.map((each) => cell(name, each))];
  };
  const heads = [isWidth ? "Model" : "Pair", ...decided.map(({ look }) => `Look ${look}`)];
  return [
    quiet(
      isWidth
        ? `Half of each 95% interval by ${whose}. The dashed line is the half-width ` +
            "aimed at: a model is done on or below it."
        : `z of each pair’s p, which is for all pairs together, by ${whose}. The dashed ` +
            "line is the boundary of each look: a pair is decided above it.",
      " Filled points are decided.",
      rest.length
        ? ` Of ${series.length} lines, ${named.length} have numbers: open ones nearest to the boundary first.`
        : "",
    ),
    looksChart(looks, label),
    sentences("looks-told", told),
    table("What planned looks found", heads, [
      ["Boundary", ...decided.map(({ boundary }) => value(boundary))],
      ...named.map(row),
    ]),
    ...(rest.length
      ? [
          el(
            "details",
            {},
            el("summary", {}, `The other ${rest.length}`),
            table(
              "What planned looks found of the others",
              heads,
              rest.map((i) => row(i, Infinity)),
            ),
          ),
        ]
      : []),
  ];
}

/** @param {number} p of which looks compare small ones */
function bareP(p) {
  return p < 0.0001 ? "p\u00a0<\u00a0.0001" : `p\u00a0${p.toFixed(4).replace(/^0/, "")}`;
}
