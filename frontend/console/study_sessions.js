// @ts-check
/** The sessions of a study, and the withdrawal of one for a person who asks for it. */

import { actionButton, el, isAbort, link, quiet, statusLine, table } from "./elements.js";
import { count, moment } from "./format.js";
import { isConfirmed } from "./forms.js";
import { pathTo } from "./paths.js";
import { addressWith, findField, inAddress, putIntoAddress } from "./history_position.js";
import { watch } from "./watch.js";

/**
 * @typedef {import("../../types/api.js").SessionLine} Session
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 */

const COLUMNS = ["Session", "Evaluator", "Models", "State", "Answers", "Opened", "Last answer"];
const ON_A_PAGE = 100;
const EVERY_MS = 5000;

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export async function showSessions(main, record, { api, signal }) {
  const { study } = record;
  const path = pathTo`/api/studies/${study}/sessions`;
  let asked = new AbortController();
  const finding = findField("Find a session", () => {
    putIntoAddress({ before: "" });
    asked.abort();
  });
  const told = statusLine();
  const sum = quiet();
  const withdrawal = el("span", { class: "unseen" }, "Withdraw");
  const wide = table(`Sessions of ${study}`, [...COLUMNS, withdrawal], []);
  const body = /** @type {HTMLElement} */ (wide.querySelector("tbody"));
  const [latest, earlier] = ["Latest sessions", "Earlier sessions"].map((words) => link("", words));
  const pages = el("nav", { class: "actions", "aria-label": "Pages of the list" }, latest, earlier);
  main.append(
    quiet(
      "A person can withdraw with the link that the task page gave them. For those who ask you " +
        "instead, find their session here by its id or pseudonym.",
    ),
    finding.element,
    sum,
    told,
    wide,
    pages,
  );
  /** @type {Map<string, ReturnType<typeof sessionRow>>} */
  const rows = new Map();

  /** @param {import("../../types/api.js").Sessions} page */
  function show({ sessions, count: all, next }) {
    const names = new Set(sessions.map(({ session }) => session));
    for (const [name, { element }] of rows) {
      if (names.has(name)) continue;
      element.remove();
      rows.delete(name);
    }
    for (const [i, session] of sessions.entries()) {
      const row = rows.get(session.session) ?? sessionRow(session, () => withdraw(session));
      rows.set(session.session, row);
      row.update(session);
      if (body.children[i] !== row.element) body.insertBefore(row.element, body.children[i] ?? null);
    }
    const isPart = sessions.length < all;
    const onPage = isPart ? `; ${count(sessions.length)} are on this page` : "";
    sum.textContent = `Sessions: ${count(all)}${onPage}`;
    turnTo(latest, "", inAddress("before") !== "");
    turnTo(earlier, next ?? "", next !== null);
  }

  /** @param {Session} session */
  async function withdraw({ session, evaluator }) {
    const words =
      "Its answers are deleted for good; they leave every score, export and report. What the person is " +
      "owed stays recorded and is paid.";
    if (!(await isConfirmed(`Withdraw session ${session}?`, words, "Delete its answers"))) return;
    await api.post(`${path}/${encodeURIComponent(session)}/withdraw`);
    asked.abort(); // shows it as withdrawn
    told.textContent = `The session of ${evaluator} was withdrawn.`;
    finding.input.focus();
  }

  while (!signal.aborted) {
    asked = new AbortController();
    const query = new URLSearchParams({ find: inAddress("find"), limit: `${ON_A_PAGE}` });
    if (inAddress("before")) query.set("before", inAddress("before"));
    const until = AbortSignal.any([signal, asked.signal]);
    await watch(`${path}?${query}`, show, { api, signal: until }, EVERY_MS).catch((error) => {
      if (!isAbort(error)) throw error;
    });
  }
}

/**
 * Have a link lead to another page of the list.
 * @param {HTMLElement} link
 * @param {string} before where the page begins; "" for the first
 * @param {boolean} isThere
 */
function turnTo(link, before, isThere) {
  link.hidden = !isThere;
  link.setAttribute("href", addressWith({ before }));
}

/**
 * @param {Session} first
 * @param {() => Promise<void>} withdraw
 */
function sessionRow(first, withdraw) {
  const state = el("td");
  const answers = el("td");
  const last = el("time");
  const button = actionButton("Withdraw", withdraw, {
    className: "plain",
    name: `Withdraw session ${first.session}`,
  });
  const element = el(
    "tr",
    {},
    el("th", { scope: "row" }, el("code", {}, first.session)),
    el("td", {}, el("code", {}, first.evaluator)),
    el("td", {}, first.models.join(", ")),
    state,
    answers,
    el("td", {}, el("time", { datetime: first.opened_at }, moment(first.opened_at))),
    el("td", {}, last),
    el("td", {}, button),
  );
  return {
    element,
    /** @param {Session} session */
    update(session) {
      state.textContent = session.simulated ? `${session.state}, simulated` : session.state;
      answers.textContent = count(session.answers);
      last.textContent = session.last_at ? moment(session.last_at) : "–";
      button.hidden = session.simulated || session.state === "withdrawn";
    },
  };
}
