// @ts-check
/**
 * One block of trials: show, ask, store, give feedback. Each trial waits until the last response is stored.
 */

import { measureRefresh, waitFrames } from "./frames.js";
import { isFullScreen } from "./full_screen.js";
import { takeInteractions } from "./interactions.js";
import { beginOf, onTrialKeys, timeOf } from "./keys.js";
import { loadPictures } from "./pictures.js";
import { interruptionsSoFar, untilUncovered } from "./interruption.js";
import { countSameAnswers, saySameAnswers } from "./same_answers.js";
import { giveInstruction, ofInstruction } from "./instructed_check.js";
import { loadStimuli, namesOf } from "./stimuli.js";
import { text } from "../texts/texts.js";
import { el } from "../shared/elements.js";
import { ask, enterScreen, isGone, showProgress, showWaiting, trialScreen } from "./screens.js";
import { stageSize, styleRow } from "./stage.js";
import { alterations } from "./surround.js";
import { translatedTo } from "./translation.js";
import { followWindow, windowAtHand } from "./window_fit.js";

const FRAMES_MEASURED_QUICKLY = 60;
const READING_MS = 3000;
/** Flags of a flash that was not seen because of the window: `EVALUATOR_FLAGS` of the backend. */
const WINDOW_FLAGS = ["hidden", "left_full_screen", "resized", "not_whole"];

/**
 * @typedef {import("./visit.js").Visit} Visit
 * @typedef {import("./frames.js").Refresh} Refresh
 * @typedef {ReturnType<typeof trialScreen>} Screen
 * @typedef {ReturnType<typeof loadPictures>} Pictures
 * @typedef {ReturnType<typeof loadStimuli>} Stimuli
 * @typedef {{draw: (phase: import("./backend.js").Phase) => void, end: () => void, play?:
 *   Awaited<ReturnType<typeof import("./presenter.js").makePresenter>>["play"]}} Presenter
 * @typedef {{shown_ms: number|null, frames: number|null, mask_ms: number[]|null, timing:
 *   import("./planner.js").Timing|null, flags: string[]}} Seen what was really shown, with the medium's facts
 *
 * What a study needs of this page's parts; null what it does not have, which is not loaded then.
 * @typedef {object} Parts
 * @property {import("./judgment.js").Judgment} judgment
 * @property {import("./medium.js").Medium} medium
 * @property {typeof import("./flash.js") | null} flash
 * @property {typeof import("./follow_ups.js") | null} followUps
 * @property {((glance: Refresh | null) => Promise<Refresh | null>) | null} fitDisplay measures the display
 *   again, for flashes; null if the evaluator left
 *
 * @typedef {Parts & {visit: Visit, screen: Screen, presenter: Presenter, masks: Pictures, display: Refresh,
 *   isFull: boolean, isPaid: boolean, fit: ReturnType<typeof followWindow>, standing:
 *   {trial: number, showing: import("./medium.js").Showing} | null}} Scene
 *   `standing`: the trial whose pictures stand without time limit, null during flashes
 * @typedef {import("./window_fit.js").Size} Size
 */

/**
 * Run the current block to its end.
 * @param {Visit} visit
 * @param {Parts} parts
 * @param {Refresh | null} display measured just before the block, for flashes
 * @param {boolean} isPaid whether the task is paid
 * @returns {Promise<boolean>} false if the evaluator left, after the final page was shown
 */
export async function playBlock(visit, parts, display, isPaid) {
  const { protocol } = visit.state;
  const { judgment, medium, followUps } = parts;
  const flash = protocol.time_limits === "none" ? null : parts.flash;
  const isTimed = flash !== null;
  const tellLoaded = showWaiting(
    text("block.loading"),
    isTimed ? text("block.loading_all") : text("block.loading_first"),
  );
  const measured = display ?? (await measureRefresh(FRAMES_MEASURED_QUICKLY));
  const controls = protocol.time_limits === "all" ? null : medium.controls();
  const sizeAtHand = () =>
    stageSize(protocol.size_px, protocol.largest_css_px, windowAtHand(), {
      pictures: judgment.pictures,
      hasCaptions: Boolean(judgment.captions),
      hasThirdAnswer: judgment.choices.some(({ answer }) => answer === "not_sure"),
      hasControls: controls !== null,
    });
  const size = sizeAtHand();
  const block = await visit.beginBlock({
    ...measured,
    full_screen: isFullScreen(),
    width_px: innerWidth,
    height_px: innerHeight,
    pixel_ratio: devicePixelRatio,
    shown_css_px: Math.round(100 * size.css) / 100,
    shown_px: size.px,
  });
  const onProgress = (/** @type {number} */ share) => isTimed && tellLoaded(share);
  const pictures = loadStimuli(block.images, visit.fetchPicture, size, medium, {
    areAllNeeded: isTimed,
    onProgress,
  });
  const masks = loadPictures(block.masks, visit.fetchPicture, size, { areAllNeeded: true });
  if (isTimed) {
    await Promise.all([pictures.all(), masks.all()]);
    await decodeMasks(masks, block, 0);
    await ask(
      "instructions",
      text(visit.next?.practice ? "practice.ready" : "block.ready"),
      readyText(protocol, judgment),
      [{ label: text("instructions.start"), value: "start", primary: true }],
    );
  }
  await pictures.needed(0);
  const asked = protocol.follow_ups ?? null;
  const screen = trialScreen(
    judgment,
    asked?.confidence_with ? followUps?.answersWithConfidence(judgment, asked.confidence_points) : undefined,
    controls,
  );
  styleRow(screen.main, size);
  const { stage, main } = screen;
  const present = (/** @type {Size} */ at) =>
    flash ? flash.makePresenter(stage, at) : medium.present(stage, at);
  const presenter = await present(size);
  const isFull = isFullScreen();
  /** @type {Scene} */
  const scene = {
    ...{ ...parts, flash, visit, screen, presenter, masks, display: measured, isFull, isPaid },
    standing: null,
    fit: followWindow(screen, sizeAtHand, size, async (next) => {
      for (const each of [pictures, masks]) each.resize(next);
      const { standing, presenter: before } = scene;
      const shown = standing === null ? null : await pictures.needed(standing.trial);
      scene.presenter = await present(next);
      if (shown) standing?.showing.moveTo(scene.presenter, shown);
      before.end();
      styleRow(main, next);
    }),
  };
  const isStaying = await playTrials(scene, block, pictures);
  await scene.fit.end();
  scene.presenter.end();
  pictures.dropAll();
  masks.dropOthers([]);
  onTrialKeys(null);
  return isStaying;
}

/**
 * Return the decoded masks of trial `i`; those of other trials are freed.
 * @param {Pictures} masks
 * @param {import("../../types/api.js").Block} block
 * @param {number} i
 * @returns {Promise<ImageBitmap[]>}
 */
function decodeMasks(masks, { trial_masks }, i) {
  masks.dropOthers(trial_masks[i] ?? []);
  return Promise.all((trial_masks[i] ?? []).map(masks.needed));
}

/**
 * @param {Scene} scene
 * @param {import("../../types/api.js").Block} block
 * @param {Stimuli} pictures
 * @returns {Promise<boolean>} false if the evaluator left
 */
async function playTrials(scene, block, pictures) {
  const { visit, judgment, screen, flash, followUps } = scene;
  const flashing = /** @type {import("./flash.js").Scene} */ (scene);
  const decoded = scene.medium.trialsDecoded(judgment.pictures);
  const isRepeating = countSameAnswers(visit.state.protocol.same_answer_notice);
  let next = block.next;
  let stimulus = block.images[0];
  let attempt = 0;
  let isByWindow = false;
  /** @type {import("./medium.js").Stimulus[] | null} */
  let spare = null;
  /** @type {string[]} */
  let carried = [];
  for (let i = 0; i < block.images.length; ) {
    const isTimed = next.exposure_ms !== null;
    if (screen.controls) screen.controls.style.visibility = isTimed ? "hidden" : "";
    await untilUncovered();
    if (isGone(screen)) return new Promise(() => {});
    await flash?.readyToFlash(flashing, next);
    showProgress(visit.progress, visit.earned, visit.state.currency, judgment, next.practice);
    await untilUncovered();
    if (await scene.fit.begin()) spare &&= await pictures.extra(stimulus);
    // Await all decoding now: nothing else may run during a flash.
    const decodeAhead = () =>
      Promise.all(block.images.slice(i, i + decoded).map((_, k) => pictures.bitmaps(i + k)));
    const ahead = isTimed || scene.medium.isDecodedAside ? decodeAhead() : null;
    ahead?.catch(() => {}); // requested again when needed
    const shown = spare ?? (await pictures.needed(i));
    const masks = await decodeMasks(scene.masks, block, i);
    if (isTimed) await ahead;
    if (isTimed) scene.fit.hold();
    const showing = flash
      ? await flash.showPictures(flashing, shown, masks, next)
      : await scene.medium.show(scene, shown);
    showing.settled.catch(() => {}); // awaited after the answer
    if (!isTimed) scene.standing = { trial: i, showing };
    showing.calm?.then(decodeAhead).catch(() => {}); // requested again when needed
    const asked = block.instructed[i] ?? null;
    if (asked) giveInstruction(screen, judgment, asked);
    const { flags, ...given } = await answered(screen, visit.state.protocol.shortest_answer_ms);
    const { response } = given;
    showing.end?.();
    const seen = await showing.settled;
    if (showing.end) {
      scene.standing = null; // nothing is drawn of it any more, and the next one is decoded in its place
      pictures.drop(i);
      if (i + 1 < block.images.length) void pictures.bitmaps(i + 1);
    }
    const facts = {
      exposure_ms: next.exposure_ms,
      frame_ms: scene.display.frame_ms,
      ...seen,
      ...scene.fit.facts(),
      surround: alterations(screen.stage).join(" ") || null,
      translated: translatedTo(),
      flags: [...new Set([...seen.flags, ...scene.fit.flags(), ...carried, ...flags])],
    };
    scene.fit.release();
    const trial = { trial_index: next.trial_index, attempt, ...facts };
    publish(trial);
    const answeredToo = await followUps?.askFollowUps(
      screen,
      visit.state.protocol.follow_ups ?? null,
      response,
      given.confidence,
    );
    const reply = await visit.answer({
      ...trial,
      stimulus: namesOf(stimulus),
      response,
      rt: given.rt,
      handler_delay_ms: given.handler_delay_ms,
      ...answeredToo,
      interactions: takeInteractions(),
    });
    const coming = reply.replaced_by === null ? null : pictures.extra(reply.replaced_by);
    coming?.catch(() => {}); // awaited below
    publish({ ...trial, was_correct: reply.was_correct, was_replaced: reply.replaced_by !== null });
    await tell(
      screen,
      asked ? ofInstruction(judgment) : judgment,
      reply,
      response,
      visit.state.protocol.feedback_ms,
      scene.isPaid,
    );
    if (flash && !reply.block_finished && !(await flash.settleIn(flashing, seen.flags))) return false;
    isByWindow ||= seen.flags.some((flag) => WINDOW_FLAGS.includes(flag));
    if (flash && reply.may_end && !(await flash.goesOn(flashing, isByWindow))) {
      await visit.end();
      return true;
    }
    for (const each of spare ?? []) each.close();
    spare = null;
    carried =
      flash?.disagreement(
        asked ? null : block.staircase,
        /** @type {import("../staircase.js").StaircaseState} */ (next),
        reply,
      ) ?? [];
    if (isRepeating(response) && !reply.block_finished) {
      const { same_answer_notice, half_real } = visit.state.protocol;
      await saySameAnswers(judgment.repeated(response, same_answer_notice), judgment.shares(half_real));
      carried.push("same_answer_notice");
      screen.enter();
    }
    scene.standing = null;
    if (reply.replaced_by === null) {
      pictures.drop(i);
      i += 1;
      attempt = 0;
      isByWindow = false;
      stimulus = block.images[i];
    } else {
      attempt += 1;
      stimulus = reply.replaced_by;
      spare = await coming;
    }
    if (reply.block_finished) return true;
    next = /** @type {import("./visit.js").Next} */ (reply.next);
  }
  return true;
}

/**
 * Ask for the response; `rt` (ms) runs from when the buttons are enabled to the press, and includes any
 * interruption; `handler_delay_ms` from the press to its handling. A press too soon after the last picture's
 * onset for that to have been seen is ignored.
 * @param {Screen} screen
 * @param {number} shortest_ms
 * @returns {Promise<{response: string, confidence: number | null, rt: number, handler_delay_ms: number,
 *   flags: string[]}>}
 */
function answered(screen, shortest_ms) {
  if (isGone(screen)) return new Promise(() => {});
  const { answers } = screen;
  const buttons = answers.buttons.map(({ button }) => button);
  answers.begin();
  for (const button of buttons) {
    button.disabled = false;
    button.classList.remove("given");
  }
  enterScreen("question");
  if (screen.pressed) screen.pressed.focus();
  else if (!screen.main.contains(document.activeElement)) screen.heading.focus();
  const asked = performance.now();
  const before = interruptionsSoFar();
  let wasEarly = false;
  return new Promise((resolve) => {
    /**
     * @param {Event} event
     * @param {() => import("./screens.js").AnswerButton | undefined} meant
     */
    const give = (event, meant) => {
      if (buttons[0].disabled || isGone(screen)) return;
      const isEarly = beginOf(event) < screen.onset + shortest_ms;
      wasEarly ||= isEarly;
      const given = isEarly ? undefined : meant();
      if (!given) return;
      const isByKeys = event.type === "click" && beginOf(event) === timeOf(event);
      screen.pressed = isByKeys ? given.button : null; // who tabs to a button finds it again
      if (screen.main.contains(document.activeElement)) screen.heading.focus({ preventScroll: true });
      for (const button of buttons) button.disabled = true;
      given.button.classList.add("given");
      onTrialKeys(null);
      const pressed = timeOf(event);
      resolve({
        response: given.answer,
        confidence: given.confidence,
        rt: Math.max(0, pressed - asked),
        handler_delay_ms: performance.now() - pressed,
        flags: [
          ...(interruptionsSoFar() === before ? [] : ["interrupted"]),
          ...(wasEarly ? ["early_press"] : []),
        ],
      });
    };
    for (const each of answers.buttons) each.button.onclick = (event) => give(event, () => each);
    onTrialKeys((key, onLatin, digit, event) => give(event, () => answers.byKey(key, onLatin, digit)));
  });
}

/**
 * Show feedback, in words and not by colour alone; or that another picture replaces this one.
 * @param {Screen} screen
 * @param {import("./judgment.js").Judgment} judgment
 * @param {Pick<import("../../types/api.js").Confirmation,
 *   "was_correct" | "right_answer" | "replaced_by">} reply
 *   `was_correct` null while feedback is off
 * @param {string} response
 * @param {number} ms
 * @param {boolean} isPaid whether the task is paid
 */
async function tell(screen, judgment, { was_correct, right_answer, replaced_by }, response, ms, isPaid) {
  if (isGone(screen)) return new Promise(() => {});
  if (was_correct === null && replaced_by === null) return;
  enterScreen("feedback");
  const isDecided = was_correct !== null && response !== "not_sure";
  screen.verdict.className = `verdict ${isDecided ? (was_correct ? "right" : "wrong") : ""}`;
  screen.verdict.textContent =
    was_correct === null
      ? text(isPaid ? "block.replaced_paid" : "block.replaced")
      : judgment.verdict(response, was_correct, right_answer);
  await waitFrames(was_correct === null ? Math.max(ms, READING_MS) : ms);
}

/** @param {object} trial the last trial, exposed to automated evaluators and the researcher's console */
function publish(trial) {
  /** @type {Window & {openhype?: {lastTrial: object}}} */ (window).openhype = { lastTrial: trial };
}

/**
 * @param {import("../../types/api.js").PageProtocol} protocol
 * @param {import("./judgment.js").Judgment} judgment
 */
function readyText({ method, time_limits }, { pictures, ready, afterFlash }) {
  if (ready) return [el("p", {}, ready), el("p", {}, afterFlash)];
  if (pictures > 1)
    return [
      el("p", {}, text(time_limits === "all" ? "pictures.ready_all" : "pictures.ready_some")),
      el("p", {}, afterFlash),
    ];
  const usual =
    method === "exposures"
      ? text(time_limits === "all" ? "block.ready_all" : "block.ready_some")
      : text("block.ready_flash");
  return [el("p", {}, usual), el("p", {}, afterFlash)];
}
