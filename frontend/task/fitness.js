// @ts-check
/** Checks whether the evaluator's display can show flashes; if not, explains why and what helps. */

import { measureDisplay, screenAtHand, unfitness } from "./display.js";
import { texts } from "../texts/more_en.js";
import { exitLink, panelOf, sayGoodbye, wayBack } from "./panel_exit.js";
import { within } from "../shared/patience.js";
import { el } from "../shared/elements.js";
import { ask, show } from "./screens.js";
import { addTexts, loadTexts, text } from "../texts/texts.js";

addTexts(texts);

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */

const LINK_MS = 4000;

/**
 * Return the measured display once it is fit for flashes; otherwise explain why, and check again on request.
 * Return null if the evaluator leaves, after the final page was shown, or has ended a demonstration.
 * @param {import("./visit.js").Api} api
 * @param {PublicStudy} study
 * @param {string} safe that it is not the evaluator's fault, and what happens to the responses so far
 * @param {import("./frames.js").Refresh | null} [glance] an earlier brief measurement; sufficient if it is
 *   fit
 * @param {import("./visit.js").Visit | null} [visit] whose session is under way
 */
export async function fitDisplay(api, study, safe, glance = null, visit = null) {
  if (glance && unfitness(glance, screenAtHand(), study.refresh_hz).length === 0) return glance;
  for (;;) {
    show("check", text("display.checking"), [el("p", {}, text("display.checking_wait"))]);
    const display = await measureDisplay();
    const reasons = unfitness(display, screenAtHand(), study.refresh_hz);
    if (reasons.length === 0) return display;
    const back = await within(LINK_MS, exitLink(api, study, "unfit_device")).catch(() => study.panel_home);
    const others = study.demonstration && !visit ? await otherPlays(api, study) : null;
    const maySeeResult = study.demonstration && visit;
    const asked = ask(
      "check",
      text(display.has_frames ? "display.unfit" : "display.unchecked"),
      [
        ...reasons.map((reason) => el("p", {}, reason)),
        el("p", { class: "quiet" }, safe),
        ...(others?.words ?? []),
        ...(back || study.demonstration ? [] : wayBack(null, panelOf(study))),
      ],
      [
        { label: text("display.check_again"), value: "again", primary: true },
        ...(maySeeResult ? [{ label: text("flash.stop"), value: "stop" }] : []),
        ...(others?.actions ?? []),
        ...(back ? [{ label: text("display.leave"), value: "leave" }] : []),
      ],
    );
    const answer = await Promise.race([asked, seenAgain()]);
    if (answer) await others?.open(answer);
    if (answer === "stop") {
      await visit?.end();
      return null;
    }
    if (answer === "leave") {
      sayGoodbye(back);
      return null;
    }
  }
}

/**
 * @param {import("./visit.js").Api} api
 * @param {PublicStudy} study
 */
async function otherPlays(api, study) {
  const demonstration = await api.load(() => import("./demonstration.js"));
  await loadTexts();
  return demonstration.otherPlays(api, study);
}

/**
 * Wait until a hidden page is seen; a page that is seen is not waited for.
 * @returns {Promise<void>}
 */
function seenAgain() {
  return new Promise((resolve) => {
    if (document.hidden) document.addEventListener("visibilitychange", () => resolve(), { once: true });
  });
}
