// @ts-check
/**
 * One flash of a trial: preparation, presentation, and a check of what was really shown. This module and what
 * it imports are loaded before the first trial of studies with flashes, and of no other.
 */

import { texts } from "../texts/more_en.js";
import * as staircase from "../staircase.js";
import { hasChanged, measureDisplay, watchFlash } from "./display.js";
import { waitFrames } from "./frames.js";
import { enterFullScreen, isFullScreen } from "./full_screen.js";
import { isAsPlanned, withClipsWhole } from "./planner.js";
import { el } from "../shared/elements.js";
import { ask, enterScreen, isGone, showWaiting } from "./screens.js";
import { addTexts, text } from "../texts/texts.js";
import { isWhole } from "./window_fit.js";

export { fitDisplay } from "./fitness.js";
export { makePresenter } from "./presenter.js";

addTexts(texts);

const SHOWINGS_AT_MOST = 5;
/** Between a flash and the question, whose layout would otherwise delay the end of the last mask. */
const QUIET_FRAMES = 3;
/** Kinds of evidence that report only when a phase was drawn, not when it was shown. */
const UNWATCHED = ["worker", "callback"];
/** After these another display may be in use. */
const DISPLAY_FLAGS = ["display_changed", "resized"];

/**
 * @typedef {import("./trials.js").Screen} Screen
 * @typedef {import("./trials.js").Seen} Seen
 * @typedef {import("./medium.js").Stimulus} Stimulus
 * @typedef {Awaited<ReturnType<typeof import("./presenter.js").makePresenter>>} Presenter
 * @typedef {import("./trials.js").Scene & {presenter: Presenter}} Scene
 */

/**
 * Prepare a flash: restore full screen if it was lost.
 * @param {Scene} scene
 * @param {{exposure_ms: number | null}} next
 */
export async function readyToFlash(scene, next) {
  if (next.exposure_ms === null || !scene.isFull || isFullScreen()) return;
  await ask(
    "break",
    text("flash.left_full_screen"),
    [el("p", {}, text("flash.left_full_screen_help"))],
    [{ label: text("flash.back"), value: "on", primary: true }],
  );
  await enterFullScreen();
  scene.isFull = isFullScreen(); // if it is refused now, the task continues in the window
  scene.screen.enter();
}

/**
 * After a flash, measure the display again if it changed.
 * @param {Scene} scene
 * @param {string[]} flags
 * @returns {Promise<boolean>} whether the evaluator stays: a display that is no longer fit may be left
 */
export async function settleIn(scene, flags) {
  if (!DISPLAY_FLAGS.some((flag) => flags.includes(flag))) return true;
  const glance = await measureDisplay();
  return isGone(scene.screen) || fitAgain(scene, glance);
}

/**
 * Measure the display again until it is fit for flashes; return false if the evaluator leaves.
 * @param {Scene} scene
 * @param {import("./frames.js").Refresh | null} glance
 */
async function fitAgain(scene, glance) {
  const display = await scene.fitDisplay?.(glance);
  if (!display) return false;
  scene.display = display;
  if (isGone(scene.screen)) scene.screen.enter();
  return true;
}

/**
 * After repeated mistimed flashes, ask the evaluator whether to continue. If so, measure the display again
 * and switch to the presenter's other back end, unless a frame does the drawing.
 * @param {Scene} scene
 * @param {boolean} isByWindow whether it was the window, not the browser, that kept some from being seen
 * @returns {Promise<boolean>}
 */
export async function goesOn(scene, isByWindow) {
  const answer = await ask(
    "check",
    text("flash.wrong"),
    [
      el("p", {}, text(isByWindow ? "end.part_why" : "flash.wrong_why")),
      el("p", {}, text(isByWindow ? "flash.left_full_screen_help" : "flash.wrong_help")),
      el("p", {}, text(scene.isPaid ? "flash.may_stop_paid" : "flash.may_stop")),
    ],
    [
      { label: text("flash.try_again"), value: "on", primary: true },
      { label: text("flash.stop"), value: "stop" },
    ],
  );
  if (answer === "stop" || !(await fitAgain(scene, null))) {
    showWaiting(text("flash.ending"), text("flash.ending_wait"));
    return false;
  }
  scene.presenter.change();
  return true;
}

/**
 * Show the pictures: with an exposure, as a flash between countdown and masks; otherwise until the response,
 * after the same countdown if other pictures of the session flash. They are shown side by side, or, in a
 * study with a gap, one after the other.
 * @param {Scene} scene
 * @param {Stimulus[]} pictures
 * @param {ImageBitmap[]} masks each of which covers every picture
 * @param {{exposure_ms: number | null}} next
 * @returns {Promise<import("./medium.js").Showing>}
 */
export async function showPictures(scene, pictures, masks, next) {
  scene.screen.verdict.textContent = "";
  const { protocol } = scene.visit.state;
  const countdown = countdownOf(protocol);
  if (next.exposure_ms === null) {
    if (protocol.time_limits === "some" && countdown.length) await showCountdown(scene, countdown);
    return scene.medium.show(scene, pictures);
  }
  const phases = [
    ...countdown,
    ...phasesOf(scene.medium, pictures, next.exposure_ms, protocol.gap_ms, scene.display.frame_ms),
    ...masks.map((mask) => ({ name: "mask", ms: protocol.mask_ms, pictures: pictures.map(() => mask) })),
  ];
  // A tab hidden during the countdown returns after the flash has ended. An unseen picture is shown again.
  for (let showing = 1; ; showing += 1) {
    const flash = await showFlash(scene, pictures, phases, protocol.countdown_from);
    if (flash.wasSeen || showing === SHOWINGS_AT_MOST) return flash;
    await flash.settled;
  }
}

/**
 * Return the numbers of the countdown. Where pictures follow each other and there is a single number, it is a
 * cross, which only marks where to look.
 * @param {import("../../types/api.js").PageProtocol} protocol
 * @returns {import("./presenter.js").Phase[]}
 */
function countdownOf({ countdown_from: from, countdown_ms: ms, gap_ms }) {
  const isMark = gap_ms > 0 && from === 1;
  return Array.from({ length: from }, (_, i) => ({
    name: "countdown",
    ms,
    text: isMark ? "+" : `${from - i}`,
  }));
}

/**
 * Return the phases that show the pictures of a trial: at once, or each in turn with gaps in between.
 * @param {import("./medium.js").Medium} medium
 * @param {Stimulus[]} pictures
 * @param {number} ms
 * @param {number} gap_ms
 * @param {number} frame_ms
 * @returns {import("./presenter.js").Phase[]}
 */
function phasesOf(medium, pictures, ms, gap_ms, frame_ms) {
  if (!gap_ms) return medium.phases(pictures, ms, frame_ms);
  return pictures.flatMap((picture, i) => [
    ...(i ? [{ name: "gap", ms: gap_ms }] : []),
    ...medium.phases([picture], ms, frame_ms),
  ]);
}

/**
 * @param {Scene} scene
 * @param {import("./presenter.js").Phase[]} countdown
 */
async function showCountdown({ screen, presenter, display }, countdown) {
  screen.main.classList.add("flashing");
  const { settled } = await presenter.show(countdown, display.frame_ms, entering(screen));
  await settled; // a frame that is hidden behind the picture gets no animation frames to end in
  screen.main.classList.remove("flashing");
}

/**
 * Show countdown, picture and masks once, and return what was really shown.
 * @param {Scene} scene
 * @param {Stimulus[]} stimuli
 * @param {import("./presenter.js").Phase[]} phases
 * @param {number} k index of the picture, or of the first one, among them
 * @returns {Promise<import("./medium.js").Showing & {wasSeen: boolean}>}
 */
async function showFlash({ screen, presenter, display, medium }, stimuli, phases, k) {
  const watched = watchFlash();
  screen.main.classList.add("flashing");
  const { settled, wasDrawn } = await presenter.show(phases, display.frame_ms, entering(screen));
  const flags = [...watched(), ...(isWhole(screen.stage) ? [] : ["not_whole"])];
  await waitFrames(QUIET_FRAMES * display.frame_ms);
  screen.main.classList.remove("flashing");
  return {
    moveTo: () => {},
    wasSeen: phases.some(({ name }, i) => name === "stimulus" && wasDrawn[i]),
    settled: settled.then(({ timing, frame_ms, isPageLate, isContradicted }) => {
      presenter.note(isPageLate && !flags.includes("hidden"));
      const stored = withClipsWhole(timing, phases);
      return {
        shown_ms: stored.phase_ms[k],
        frames: stored.achieved_frames[k],
        mask_ms: timing.phase_ms.filter((_, i) => phases[i].name === "mask"),
        timing: stored,
        ...medium.facts(stimuli, phases, timing, display.frame_ms),
        flags: [
          ...flags,
          ...(isAsPlanned(timing, display.frame_ms, k) && !isContradicted ? [] : ["mistimed"]),
          ...(isContradicted ? ["display_stalled"] : []),
          ...(UNWATCHED.includes(timing.evidence) ? ["unverified"] : []),
          ...(hasChanged(frame_ms, display.frame_ms) && !flags.includes("display_changed")
            ? ["display_changed"]
            : []),
        ],
      };
    }),
  };
}

/**
 * Return what is done when a phase begins. A clip begins with the first of its frames that is drawn.
 * @param {Screen} screen
 * @returns {(phase: import("./presenter.js").Phase | null) => void}
 */
export function entering(screen) {
  let before = "";
  return (phase) => {
    if (!phase || isGone(screen)) return;
    const isLaterFrame = phase.frame && before === "stimulus";
    if (phase.name === "stimulus" && !isLaterFrame) screen.onset = performance.now();
    before = phase.name;
    enterScreen(phase.name);
  };
}

/**
 * Return flags for the next response if the server's exposure differs from the staircase rule's.
 * @param {import("../../types/api.js").Block["staircase"]} rule
 * @param {import("../staircase.js").StaircaseState} before
 * @param {import("../../types/api.js").Confirmation} reply
 * @returns {string[]}
 */
export function disagreement(rule, before, reply) {
  if (!rule || reply.replaced_by || reply.block_finished || reply.was_correct === null || !reply.next)
    return [];
  const expected = staircase.step(rule, before, reply.was_correct);
  if (expected.exposure_ms === reply.next.exposure_ms) return [];
  console.error("staircase: expected", expected, "but the server announced", reply.next);
  return ["staircase_mismatch"];
}
