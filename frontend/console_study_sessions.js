// @ts-check
/** The sessions of a study, and the withdrawal of one for a person who asks for it. */

import { actionButton, el, quiet, statusLine, table } from "./console_elements.js";
import { count, moment } from "./console_format.js";
import { isConfirmed } from "./console_forms.js";
import { pathTo } from "./console_paths.js";
import { watch } from "./console_watch.js";

/**
 * @typedef {import("../types/api.js").SessionLine} Session
 * @typedef {import("./console_study.js").Study} Study
 * @typedef {import("./console_study.js").Context} Context
 */

const COLUMNS = ["Session", "Evaluator", "Models", "State", "Answers", "Opened", "Last answer"];
const MOST_SHOWN = 200;
const EVERY_MS = 5000;

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export function showSessions(main, record, context) {
  const { study } = record;
  const filter = el("input", { type: "search", id: "filter", autocomplete: "off", spellcheck: "false" });
  const told = statusLine();
  const sum = quiet();
  const withdrawal = el("span", { class: "unseen" }, "Withdraw");
  const wide = table(`Sessions of ${study}`, [...COLUMNS, withdrawal], []);
  const body = /** @type {HTMLElement} */ (wide.querySelector("tbody"));
  main.append(
    quiet(
      "A person can withdraw with the link that the task page gave them. For those who ask you " +
        "instead, find their session here by its id or pseudonym.",
    ),
    el("div", { class: "field" }, el("label", { for: "filter" }, "Find a session"), filter),
    sum,
    told,
    wide,
  );
  /** @type {Map<string, ReturnType<typeof sessionRow>>} */
  const rows = new Map();
  /** @type {Session[]} */
  let sessions = [];

  function update() {
    const wanted = filter.value.trim().toLowerCase();
    const found = sessions.filter(({ session, evaluator }) =>
      `${session} ${evaluator}`.toLowerCase().includes(wanted),
    );
    const shown = found.slice(0, MOST_SHOWN);
    const names = new Set(shown.map(({ session }) => session));
    for (const [name, { element }] of rows) {
      if (names.has(name)) continue;
      element.remove();
      rows.delete(name);
    }
    for (const [i, session] of shown.entries()) {
      const row = rows.get(session.session) ?? sessionRow(session, () => withdraw(session));
      rows.set(session.session, row);
      row.update(session);
      if (body.children[i] !== row.element) body.insertBefore(row.element, body.children[i] ?? null);
    }
    sum.textContent =
      found.length > shown.length
        ? `${count(shown.length)} of ${count(found.length)} sessions are shown: look for the others by id.`
        : `Sessions: ${count(found.length)}`;
  }

  /** @param {Session} session */
  async function withdraw({ session, evaluator }) {
    const words =
      "Its answers are deleted for good; they leave every score, export and report. What the person is " +
      "owed stays in the books and is paid.";
    if (!(await isConfirmed(`Withdraw session ${session}?`, words, "Delete its answers"))) return;
    await context.api.post(pathTo`/api/studies/${study}/sessions/${session}/withdraw`);
    sessions = sessions.map((other) =>
      other.session === session ? { ...other, state: "withdrawn", answers: 0 } : other,
    );
    update();
    told.textContent = `The session of ${evaluator} was withdrawn.`;
    filter.focus();
  }

  filter.addEventListener("input", update);
  return watch(
    pathTo`/api/studies/${study}/sessions`,
    (/** @type {{sessions: Session[]}} */ data) => {
      sessions = data.sessions;
      update();
    },
    context,
    EVERY_MS,
  );
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
