// @ts-check
/** The course of a study against the boundaries of its planned looks: as a picture, a table, and in words. */

import { courseOf, looksChart } from "./charts.js";
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
      element.hidden = !looks?.decided.length;
      if (looks?.decided.length) element.replaceChildren(...course(looks));
    },
  };
}

/** @param {LooksProgress} looks */
function course(looks) {
  const { aim, decided, unit } = looks;
  const isWidth = aim.startsWith("half-width");
  const value = (/** @type {number | null} */ number) =>
    number === null ? "–" : isWidth ? scored(number, unit) : number.toFixed(2);
  const told = decided.map(
    ({ look, evaluators, decision, reason }) =>
      `look ${look}, at ${Math.round(evaluators)} evaluators of each model: ${decision}; ${reason}`,
  );
  const what = isWidth ? "Half-widths" : "z of pairs";
  const label = `${what} at planned looks by number of evaluators; the table beneath has the values`;
  const { series } = courseOf(looks);
  const cell = (/** @type {string} */ name, /** @type {LooksProgress["decided"][0]} */ { points }) => {
    const point = points.find(({ of }) => of.join(" – ") === name);
    if (!point) return "–";
    const p = point.p === null ? null : bareP(point.p);
    return [value(point.value), p, point.state].filter(Boolean).join(", ");
  };
  return [
    el("h2", {}, "Planned looks"),
    quiet(
      isWidth
        ? "Half of each 95% interval by evaluators of each model. The dashed line is the half-width " +
            "aimed at: a model is done on or below it."
        : "z of each pair’s p, which is for all pairs together, by evaluators of each model. The dashed " +
            "line is the boundary of each look: a pair is decided above it.",
      " Filled points are decided.",
    ),
    looksChart(looks, label),
    sentences("looks-told", told),
    table(
      "What planned looks found",
      [isWidth ? "Model" : "Pair", ...decided.map(({ look }) => `Look ${look}`)],
      [
        ["Boundary", ...decided.map(({ boundary }) => value(boundary))],
        ...series.map(({ name }, i) => [
          series.length > 1 ? `${i + 1}: ${name}` : name,
          ...decided.map((each) => cell(name, each)),
        ]),
      ],
    ),
    ...(looks.stopped ? [paragraph("The study has ended: nobody else is admitted.")] : []),
  ];
}

/** @param {number} p of which looks compare small ones */
function bareP(p) {
  return p < 0.0001 ? "p\u00a0<\u00a0.0001" : `p\u00a0${p.toFixed(4).replace(/^0/, "")}`;
}
