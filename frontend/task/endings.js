// @ts-check
/** The last page of a session, and where it leads: the panel, another session, or the start page. */

import { addressOf } from "../shared/base_path.js";
import { ending, startPage } from "./completion.js";
import { keepToken } from "./held_token.js";
import { beginNextPerson, nextPersonActions } from "./session_person.js";
import { el } from "../shared/elements.js";
import { ask, showWaiting } from "./screens.js";
import { percent, text } from "../texts/texts.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */

/**
 * @param {PublicStudy} study
 * @param {import("./visit.js").Ended} visit
 */
export async function showDone(study, visit) {
  if (visit.done.qualification) {
    return begin(study, await showResult(/** @type {import("./visit.js").Tested} */ (visit), study));
  }
  const { done } = visit;
  const isTold = study.debrief && (done.complete || study.demonstration);
  if (isTold && !isAwaited(visit)) {
    showWaiting(text("block.loading"), text("end.result_coming"));
    const answer = await (await debriefing(visit))?.showDebrief(study, visit);
    if (answer) return begin(study, answer);
  }
  const title = done.complete ? text("end.complete") : text("end.early");
  const isPaid = study.pay.base_usd_cents + study.pay.bonus_usd_cents > 0;
  const advice = study.repeat_visits ? [text("flash.wrong_help")] : [];
  const early = [...whyEarly(done, isPaid), ...advice].map((words) => el("p", {}, words));
  // Not primary: an Enter key press left over from the last picture must not remove the completion code.
  const actions = [
    ...(study.repeat_visits ? [{ label: text("end.again"), value: "again" }] : []),
    ...startPage(),
    ...nextPersonActions(study),
  ];
  const below = el("section", {});
  if (isTold && isAwaited(visit)) debriefing(visit).then((module) => module?.addDebrief(below, visit));
  const answer = await ask(
    "done",
    title,
    [...(done.complete ? [] : early), ...ending(visit, study)],
    actions,
    [below],
  );
  begin(study, answer);
}

/**
 * Return in words why a session ended early, and what its evaluator gets.
 * @param {import("../../types/api.js").Done} done
 * @param {boolean} isPaid whether the task is paid
 */
function whyEarly({ paid_in_part, redirect_url, earned_usd_cents }, isPaid) {
  if (!paid_in_part) return [text(isPaid ? "end.early_why_paid" : "end.early_why")];
  return [
    text("end.part_why"),
    ...(earned_usd_cents ? [text("end.part_paid")] : []),
    ...(redirect_url ? [text(earned_usd_cents ? "end.part_return" : "panel.give_place")] : []),
  ];
}

/**
 * Load what shows the debrief; null if it cannot be had soon, which must not hide the completion code.
 * @param {import("./visit.js").Ended} visit
 */
async function debriefing({ load }) {
  try {
    return await load(
      () => import("./debrief_end.js"),
      () => false,
    );
  } catch (error) {
    console.warn("no debrief:", error);
    return null;
  }
}

/**
 * Return whether the page leads back to a panel, the panel gets a report, or earnings are shown.
 * @param {import("./visit.js").Ended} visit
 */
function isAwaited({ done, earned }) {
  return Boolean(done.redirect_url || done.form || done.reported) || earned !== null;
}

/**
 * Go on from the last page as it was answered: to another session, or the demo's start page.
 * @param {PublicStudy} study
 * @param {string} answer
 */
function begin(study, answer) {
  if (answer === "start") return location.assign(addressOf("/"));
  if (answer === "next") return beginNextPerson(study);
  if (answer !== "again") return;
  keepToken(study.study, null);
  location.reload();
}

/**
 * Show the end of a qualification, opened by its own link or before a study.
 * @param {import("./visit.js").Tested} visit
 * @param {PublicStudy} study the qualification
 * @param {boolean} [leadsOn] whether the study follows; its button is then the only primary one
 * @returns {Promise<string>} `on` for the study, `again`, or `next`
 */
export function showResult(visit, study, leadsOn = false) {
  const { passed, may_retake } = visit.done.qualification;
  const goesOn = leadsOn && passed;
  const actions = [
    ...(goesOn ? [{ label: text("test.go_on"), value: "on", primary: true }] : []),
    ...(!passed && may_retake ? [{ label: text("test.again"), value: "again" }] : []),
    ...(leadsOn ? [] : nextPersonActions(study)),
  ];
  return ask(
    "done",
    passed ? text("test.passed") : text("test.not_passed"),
    qualificationResult(visit, study, passed, goesOn),
    actions,
  );
}

/**
 * @param {import("./visit.js").Tested} visit
 * @param {PublicStudy} study
 * @param {boolean} passed
 * @param {boolean} leadsOn
 */
function qualificationResult(visit, study, passed, leadsOn) {
  const { reals_right = 0, fakes_right = 0, right, needed } = visit.done.qualification;
  const isOfPairs = right !== undefined;
  /** @type {(name: string, share: number) => string[]} */
  const row = (name, share) => [name, text("test.share_right", { share: percent(share) })];
  const rows = isOfPairs
    ? [row(text("test.pairs"), right)]
    : [row(text("test.reals"), reals_right), row(text("test.fakes"), fakes_right)];
  const missed = text(isOfPairs ? "test.needed_pairs" : "test.needed", { share: percent(needed) });
  const verdict = passed ? text(leadsOn ? "test.may_take_part_now" : "test.may_take_part") : missed;
  return [el("p", {}, verdict), ...ending(visit, study, rows, !leadsOn)];
}
