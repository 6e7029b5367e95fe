// @ts-check
/** Plain messages for when the page cannot continue: why, and what to do. */

import { Refused } from "../shared/api.js";
import { wayBack } from "./panel_exit.js";
import { NeverCame } from "../shared/patience.js";
import { el, notice } from "../shared/elements.js";
import { ask, hideProgress } from "./screens.js";
import { holdTab } from "./storage.js";
import { sentences, text } from "../texts/texts.js";
import { questions, quotes } from "./connection_messages.js";

/** Refusals with texts of their own, `refused.CODE` and `refused.CODE_help`. */
export const PLAIN = [
  "unknown_study",
  "study_paused",
  "withdrawn",
  "study_full",
  "already_started",
  "already_finished",
  "returned",
  "lapsed",
  "took_part_before",
  "unknown_link",
  "no_place",
  "unknown_place",
  "wrong_place",
  "unsigned",
  "unfilled_link",
  "preview",
  "too_many_sessions",
  "opened_too_often",
  "not_installed",
  "not_qualified",
];

/** Refusals that need no further help, and so no id to quote. */
const CLEAR = [
  "study_paused",
  "study_full",
  "withdrawn",
  "already_finished",
  "not_qualified",
  "took_part_before",
  "returned",
  "too_many_sessions",
  "opened_too_often",
  "unfilled_link",
  "preview",
];

/** Refusals of the person whose session this browser stored. */
const OF_PERSON = ["withdrawn", "already_started", "already_finished", "returned", "lapsed", "not_qualified"];

/**
 * Refusals of an evaluator who has a place at the panel, with the outcome reported to the panel.
 * @type {Record<string, "no_consent" | "screened_out">}
 */
export const EXITS = {
  took_part_before: "no_consent",
  study_full: "no_consent",
  study_paused: "no_consent",
  not_qualified: "screened_out",
};

/**
 * Show the end of a visit, for a reason that the server gave or because of an unexpected error.
 * @param {unknown} error
 * @param {import("./connection_messages.js").About} about
 * @param {string | null} [back] address back to the panel
 */
export function showRefusal(error, about, back = null) {
  console.error(error);
  hideProgress();
  notice("");
  const isKnown = error instanceof Refused || error instanceof NeverCame;
  const { code, id } = isKnown ? error : { code: "", id: "" };
  if (PLAIN.includes(code)) {
    const next = back && EXITS[code] === "no_consent" ? [el("p", {}, text("panel.give_place"))] : [];
    const content = [
      el("p", {}, text(`refused.${code}_help`)),
      ...next,
      ...(code === "lapsed" ? quotes(about, id) : questions(about, CLEAR.includes(code) ? "" : id)),
      ...wayBack(back, about.panel),
    ];
    const actions = (OF_PERSON.includes(code) && about.nextPerson?.actions) || [];
    ask("error", text(`refused.${code}`), content, actions).then(() => about.nextPerson?.begin());
    return;
  }
  const hasWords = code === "consent_changed" || code === "no_frames";
  const safe = code === "no_frames" && about.session ? text("trouble.answers_safe") : "";
  const actions = [
    { label: text("page.load_again"), value: "again", primary: true },
    ...(about.giveUp ? [{ label: text("trouble.cannot_go_on"), value: "leave" }] : []),
  ];
  ask(
    "error",
    text(hasWords ? `refused.${code}` : "trouble.our_side"),
    hasWords
      ? [el("p", {}, sentences(text(`refused.${code}_help`), safe))]
      : [el("p", {}, text("trouble.our_side_help")), ...quotes(about, id)],
    actions,
  ).then((answer) => (answer === "leave" ? about.giveUp?.() : location.reload()));
}

/**
 * Show the end in this tab, because another tab continues the session.
 * @param {string} study
 */
export function showElsewhere(study) {
  hideProgress();
  ask(
    "error",
    text("tab.elsewhere"),
    [el("p", {}, text("tab.elsewhere_help"))],
    [{ label: text("tab.here_instead"), value: "here", primary: true }],
  ).then(async () => {
    await holdTab(study, true, () => {}); // otherwise the page asks the same again after loading
    location.reload();
  });
}
