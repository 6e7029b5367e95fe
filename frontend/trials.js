// @ts-check
/** One block of trials: show, ask, store, tell. The next trial begins only when the answer is stored. */

import * as staircase from "./staircase.js";
import { isFullScreen } from "./display.js";
import { isGone, readyToFlash, settleIn, showPicture } from "./flash.js";
import { measureRefresh, waitFrames } from "./frames.js";
import { takeInteractions } from "./interactions.js";
import { onTrialKeys } from "./keys.js";
import { loadPictures } from "./pictures.js";
import { makePresenter } from "./presenter.js";
import { ask, el, showProgress, showWaiting, stageSize, trialScreen } from "./screens.js";

const DECODED_AHEAD = 3;
const FRAMES_MEASURED_QUICKLY = 60;

/**
 * @typedef {import("./visit.js").Visit} Visit
 * @typedef {import("./frames.js").Refresh} Refresh
 * @typedef {ReturnType<typeof trialScreen>} Screen
 * @typedef {ReturnType<typeof loadPictures>} Pictures
 * @typedef {Awaited<ReturnType<typeof makePresenter>>} Presenter
 * @typedef {{visit: Visit, screen: Screen, presenter: Presenter, masks: Pictures, display: Refresh, isFull: boolean}} Scene
 */

/**
 * Play the current block to its end.
 * @param {Visit} visit
 * @param {Refresh | null} display as measured just before, for flashes
 */
export async function playBlock(visit, display) {
  const { protocol } = visit.state;
  const isTimed = protocol.method === "time";
  const tellLoaded = showWaiting("One moment", isTimed ? "The pictures are loading, so that none of them comes late." : "The first pictures are on their way.");
  const measured = display ?? (await measureRefresh(FRAMES_MEASURED_QUICKLY));
  const block = await visit.beginBlock({
    ...measured,
    full_screen: isFullScreen(),
    width_px: innerWidth,
    height_px: innerHeight,
    pixel_ratio: devicePixelRatio,
  });
  const size = stageSize(protocol.size_px, { width: innerWidth, height: innerHeight, pixel_ratio: devicePixelRatio });
  const onLoaded = (/** @type {number} */ done) => isTimed && tellLoaded(done / block.images.length);
  const pictures = loadPictures(block.images, visit.fetchPicture, size, onLoaded);
  const masks = loadPictures(block.masks, visit.fetchPicture, size, () => {});
  if (isTimed) {
    await Promise.all([pictures.all(), masks.all()]);
    await Promise.all(block.masks.map((/** @type {string} */ _, /** @type {number} */ i) => masks.bitmap(i)));
    await ask("instructions", "Ready?", readyText(), [{ label: "Start", value: "start", primary: true }]);
  }
  await pictures.bitmap(0);
  const screen = trialScreen();
  const presenter = await makePresenter(screen.stage, size, isTimed);
  await playTrials({ visit, screen, presenter, masks, display: measured, isFull: isFullScreen() }, block, pictures);
  presenter.end();
  onTrialKeys(null);
}

/**
 * @param {Scene} scene
 * @param {any} block
 * @param {Pictures} pictures
 */
async function playTrials(scene, block, pictures) {
  const { visit, screen } = scene;
  let next = block.next;
  let stimulus = block.images[0];
  let attempt = 0;
  /** @type {ImageBitmap | null} */
  let spare = null;
  /** @type {string[]} */
  let carried = [];
  for (let i = 0; i < block.images.length; ) {
    // Whatever decodes now is awaited: nothing else is to run while a picture flashes.
    const ahead = Array.from({ length: Math.min(DECODED_AHEAD, block.images.length - i) }, (_, k) => pictures.bitmap(i + k));
    const picture = spare ?? (await ahead[0]);
    await readyToFlash(scene, next, ahead);
    showProgress(visit.progress, visit.earned);
    const masks = await Promise.all((block.trial_masks[i] ?? []).map((/** @type {number} */ k) => scene.masks.bitmap(k)));
    const showing = await showPicture(scene, picture, masks, next);
    const { response, rt } = await judgement(screen);
    const seen = await showing.settled;
    const facts = { exposure_ms: next.exposure_ms, frame_ms: scene.display.frame_ms, ...seen, flags: [...seen.flags, ...carried] };
    const trial = { trial_index: next.trial_index, attempt, ...facts };
    publish(trial);
    const reply = await visit.answer({ ...trial, stimulus: stimulus.split("/").pop(), response, rt, interactions: takeInteractions() });
    const coming = reply.replaced_by === null ? null : pictures.extra(reply.replaced_by);
    coming?.catch(() => {}); // awaited below
    publish({ ...trial, was_correct: reply.was_correct, was_replaced: reply.replaced_by !== null });
    await tell(screen, reply, visit.state.protocol.feedback_ms);
    await settleIn(scene, seen.flags);
    spare?.close();
    spare = null;
    carried = disagreement(block.staircase, next, reply);
    if (reply.replaced_by === null) {
      pictures.drop(i);
      i += 1;
      attempt = 0;
      stimulus = block.images[i];
    } else {
      attempt += 1;
      stimulus = reply.replaced_by;
      spare = await coming;
    }
    if (reply.block_finished) return;
    next = reply.next;
  }
}

/**
 * Ask real or fake; the time (ms) runs from when the question can be answered.
 * @param {Screen} screen
 * @returns {Promise<{response: "real" | "fake", rt: number}>}
 */
function judgement(screen) {
  if (isGone(screen)) return new Promise(() => {});
  screen.fake.disabled = screen.real.disabled = false;
  document.body.dataset.screen = "question";
  if (!screen.main.contains(document.activeElement)) screen.heading.focus();
  const asked = performance.now();
  return new Promise((resolve) => {
    /** @param {"real" | "fake"} response */
    const give = (response) => {
      if (screen.fake.disabled) return;
      screen.fake.disabled = screen.real.disabled = true;
      onTrialKeys(null);
      resolve({ response, rt: performance.now() - asked });
    };
    screen.fake.onclick = () => give("fake");
    screen.real.onclick = () => give("real");
    onTrialKeys((key) => {
      if (key === "f") give("fake");
      if (key === "r") give("real");
    });
  });
}

/**
 * Tell right or wrong, in words and not by colour alone; or that another picture comes.
 * @param {Screen} screen
 * @param {{was_correct: boolean | null, replaced_by: string | null}} reply `was_correct` null while feedback is off
 * @param {number} ms
 */
async function tell(screen, { was_correct, replaced_by }, ms) {
  if (isGone(screen)) return new Promise(() => {});
  if (was_correct === null && replaced_by === null) return;
  document.body.dataset.screen = "feedback";
  screen.verdict.className = `verdict ${was_correct === null ? "" : was_correct ? "right" : "wrong"}`;
  screen.verdict.textContent =
    was_correct === null ? "That one was not shown properly; here is another" : was_correct ? "✓ Right" : "✗ Not this time";
  await waitFrames(ms);
}

/**
 * Flags for the next answer where the server's exposure is not what the rule gives.
 * @param {any} rule
 * @param {any} before
 * @param {any} reply
 * @returns {string[]}
 */
function disagreement(rule, before, reply) {
  if (!rule || reply.replaced_by || reply.block_finished || reply.was_correct === null) return [];
  const expected = staircase.step(rule, before, reply.was_correct);
  if (expected.exposure_ms === reply.next.exposure_ms) return [];
  console.error("staircase: expected", expected, "but the server announced", reply.next);
  return ["staircase_mismatch"];
}

/** @param {object} trial what a robot or a researcher's console may see of the last trial */
function publish(trial) {
  /** @type {any} */ (window).openhype = { lastTrial: trial };
}

function readyText() {
  return [
    el("p", {}, "Each picture flashes once, after a countdown of 3, 2, 1. Keep your eyes where the numbers stand."),
    el("p", {}, "Then say whether it was real or fake. There is no hurry with the answer."),
  ];
}
