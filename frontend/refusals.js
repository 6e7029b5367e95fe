// @ts-check
/** Plain messages for when the page cannot continue: why, and what to do. */

import { Refused } from "./api.js";
import { onTrialKeys } from "./keys.js";
import { goBack } from "./panel_exit.js";
import { ask, el, hideProgress, notice, show } from "./screens.js";
import { holdTab } from "./storage.js";
import { questions, quotes } from "./trouble.js";

const PLAIN = /** @type {Record<string, [string, string]>} */ ({
  unknown_study: ["There is no such study", "Please check the link that you were given."],
  study_paused: ["The study is paused", "Nobody can begin just now. Please come back later. Thank you for your patience."],
  withdrawn: ["You have withdrawn", "Your answers are deleted. What you earned is paid all the same. Thank you for your time."],
  study_full: ["The study is full", "All places are taken for now. Thank you for coming."],
  already_started: ["You have started already", "Your session is open in another browser. Please go on there; your answers are stored."],
  already_finished: ["You have taken part already", "Each person takes part once. Thank you for your answers; they are stored."],
  returned: ["Your place was given back", "At the panel, your place in this study was returned or ran out of time. It has gone to someone else. Thank you for coming."],
  took_part_before: ["Thank you for coming back", "You took part in another study of ours. This one is for people who have not seen such pictures before. You have done nothing wrong."],
  unknown_link: ["This link does not open the study", "Each link works for one person. Please use the one you were given, in full."],
  no_place: ["Please come in from the panel", "This study is for people who hold a place at the panel. Please open it there."],
  unknown_place: ["The panel does not know this place", "Please open the study anew at the panel. If that does not help, give the place back there. You have done nothing wrong."],
  wrong_place: ["Please come in from the panel again", "Your link names a place that is another person's, or in another study. Please open the study anew at the panel."],
  unsigned: ["Please come in from the panel again", "Your link is too old, or a part of it is missing. Please open the study anew at the panel. Nothing is lost, and you have done nothing wrong."],
  too_many_sessions: ["Please come back in an hour", "Very many people came to this study through your network, such as that of a school or a company. It takes in only so many an hour. You have done nothing wrong, and nothing was recorded."],
  opened_too_often: ["Please come back in an hour", "You have opened this study many times within the last hour. Your link works again then. Nothing was recorded."],
  not_installed: ["The study is not ready yet", "Its server lacks a part that this study needs. Trying again does not help before the researchers have added it; please let them know. You have done nothing wrong, and nothing was recorded."],
  not_qualified: ["Thank you", "This study is for people who passed its test. You are paid for the test you took."],
});

/** Refusals that need no further help, and so no id to quote. */
const CLEAR = ["study_paused", "study_full", "withdrawn", "already_finished", "not_qualified", "took_part_before", "returned", "too_many_sessions", "opened_too_often"];

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
 * @param {import("./trouble.js").About} about
 * @param {string | null} [back] address back to the panel
 */
export function showRefusal(error, about, back = null) {
  console.error(error);
  hideProgress();
  notice("");
  onTrialKeys(null);
  const { code, id } = error instanceof Refused ? error : { code: "", id: "" };
  const known = PLAIN[code];
  if (known) {
    const next = back && EXITS[code] === "no_consent" ? [el("p", {}, "Please go back, so that your place is given to someone else.")] : [];
    show("error", known[0], [el("p", {}, known[1]), ...next, ...goBack(back), ...questions(about, CLEAR.includes(code) ? "" : id)]);
    return;
  }
  const actions = [
    { label: "Load the page again", value: "again", primary: true },
    ...(about.giveUp ? [{ label: "I cannot go on", value: "leave" }] : []),
  ];
  ask(
    "error",
    "Something went wrong on our side",
    [
      el("p", {}, "This is not your fault. Every answer you gave so far is stored, and your pay is safe. Load this page again to go on where you stopped."),
      ...quotes(about, id),
    ],
    actions,
  ).then((answer) => (answer === "leave" ? about.giveUp?.() : location.reload()));
}

/**
 * Show the end in this tab, because another tab continues the session.
 * @param {string} study
 */
export function showElsewhere(study) {
  hideProgress();
  onTrialKeys(null);
  ask(
    "error",
    "The task goes on in another tab",
    [el("p", {}, "You can close this one. Every answer you gave is stored.")],
    [{ label: "Continue here instead", value: "here", primary: true }],
  ).then(async () => {
    await holdTab(study, true, () => {}); // otherwise the page asks the same again after loading
    location.reload();
  });
}
