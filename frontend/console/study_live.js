// @ts-check
/**
 * A study's sessions, wage, warnings and scores so far. Elements are updated in place, so scroll position and
 * focus are retained.
 */

import { narrowing, range, sessionBar } from "./charts.js";
import { el } from "../shared/elements.js";
import { courseOfLooks } from "./study_looks.js";
import { money } from "../texts/texts.js";
import { broken, inWords, interval, scored } from "./study_format.js";

/** @typedef {import("../../types/api.js").WatchedStudy} WatchedStudy */
/** @typedef {import("../../types/api.js").ModelScore} ModelScore */

/**
 * @param {WatchedStudy} first the data at the start
 * @returns {{parts: HTMLElement[], update: (data: WatchedStudy) => void}}
 */
export function liveView(first) {
  const numbers = tiles();
  const warnings = el("ul", { class: "warning", role: "status" });
  const sessions = sessionRows();
  const scores = scoreCards(first);
  const looks = courseOfLooks();
  const ofScores = el("section", {}, el("h2", {}, "Score so far"), scores.note, scores.list);
  return {
    parts: [
      numbers.list,
      warnings,
      el("section", {}, el("h2", {}, "Sessions"), sessions.list),
      looks.element,
      ...(first.kind === "study" ? [ofScores] : []),
    ],
    update(data) {
      numbers.update(data);
      const lines = data.warnings.join("\n");
      if (warnings.dataset.lines !== lines) {
        warnings.dataset.lines = lines;
        warnings.replaceChildren(...data.warnings.map((words) => el("li", {}, sentence(words))));
      }
      warnings.hidden = data.warnings.length === 0;
      sessions.update(data);
      looks.update(data.looks);
      scores.update(data);
    },
  };
}

function tiles() {
  /** @type {Record<string, {value: HTMLElement, more: HTMLElement, box: HTMLElement}>} */
  const boxes = {};
  const list = el("dl", { class: "tiles" });
  for (const name of [
    "Finished",
    "Under way",
    "Median wage",
    "Owed so far",
    "Waiting",
    "Planned looks",
    "Mistimed flashes",
    "Withdrawn",
    "Simulated",
  ]) {
    const value = el("span", { class: "value" });
    const more = el("span", { class: "quiet" });
    const box = el("div", {}, el("dt", {}, name), el("dd", {}, value, " ", more));
    boxes[name] = { value, more, box };
    list.append(box);
  }
  const tell = (/** @type {string} */ name, /** @type {string} */ value, more = "", isShown = true) => {
    boxes[name].value.textContent = value;
    boxes[name].more.textContent = more;
    boxes[name].box.hidden = !isShown;
  };
  return {
    list,
    /** @param {WatchedStudy} data */
    update(data) {
      const sum = (/** @type {"finished" | "active" | "abandoned" | "wanted"} */ state) =>
        data.models.reduce((total, row) => total + row[state], 0);
      const wage = data.median_wage_usd_cents_an_hour;
      const paid = (/** @type {number} */ cents) => money(cents, data.currency);
      const { responses, share } = data.mistimed;
      tell("Finished", `${sum("finished")}`, data.kind === "study" ? `of ${sum("wanted")} wanted` : "");
      tell("Under way", `${sum("active")}`, sum("abandoned") ? `and ${sum("abandoned")} silent` : "");
      tell(
        "Median wage",
        wage === null ? "–" : paid(wage),
        wage === null
          ? "nobody has finished"
          : `an hour; the aim is ${paid(data.target_wage_usd_cents_an_hour)}`,
      );
      tell("Owed so far", paid(data.owed_usd_cents), "to evaluators");
      if (data.retainer)
        tell("Waiting", `${data.retainer.waiting}`, `${paid(data.retainer.owed_usd_cents)} owed for it`);
      boxes.Waiting.box.hidden = !data.retainer;
      if (data.looks) {
        const { looks, done, stopped, digest, newcomers } = data.looks;
        const coming = newcomers.filter((row) => row.next !== null);
        const next = [
          ...(data.looks.next === null ? [] : [`the next is at ${data.looks.next} evaluators of each model`]),
          ...coming.map((row) => `that of ${row.model}, which joined, at ${row.next} evaluators`),
        ].join("; ");
        tell(
          "Planned looks",
          `${done} of ${looks.length}`,
          `${stopped ? "the study has ended" : next}; plan ${digest.slice(0, 12)}`,
        );
      }
      boxes["Planned looks"].box.hidden = !data.looks;
      tell("Mistimed flashes", `${(100 * share).toFixed(1)}%`, `${responses} replaced`, data.flashes);
      tell("Simulated", `${data.simulated}`, "sessions, in none of the other numbers", data.simulated > 0);
      tell("Withdrawn", `${data.withdrawn.sessions}`, "answers deleted", data.withdrawn.sessions > 0);
    },
  };
}

function sessionRows() {
  const list = el("ul", { class: "models" });
  /**
   * @type {Map<string, ReturnType<typeof sessionRow>>} by the name of the model, for models join and are
   *   withdrawn
   */
  const rows = new Map();
  return {
    list,
    /** @param {WatchedStudy} data */
    update(data) {
      for (const [i, row] of data.models.entries()) {
        const shown = rows.get(row.model) ?? sessionRow(row.model);
        rows.set(row.model, shown);
        shown.update(row);
        if (list.children[i] !== shown.item) list.insertBefore(shown.item, list.children[i] ?? null);
      }
      while (list.children.length > data.models.length) list.lastElementChild?.remove();
    },
  };
}

/** @param {string} model */
function sessionRow(model) {
  const { svg, update } = sessionBar();
  const words = el("span", { class: "quiet" });
  return {
    item: el("li", {}, el("span", { class: "model" }, model), svg, words),
    /** @param {WatchedStudy["models"][0]} row */
    update(row) {
      update([row.finished, row.active, broken(row)], row.wanted);
      words.textContent = inWords(row, row.wanted);
    },
  };
}

/** @param {WatchedStudy} first */
function scoreCards(first) {
  const list = el("ul", { class: "scores" });
  const note = el("p", { class: "quiet" });
  let shown = "";
  return {
    list,
    note,
    /** @param {WatchedStudy} data */
    update(data) {
      const { scores } = data;
      note.textContent = scores
        ? "Bands show the score as evaluators finished, one after the other. The dark band is the 95% " +
          "interval, right for one look that was planned beforehand. The light band is right however " +
          (data.looks
            ? "often you look. When the study ends is decided by its planned looks."
            : "often you look: use it to decide when to stop.")
        : data.looks?.hides_scores
          ? "Scores are hidden until a planned look ends the study."
          : "The first finished session brings the first score.";
      const text = JSON.stringify(scores);
      if (text === shown) return;
      shown = text;
      const { models: rows, unit } = scores ?? { models: [], unit: "" };
      const points = rows.flatMap((row) =>
        row.narrowing.length ? row.narrowing : [{ score: row.score, ci: ends(row) }],
      );
      const last = rows
        .filter((row) => row.narrowing.length)
        .map((row) => row.narrowing[row.narrowing.length - 1].any_look);
      list.replaceChildren(
        ...rows.map((row) => card(row, unit, first.evaluators_wanted, range(points, last))),
      );
    },
  };
}

/** @param {ModelScore} row */
function ends(row) {
  return row.interval ? row.interval.ci : null;
}

/**
 * @param {ModelScore} row
 * @param {string} unit
 * @param {number} wanted
 * @param {[number, number]} axis
 */
function card(row, unit, wanted, axis) {
  const evaluators = row.evaluators === 1 ? "evaluator" : "evaluators";
  const unsure = row.not_sure === undefined ? "" : `, ${scored(row.not_sure, "percent")} not sure`;
  const words = `${interval(ends(row), unit)}, ${row.evaluators} ${evaluators}${unsure}`;
  const label =
    `Score of ${row.model} and its interval by number of evaluators; now ${scored(row.score, unit)}, ` +
    `${words}`;
  const drawing = row.narrowing.length > 1 ? [narrowing(row.narrowing, { wanted, ends: axis, label })] : [];
  return el(
    "li",
    {},
    el("h3", {}, row.model),
    el(
      "p",
      {},
      el("span", { class: "value" }, scored(row.score, unit)),
      " ",
      el("span", { class: "quiet" }, words),
    ),
    ...drawing,
  );
}

/** @param {string} words */
function sentence(words) {
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}
