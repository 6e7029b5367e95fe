// @ts-check
/** One block of trials: show, ask, store, tell. The next trial begins only when the answer is stored. */

import * as staircase from "./staircase.js";
import { everyFrame, measureRefresh, waitFrames } from "./frames.js";
import { onTrialKeys } from "./keys.js";
import { loadPictures } from "./pictures.js";
import { present } from "./presenter.js";
import { ask, el, showProgress, showWaiting, stageSize, trialScreen } from "./screens.js";

const DECODED_AHEAD = 3;
const SHOWINGS_AT_MOST = 5;

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
  const tellLoaded = showWaiting("One moment", isTimed ? "The pictures are loading, so that none of them comes late." : "The first pictures are on their way.");
  const display = await measureRefresh(isTimed ? 120 : 60);
  const block = await visit.beginBlock({
    ...display,
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
  const screen = trialScreen(size);
  await playTrials(visit, { block, screen, pictures, masks, display });
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
    carried = disagreement(block.staircase, next, reply);
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
  // A tab that is hidden during the countdown comes back with everything over. What nobody saw is shown again.
  for (let showing = 1; ; showing += 1) {
    const seen = await flash(protocol, screen, pen, picture, masks, next.exposure_ms, frame_ms);
    if (seen.frames !== 0 || showing === SHOWINGS_AT_MOST) {
      return { ...seen, flags: [...seen.flags, ...(showing > 1 ? ["shown_again"] : [])] };
    }
  }
}

/**
 * Countdown, picture, masks: once, with what was really shown.
 * @param {any} protocol
 * @param {Screen} screen
 * @param {CanvasRenderingContext2D} pen
 * @param {ImageBitmap} picture
 * @param {ImageBitmap[]} masks
 * @param {number} exposure_ms
 * @param {number} frame_ms
 * @returns {Promise<Seen>}
 */
async function flash(protocol, screen, pen, picture, masks, exposure_ms, frame_ms) {
  let wasHidden = document.hidden;
  const watch = () => (wasHidden ||= document.hidden);
  document.addEventListener("visibilitychange", watch);
  screen.main.classList.add("flashing");
  const numbers = Array.from({ length: protocol.countdown_from }, (_, i) => protocol.countdown_from - i);
  const phases = [
    ...numbers.map((number) => ({ name: "countdown", ms: protocol.countdown_ms, draw: () => write(pen, `${number}`) })),
    { name: "stimulus", ms: exposure_ms, draw: () => draw(pen, picture) },
    ...masks.map((mask) => ({ name: "mask", ms: protocol.mask_ms, draw: () => draw(pen, mask) })),
  ].map((phase) => ({ ...phase, draw: () => enter(screen, phase) }));
  const shown = await present(phases, frame_ms, everyFrame, () => pen.clearRect(0, 0, 9999, 9999));
  document.removeEventListener("visibilitychange", watch);
  screen.main.classList.remove("flashing");
  const stimulus = shown[numbers.length];
  const isLate = shown.slice(numbers.length).some((phase) => phase.achieved !== phase.planned);
  return {
    shown_ms: stimulus.achieved_ms,
    frames: stimulus.achieved,
    mask_ms: shown.slice(numbers.length + 1).map((phase) => phase.achieved_ms),
    flags: [...(isLate ? ["mistimed"] : []), ...(wasHidden ? ["hidden"] : [])],
  };
}

/**
 * @param {Screen} screen
 * @param {{name: string, draw: () => void}} phase
 */
function enter(screen, phase) {
  phase.draw();
  if (isGone(screen)) return;
  if (document.body.dataset.screen !== phase.name) document.body.dataset.screen = phase.name;
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
 * Tell right or wrong, in words and not by colour alone.
 * @param {Screen} screen
 * @param {boolean | null} wasCorrect null while feedback is off
 * @param {number} ms
 */
async function tell(screen, wasCorrect, ms) {
  if (isGone(screen)) return new Promise(() => {});
  if (wasCorrect === null) return;
  document.body.dataset.screen = "feedback";
  screen.verdict.className = `verdict ${wasCorrect ? "right" : "wrong"}`;
  screen.verdict.textContent = wasCorrect ? "✓ Right" : "✗ Not this time";
  await waitFrames(ms);
}

/**
 * Whether another screen took the place of the trials: this tab lost the session, and must neither
 * announce a trial nor answer one.
 * @param {Screen} screen
 */
function isGone(screen) {
  return !screen.canvas.isConnected;
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

function readyText() {
  return [
    el("p", {}, "Each picture flashes once, after a countdown of 3, 2, 1. Keep your eyes where the numbers stand."),
    el("p", {}, "Then say whether it was real or fake. There is no hurry with the answer."),
  ];
}
