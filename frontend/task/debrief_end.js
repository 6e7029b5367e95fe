// @ts-check
/** The last page of a study with a debrief: the result, and what the page says without one. */

import { ending, startPage } from "./completion.js";
import * as debriefs from "./debrief.js";
import { nextPersonActions } from "./session_person.js";
import { el } from "../shared/elements.js";
import { ask } from "./screens.js";
import { loadTexts, text } from "../texts/texts.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */

/**
 * Show the debrief first, where no panel waits for the completion code. Return null if there is no debrief.
 * @param {PublicStudy} study
 * @param {import("./visit.js").Ended} visit
 */
export async function showDebrief(study, visit) {
  const shown = await debriefOf(visit);
  if (!shown) return null;
  const { debrief, headline, result, gallery, otherPlays } = shown;
  const others = otherPlays && (await otherPlays(visit, study, debrief));
  const primary = !others?.actions.some((action) => action.primary);
  const actions = [
    ...(study.repeat_visits ? [{ label: text("end.again"), value: "again", primary }] : []),
    ...(others?.actions ?? startPage()),
    ...nextPersonActions(study),
  ];
  const code = el("summary", {}, text("end.code_and_withdrawing"));
  const rest = ending({ ...visit, done: { ...visit.done, ...countsOf(debrief) } }, study);
  const below = visit.done.needs_code ? el("details", {}, code, ...rest) : el("section", {}, ...rest);
  const words = [...result(debrief, study.repeat_visits, visit), ...(others?.words ?? [])];
  const answer = await ask("done", headline(debrief), words, actions, [gallery(debrief, visit), below]);
  await others?.open(answer);
  return answer;
}

/**
 * Return how many of the pictures that a debrief shows were judged right, so that the page says one number of
 * them; nothing where the result itself says it.
 * @param {import("./debrief.js").Debrief} debrief
 */
function countsOf({ score, pictures }) {
  if (score === null) return { right: null, not_sure: 0 };
  const right = pictures.filter(({ truth, response }) => truth === response).length;
  const not_sure = pictures.filter(({ response }) => response === "not_sure").length;
  return { right, not_sure, answered: pictures.length };
}

/**
 * Add the debrief to a page once it arrives; the link back to the panel, above, does not wait for it.
 * @param {HTMLElement} place
 * @param {import("./visit.js").Ended} visit
 */
export async function addDebrief(place, visit) {
  const shown = await debriefOf(visit);
  if (!shown) return;
  const { debrief, headline, result, gallery } = shown;
  place.append(el("h2", {}, headline(debrief)), ...result(debrief, false, visit), gallery(debrief, visit));
}

/**
 * Return the debrief with the functions that show it, those of a part if the session ended early; null if any
 * cannot be had soon, which must not hide the completion code.
 * @param {import("./visit.js").Ended} visit
 */
async function debriefOf(visit) {
  try {
    const part = () => import("./demonstration.js");
    const [debrief, ofPart] = await Promise.all([
      visit.debrief(),
      visit.done.complete ? null : visit.load(part, () => false),
    ]);
    await loadTexts(() => false);
    const whole = /** @type {import("./debrief.js").Whole} */ (debrief); // of a part, nobody reads the score
    return whole && { debrief: whole, otherPlays: null, ...debriefs, ...ofPart };
  } catch (error) {
    console.warn("no debrief:", error);
    return null;
  }
}
