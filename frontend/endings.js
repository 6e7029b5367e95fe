// @ts-check
/** How a visit ends: thanks, what was earned, the completion code, the way back to the panel. */

import { copier } from "./copying.js";
import { ask, dollars, el, facts, show } from "./screens.js";
import { writeToken } from "./storage.js";
import { withdrawalNote } from "./withdrawal.js";

/** @returns {null} */
export function sayGoodbye() {
  show("done", "Thank you for looking", [el("p", {}, "Nothing was recorded. You can close this page.")]);
  return null;
}

/**
 * @param {any} study
 * @param {import("./visit.js").Visit} visit
 */
export async function showDone(study, visit) {
  if (visit.done.qualification) return showResult(visit);
  const { done } = visit;
  const title = done.complete ? "All done. Thank you!" : "That is enough for today. Thank you!";
  const early = [el("p", {}, "The task was interrupted too often to go on. That is no fault of yours, and you are paid for what you did.")];
  const actions = study.repeat_visits ? [{ label: "Take part again", value: "again", primary: !done.redirect_url }] : [];
  const answer = await ask("done", title, [...(done.complete ? [] : early), ...ending(visit)], actions);
  if (answer === "again") {
    writeToken(study.study, null);
    location.reload();
  }
}

/**
 * The end of a qualification, opened by its own link or on the way to a study.
 * @param {import("./visit.js").Visit} visit
 * @param {boolean} [leadsOn] to the study, which then is the one primary button
 */
export async function showResult(visit, leadsOn = false) {
  const passed = visit.done.qualification.passed;
  const goesOn = leadsOn && passed;
  const actions = goesOn ? [{ label: "Continue to the study", value: "on", primary: true }] : [];
  await ask("done", passed ? "You passed" : "Thank you", qualificationResult(visit, passed, goesOn), actions);
}

/**
 * @param {import("./visit.js").Visit} visit
 * @param {string[][]} [rows] more facts, which stand first
 * @param {boolean} [isPrimary] whether the way back is what to do next
 */
function ending({ done, state }, rows = [], isPrimary = true) {
  const code = el("output", { class: "code", id: "code" }, done.completion_code);
  const { button, told } = copier("Copy the code", done.completion_code, "The code", code);
  const back = done.redirect_url ? [el("a", { class: isPrimary ? "button primary" : "button", href: done.redirect_url }, "Finish and go back")] : [];
  return [
    facts([
      ...rows,
      ["Right answers", `${done.right} of ${done.answered}`],
      ["You earned", dollars(done.earned_usd_cents)],
    ]),
    el("p", {}, "Your answers are stored. Your completion code:"),
    code,
    el("div", { class: "actions" }, button, ...back),
    told,
    withdrawalNote(state.withdrawal_url),
  ];
}

/**
 * @param {import("./visit.js").Visit} visit
 * @param {boolean} passed
 * @param {boolean} leadsOn
 */
function qualificationResult(visit, passed, leadsOn) {
  const { reals_right, fakes_right, needed } = visit.done.qualification;
  const percent = (/** @type {number} */ share) => `${Math.round(100 * share)}%`;
  return [
    el("p", {}, passed
      ? `You can now take part in the study${leadsOn ? " itself" : ""}.`
      : `To take part in the study, ${percent(needed)} of the real and ${percent(needed)} of the fake pictures are needed. This says nothing about you as a worker, and you are paid for the test.`),
    ...ending(visit, [["Real pictures", `${percent(reals_right)} right`], ["Fake pictures", `${percent(fakes_right)} right`]], !leadsOn),
  ];
}
