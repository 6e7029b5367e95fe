// @ts-check
/** The dashboard's list of studies. */

import { sessionBar } from "./charts.js";
import { el } from "./screens.js";
import { broken, inWords, method } from "./dashboard_format.js";

/** @typedef {import("../types/api.js").StudyLine} StudyLine */
/** @typedef {import("../types/api.js").ModelSessions} ModelSessions */

/** @param {HTMLElement} main */
export function listView(main) {
  const list = el("ul", { class: "studies" });
  const empty = el("p", {}, "No study yet. Make one with ", el("code", {}, "openhype create"), ".");
  main.replaceChildren(el("h1", {}, "Studies"), list, empty);
  /** @type {Map<string, ReturnType<typeof studyLine>>} */
  const lines = new Map();
  return {
    /** @param {import("../types/api.js").StudyList} data */
    update({ studies }) {
      empty.hidden = studies.length > 0;
      for (const [name, { item }] of lines) {
        if (studies.some(({ study }) => study === name)) continue;
        item.remove();
        lines.delete(name);
      }
      for (const study of studies) {
        if (!lines.has(study.study)) {
          const line = studyLine(study);
          lines.set(study.study, line);
          list.append(line.item);
        }
        lines.get(study.study)?.update(study);
      }
    },
  };
}

/** @param {StudyLine} first the data at the start */
function studyLine(first) {
  const { study } = first;
  const { svg, update } = sessionBar();
  const state = el("span", { class: "quiet" });
  const link = el("a", { href: `/dashboard/${encodeURIComponent(study)}` }, study);
  const item = el("li", {}, el("h2", {}, link), el("p", { class: "quiet" }, method(first)), svg, state);
  return {
    item,
    /** @param {StudyLine} data */
    update(data) {
      const sum = (/** @type {(row: ModelSessions) => number} */ of_row) =>
        data.models.reduce((total, row) => total + of_row(row), 0);
      const total = sum(({ wanted }) => wanted);
      const row = {
        finished: sum((one) => one.finished),
        active: sum((one) => one.active),
        ended: sum(broken),
        abandoned: 0,
      };
      update([row.finished, row.active, row.ended], total);
      const simulated = data.simulated ? ` · ${data.simulated} simulated` : "";
      state.textContent = `${data.paused ? "Paused · " : ""}${inWords(row, total)}${simulated}`;
    },
  };
}
