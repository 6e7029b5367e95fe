// @ts-check
/** One block of trials: show, ask, store, tell. The next trial begins only when the answer is stored. */

import * as staircase from "./staircase.js";
import { everyFrame, measureRefresh, waitFrames } from "./frames.js";
import { onTrialKeys } from "./keys.js";
import { loadPictures } from "./pictures.js";
import { present } from "./presenter.js";
import { ask, el, notice, showProgress, stageSide, trialScreen } from "./screens.js";

const DECODED_AHEAD = 3;

/**
 * @typedef {import("./visit.js").Visit} Visit
 * @typedef {ReturnType<typeof trialScreen>} Screen
 * @typedef {ReturnType<typeof loadPictures>} Pictures
 * @typedef {{shown_ms: number|null, frames: number|null, mask_ms: number[]|null, flags: string[]}} Seen
 */

/**
 * Play the current block to its end.
 * @param {Visit} visit
 */
export async function playBlock(visit) {
  const { protocol } = visit.state;
  const isTimed = protocol.method === "time";
  const display = await measureRefresh(isTimed ? 120 : 30);
  const block = await visit.beginBlock({
    ...display,
    width_px: innerWidth,
    height_px: innerHeight,
    pixel_ratio: devicePixelRatio,
  });
  const side_css = stageSide(protocol.size_px, innerWidth, innerHeight);
  const side_px = Math.round(side_css * devicePixelRatio);
  const pictures = loadPictures(block.images, visit.fetchPicture, side_px, loading(block.images.length, isTimed));
  const masks = loadPictures(block.masks, visit.fetchPicture, side_px, () => {});
  if (isTimed) {
    await Promise.all([pictures.all(), masks.all()]);
    await Promise.all(block.masks.map((/** @type {string} */ _, /** @type {number} */ i) => masks.bitmap(i)));
    notice("");
    await ask("instructions", "Ready?", readyText(), [{ label: "Start", value: "start", primary: true }]);
  }
  const screen = trialScreen(side_css, side_px);
  await playTrials(visit, { block, screen, pictures, masks, display });
  notice("");
  onTrialKeys(null);
}

/**
 * @param {Visit} visit
 * @param {{block: any, screen: Screen, pictures: Pictures, masks: Pictures, display: {frame_ms: number}}} scene
 */
async function playTrials(visit, { block, screen, pictures, masks, display }) {
  let next = block.next;
  /** @type {string[]} */
  let carried = [];
  for (let i = 0; i < block.images.length; i += 1) {
    for (let k = i; k <= Math.min(i + DECODED_AHEAD, block.images.length - 1); k += 1) pictures.bitmap(k);
    const picture = await pictures.bitmap(i);
    showProgress(visit.progress, visit.earned);
    const trialMasks = await Promise.all((block.trial_masks[i] ?? []).map((/** @type {number} */ k) => masks.bitmap(k)));
    const seen = await showPicture(visit, screen, picture, trialMasks, next, display.frame_ms);
    const { response, rt } = await judgement(screen);
    const facts = { exposure_ms: next.exposure_ms, frame_ms: display.frame_ms, ...seen, flags: [...seen.flags, ...carried] };
    const trial = { trial_index: next.trial_index, ...facts };
    publish(trial);
    const stimulus = block.images[i].split("/").pop();
    const reply = await visit.answer({ ...trial, stimulus, response, rt });
    publish({ ...trial, was_correct: reply.was_correct });
    pictures.drop(i);
    carried = disagreement(visit.state.protocol.staircase, next, reply);
    await tell(screen, reply.was_correct, visit.state.protocol.feedback_ms);
    if (reply.block_finished) return;
    next = reply.next;
  }
}

/**
 * Show the picture: with a time limit as a flash between countdown and masks, else until answered.
 * @param {Visit} visit
 * @param {Screen} screen
 * @param {ImageBitmap} picture
 * @param {ImageBitmap[]} masks
 * @param {{exposure_ms: number | null}} next
 * @param {number} frame_ms
 * @returns {Promise<Seen>}
 */
async function showPicture(visit, screen, picture, masks, next, frame_ms) {
  const { protocol } = visit.state;
  const pen = /** @type {CanvasRenderingContext2D} */ (screen.canvas.getContext("2d"));
  screen.verdict.textContent = "";
  if (next.exposure_ms === null) {
    draw(pen, picture);
    await waitFrames(0);
    return { shown_ms: null, frames: null, mask_ms: null, flags: [] };
  }
  let wasHidden = document.hidden;
  const watch = () => (wasHidden ||= document.hidden);
  document.addEventListener("visibilitychange", watch);
  screen.main.classList.add("flashing");
  const numbers = Array.from({ length: protocol.countdown_from }, (_, i) => protocol.countdown_from - i);
  const phases = [
    ...numbers.map((number) => ({ name: "countdown", ms: protocol.countdown_ms, draw: () => write(pen, `${number}`) })),
    { name: "stimulus", ms: next.exposure_ms, draw: () => draw(pen, picture) },
    ...masks.map((mask) => ({ name: "mask", ms: protocol.mask_ms, draw: () => draw(pen, mask) })),
  ].map((phase) => ({ ...phase, draw: () => enter(phase) }));
  const shown = await present(phases, frame_ms, everyFrame, () => pen.clearRect(0, 0, 9999, 9999));
  document.removeEventListener("visibilitychange", watch);
  screen.main.classList.remove("flashing");
  const flash = shown[numbers.length];
  const isLate = shown.slice(numbers.length).some((phase) => phase.achieved !== phase.planned);
  return {
    shown_ms: flash.achieved_ms,
    frames: flash.achieved,
    mask_ms: shown.slice(numbers.length + 1).map((phase) => phase.achieved_ms),
    flags: [...(isLate ? ["mistimed"] : []), ...(wasHidden ? ["hidden"] : [])],
  };
}

/** @param {{name: string, draw: () => void}} phase */
function enter(phase) {
  phase.draw();
  if (document.body.dataset.screen !== phase.name) document.body.dataset.screen = phase.name;
}

/**
 * Ask real or fake; the time (ms) runs from when the question can be answered.
 * @param {Screen} screen
 * @returns {Promise<{response: "real" | "fake", rt: number}>}
 */
function judgement(screen) {
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
 * Tell right or wrong, in words and not by colour alone.
 * @param {Screen} screen
 * @param {boolean | null} wasCorrect null while feedback is off
 * @param {number} ms
 */
async function tell(screen, wasCorrect, ms) {
  if (wasCorrect === null) return;
  document.body.dataset.screen = "feedback";
  screen.verdict.className = `verdict ${wasCorrect ? "right" : "wrong"}`;
  screen.verdict.textContent = wasCorrect ? "✓ Right" : "✗ Not this time";
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
  if (!rule || reply.block_finished || reply.was_correct === null) return [];
  const expected = staircase.step(rule, before, reply.was_correct);
  if (expected.exposure_ms === reply.next.exposure_ms) return [];
  console.error("staircase: expected", expected, "but the server announced", reply.next);
  return ["staircase_mismatch"];
}

/** @param {object} trial what a robot or a researcher's console may see of the last trial */
function publish(trial) {
  /** @type {any} */ (window).openhype = { lastTrial: trial };
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {ImageBitmap} picture
 */
function draw(pen, picture) {
  pen.drawImage(picture, 0, 0, pen.canvas.width, pen.canvas.height);
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 */
function write(pen, text) {
  const { width, height } = pen.canvas;
  pen.clearRect(0, 0, width, height);
  pen.fillStyle = "#111";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `600 ${Math.round(height / 4)}px system-ui, sans-serif`;
  pen.fillText(text, width / 2, height / 2);
}

/**
 * @param {number} total
 * @param {boolean} isTimed
 */
function loading(total, isTimed) {
  return (/** @type {number} */ done) => {
    if (isTimed) notice(done < total ? `Loading pictures: ${done} of ${total}` : "");
  };
}

function readyText() {
  return [
    el("p", {}, "Each picture flashes once, after a countdown of 3, 2, 1. Look at the middle of the square."),
    el("p", {}, "Then say whether it was real or fake. There is no hurry with the answer."),
  ];
}
