// @ts-check
/** An active session: instructions, blocks, breaks. */

import { enterFullScreen, leaveFullScreen } from "./full_screen.js";
import { judgmentOf } from "./judgment.js";
import { startGuarding, stopGuarding } from "./leaving.js";
import { mediumOf } from "./medium.js";
import { instructions } from "./study_terms.js";
import { afterPractice, beforePractice } from "./practice.js";
import { el, paragraphs } from "../shared/elements.js";
import { ask, hideProgress } from "./screens.js";
import { loadTexts, text } from "../texts/texts.js";
import { playBlock } from "./trials.js";
import { withdrawalNote } from "./withdraw_link.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */

export { showDone, showResult } from "./endings.js";

/** @typedef {import("./visit.js").Visit} Visit */

/**
 * Load what the trials and the end of a study need, so that nothing is loaded between them.
 * @param {Pick<import("./visit.js").Api, "load">} api
 * @param {PublicStudy} study
 * @param {() => boolean} [isAwaited] whether somebody is waiting for it now
 */
export async function prepare({ load }, study, isAwaited) {
  const [judgment, medium, flash] = await Promise.all([
    load(() => judgmentOf(study), isAwaited),
    load(() => mediumOf(study), isAwaited),
    study.flashes ? load(() => import("./flash.js"), isAwaited) : null,
    study.debrief ? load(() => import("./debrief_end.js"), isAwaited) : null,
    study.demonstration && study.flashes ? load(() => import("./demonstration.js"), isAwaited) : null,
  ]);
  await loadTexts(isAwaited);
  return { judgment, medium, flash };
}

/**
 * Run the remaining blocks of a session; `visit.done` is null if the evaluator left, after the final page.
 * @param {import("./visit.js").Api} api
 * @param {PublicStudy} study
 * @param {Visit} visit
 */
export async function playBlocks(api, study, visit) {
  const before = study.practice ? 1 : 0; // the practice is the first block, and no part
  const blocks = visit.state.protocol.block_images.length - before;
  const asked = visit.state.protocol.follow_ups ?? null;
  const [prepared, followUps] = await Promise.all([
    prepare(api, study),
    asked && api.load(() => import("./follow_ups.js")),
  ]);
  await loadTexts();
  const { judgment, flash } = prepared;
  const fitDisplay =
    flash &&
    ((/** @type {import("./frames.js").Refresh | null} */ glance) =>
      flash.fitDisplay(api, study, text("display.no_fault_stored"), glance, visit));
  const isBack = (visit.next?.trial_index ?? 0) > 0;
  await askQuestions(visit);
  const areOwn = !isBack && (await showPages(visit, 0));
  if (!areOwn || visit.state.protocol.builtin_instructions) {
    await ask(
      "instructions",
      isBack ? text("instructions.title_back") : text("instructions.title"),
      [
        ...instructions(study, judgment, isBack),
        ...prepared.medium.notes(visit.state.protocol).map((note) => el("p", {}, note)),
        ...(followUps?.followUpNotes(asked) ?? []),
        ...beforePractice(study, visit),
        ...withdrawing(visit),
      ],
      [
        {
          label: isBack ? text("instructions.continue") : text("instructions.start"),
          value: "start",
          primary: true,
        },
      ],
    );
  }
  startGuarding();
  let isBegun = visit.state.block_begun;
  while (!visit.done) {
    const { block, practice } = /** @type {import("./visit.js").Next} */ (visit.next);
    if (block > before && !isBegun) await showPages(visit, block - before);
    isBegun = false;
    if (study.flashes && visit.state.protocol.full_screen) await enterFullScreen();
    const display = (await fitDisplay?.(null)) ?? null;
    if (visit.done) break;
    if (flash && !display) return leave();
    const isPaid = study.pay.base_usd_cents + study.pay.bonus_usd_cents > 0;
    const wentOn = await playBlock(visit, { ...prepared, followUps, fitDisplay }, display, isPaid);
    if (!wentOn && !visit.done) return leave();
    if (!visit.done && practice) await afterPractice(study, withdrawing(visit));
    if (!visit.done && !practice) {
      await ask(
        "break",
        text("break.title"),
        [
          el(
            "p",
            {},
            judgment.partDone({
              part: block + 1 - before,
              parts: blocks,
              answered: visit.progress.answered,
              total: visit.progress.total,
            }),
          ),
          el("p", {}, text("break.rest")),
          ...withdrawing(visit),
        ],
        [{ label: text("break.continue"), value: "on", primary: true }],
      );
    }
  }
  await leave();
}

/** Give back what the trials had: the guarded page, full screen, the progress. */
async function leave() {
  stopGuarding();
  await leaveFullScreen();
  hideProgress();
}

/**
 * Ask the researcher's questions that are to be answered now, if there are any.
 * @param {Visit} visit
 */
export async function askQuestions(visit) {
  if (!visit.questions) return;
  const { askOpenQuestions } = await visit.load(() => import("./questions.js"));
  await loadTexts();
  await askOpenQuestions(visit);
}

/**
 * Show the researcher's own instructions that come before a block; return whether there are any.
 * @param {Visit} visit
 * @param {number} block
 */
async function showPages(visit, block) {
  const pages = (visit.state.pages ?? []).filter(({ before_block }) => before_block === block);
  for (const { title, text: own } of pages) {
    await ask(
      "instructions",
      title,
      [...paragraphs(own), ...withdrawing(visit)],
      [{ label: text("pages.continue"), value: "on", primary: true }],
    );
  }
  return pages.length > 0;
}

/**
 * Return the note on how to withdraw; empty in a demo, which stores nothing.
 * @param {Visit} visit
 */
function withdrawing({ state: { withdrawal_url } }) {
  return withdrawal_url ? [withdrawalNote(withdrawal_url)] : [];
}
