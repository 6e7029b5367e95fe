// @ts-check
/** Checks whether the evaluator's display can show flashes; if not, explains why and what helps. */

import { measureDisplay, screenAtHand, unfitness } from "./display.js";
import { exitLink, sayGoodbye } from "./panel_exit.js";
import { ask, el, show } from "./screens.js";
import { text } from "./texts.js";

/** @typedef {import("../types/api.js").PublicStudy} PublicStudy */

/**
 * Return the measured display once it is fit for flashes; otherwise explain why, and check again on request.
 * Return null if the evaluator leaves, after the final page was shown.
 * @param {import("./visit.js").Api} api
 * @param {PublicStudy} study
 * @param {string} safe that it is not the evaluator's fault, and what happens to the responses so far
 * @param {import("./frames.js").Refresh | null} [glance] an earlier brief measurement; sufficient if it is
 *   fit
 */
export async function fitDisplay(api, study, safe, glance = null) {
  if (glance && unfitness(glance, screenAtHand(), study.refresh_hz).length === 0) return glance;
  for (;;) {
    const display = await look();
    const reasons = unfitness(display, screenAtHand(), study.refresh_hz);
    if (reasons.length === 0) return display;
    const back = await exitLink(api, study, "unfit_device");
    const answer = await ask(
      "check",
      text("display.unfit"),
      [...reasons.map((reason) => el("p", {}, reason)), el("p", { class: "quiet" }, safe)],
      [
        { label: text("display.check_again"), value: "again", primary: true },
        ...(back ? [{ label: text("display.leave"), value: "leave" }] : []),
      ],
    );
    if (answer === "leave") {
      sayGoodbye(back);
      return null;
    }
  }
}

function look() {
  show("check", text("display.checking"), [el("p", {}, text("display.checking_wait"))]);
  return measureDisplay();
}
