// @ts-check
/** Whether the display at hand can show flashes; where it cannot, why, and what helps. */

import { measureDisplay, screenAtHand, unfitness } from "./display.js";
import { exitLink, sayGoodbye } from "./panel_exit.js";
import { ask, el, show } from "./screens.js";

/** @typedef {import("../types/api.js").PublicStudy} PublicStudy */

/**
 * The display, measured and found fit for flashes; tells kindly where it is not, and checks again when asked.
 * Null where the person gives up, and the page has ended.
 * @param {import("./visit.js").Api} api
 * @param {PublicStudy} study
 * @param {string} safe what becomes of what was done so far
 * @param {import("./frames.js").Refresh | null} [glance] enough where the display is fit by it
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
      "This device cannot show the task",
      [
        ...reasons.map((reason) => el("p", {}, reason)),
        el("p", { class: "quiet" }, `This is not your fault. ${safe}`),
      ],
      [
        { label: "Check again", value: "again", primary: true },
        ...(back ? [{ label: "I cannot take part", value: "leave" }] : []),
      ],
    );
    if (answer === "leave") {
      sayGoodbye(back);
      return null;
    }
  }
}

function look() {
  show("check", "Checking your screen", [el("p", {}, "This takes two seconds.")]);
  return measureDisplay();
}
