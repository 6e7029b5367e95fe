// @ts-check
/** How a visit ends: thanks, what was earned, the completion code, the way back to the panel. */

import { ask, dollars, el, facts, show } from "./screens.js";
import { writeToken } from "./storage.js";

/** @returns {null} */
export function sayGoodbye() {
  show("done", "Thank you for looking", [el("p", {}, "Nothing was recorded. You can close this page.")]);
  return null;
}

/**
 * @param {any} study
 * @param {any} done
 */
export async function showDone(study, done) {
  if (done.qualification) return showResult(done);
  const title = done.complete ? "All done. Thank you!" : "That is enough for today. Thank you!";
  const early = [el("p", {}, "The task was interrupted too often to go on. That is no fault of yours, and you are paid for what you did.")];
  const actions = study.repeat_visits ? [{ label: "Take part again", value: "again", primary: !done.redirect_url }] : [];
  const answer = await ask("done", title, [...(done.complete ? [] : early), ...ending(done)], actions);
  if (answer === "again") {
    writeToken(study.study, null);
    location.reload();
  }
}

/**
 * The end of a qualification, opened by its own link or on the way to a study.
 * @param {any} done
 * @param {boolean} [leadsOn] to the study, which then is the one primary button
 */
export async function showResult(done, leadsOn = false) {
  const passed = done.qualification.passed;
  const goesOn = leadsOn && passed;
  const actions = goesOn ? [{ label: "Continue to the study", value: "on", primary: true }] : [];
  await ask("done", passed ? "You passed" : "Thank you", qualificationResult(done, passed, goesOn), actions);
}

/**
 * @param {any} done
 * @param {string[][]} [rows] more facts, which stand first
 * @param {boolean} [isPrimary] whether the way back is what to do next
 */
function ending(done, rows = [], isPrimary = true) {
  const code = el("output", { class: "code", id: "code" }, done.completion_code);
  const copy = el("button", { type: "button" }, "Copy the code");
  const told = el("p", { class: "quiet told", role: "status" });
  copy.addEventListener("click", async () => {
    const isCopied = await copied(done.completion_code);
    if (!isCopied) getSelection()?.selectAllChildren(code);
    told.textContent = isCopied ? "The code is copied." : "The code is selected; please copy it with your keyboard or menu.";
  });
  const back = done.redirect_url ? [el("a", { class: isPrimary ? "button primary" : "button", href: done.redirect_url }, "Finish and go back")] : [];
  return [
    facts([
      ...rows,
      ["Right answers", `${done.right} of ${done.answered}`],
      ["You earned", dollars(done.earned_usd_cents)],
    ]),
    el("p", {}, "Your answers are stored. Your completion code:"),
    code,
    el("div", { class: "actions" }, copy, ...back),
    told,
  ];
}

/**
 * Whether a text reached the clipboard; pages without TLS have none.
 * @param {string} text
 */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {any} done
 * @param {boolean} passed
 * @param {boolean} leadsOn
 */
function qualificationResult(done, passed, leadsOn) {
  const { reals_right, fakes_right, needed } = done.qualification;
  const percent = (/** @type {number} */ share) => `${Math.round(100 * share)}%`;
  return [
    el("p", {}, passed
      ? `You can now take part in the study${leadsOn ? " itself" : ""}.`
      : `To take part in the study, ${percent(needed)} of the real and ${percent(needed)} of the fake pictures are needed. This says nothing about you as a worker, and you are paid for the test.`),
    ...ending(done, [["Real pictures", `${percent(reals_right)} right`], ["Fake pictures", `${percent(fakes_right)} right`]], !leadsOn),
  ];
}
