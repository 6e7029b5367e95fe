// @ts-check
/** The audit log: who changed what, and when; the newest first. */

import { actionButton, actionRow, el, quiet, statusLine, table } from "./console_elements.js";
import { counted, moment } from "./console_format.js";

/**
 * @typedef {import("../types/api.js").AuditEntry} Entry
 */

const PAGE = 100;

export function title() {
  return "Audit log";
}

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} _parameters
 * @param {import("./console.js").Context} context
 */
export async function show(main, _parameters, { api, signal }) {
  const intro = quiet(
    "Every request of a member that changed something, or was refused. Times are those of your time zone.",
  );
  const wide = table("Audit log", ["Time", "Who", "Token", "What", "Status"], []);
  const body = /** @type {HTMLElement} */ (wide.querySelector("tbody"));
  const told = statusLine();
  let before = "";
  const more = actionButton("Show older entries", load);
  main.append(intro, wide, told, actionRow(more));

  async function load() {
    /** @type {{entries: Entry[], next: string | null}} */
    const { entries, next } = await api.get(
      `/api/audit?limit=${PAGE}${before ? `&before=${encodeURIComponent(before)}` : ""}`,
      { signal },
    );
    const wasFocused = document.activeElement === more;
    body.append(...entries.map(row));
    before = next ?? "";
    more.hidden = !before;
    const shown = counted(body.childElementCount, "entry", "entries");
    told.textContent = before ? `${shown} shown.` : `${shown}: that is all.`;
    if (more.hidden && wasFocused) wide.focus();
  }

  await load();
}

/** @param {Entry} entry */
function row({ at, member, token, action, target, status, outcome }) {
  const time = el("time", { datetime: at }, moment(at));
  const state = el("span", { class: outcome === "done" ? "" : "wrong" }, outcomeText(status, outcome));
  const what = target && !action.includes(target) ? `${action} (${target})` : action;
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, time),
    ...[member, token ?? "–", el("code", {}, what), state].map((cell) => el("td", {}, cell)),
  );
}

/**
 * @param {Entry["status"]} status of the reply; null for a command
 * @param {Entry["outcome"]} outcome
 */
function outcomeText(status, outcome) {
  if (outcome === "unknown") return "unknown: under way, or the server ended before it was known";
  const by = status === null ? "command" : `${status}`;
  return outcome === "done" ? by : `${by} ${outcome}`;
}
