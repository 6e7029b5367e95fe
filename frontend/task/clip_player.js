// @ts-check
/**
 * Clips without time limit: played from their first frame at planned refreshes, again and again or once,
 * until the evaluator answers. Each play is one sequence of the presenter, so that each frame's refreshes are
 * known; before the next one the last frame stands for a moment. A play that nobody saw, since the tab was
 * hidden, or that met a change of size, is begun anew.
 */

import { cadenceOf, cadenceText } from "./cadence.js";
import { isAsPlanned, ofPhases } from "./planner.js";
import { el } from "../shared/elements.js";
import { isGone } from "./screens.js";
import { text } from "../texts/texts.js";

/** Evidence that tells when a frame was drawn, not when it was shown. */
const UNWATCHED = ["worker", "callback"];
const USUAL_FRAME_MS = 1000 / 60;
const ONCE = "once";

/**
 * @typedef {import("./medium_clip.js").Clip} Clip
 * @typedef {import("./planner.js").Timing} Timing
 * @typedef {{timing: Timing, isWhole: boolean, wasHidden: boolean, isContradicted: boolean}} Played
 */

/** Return the button that stops clips and plays them again, by itself or by Space or Enter. */
export function playButton() {
  const button = el("button", { type: "button", class: "primary", "aria-keyshortcuts": "Space" });
  return el("div", { class: "controls" }, button);
}

/** Return whether the evaluator's device asks for less motion: clips then play at a press only, once each. */
export function wantsCalm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/**
 * Return the phases of a play of clips, side by side and in step.
 * @param {Clip[]} clips
 * @param {number} count of frames
 * @param {number} frame_ms
 * @returns {import("./presenter.js").Phase[]}
 */
export function framePhases(clips, count, frame_ms) {
  const cadence = cadenceHere(clips, frame_ms);
  return Array.from({ length: count }, (_, frame) => ({
    name: "stimulus",
    ms: cadence[frame % cadence.length] * frame_ms,
    pictures: clips.map(({ frames }) => frames[frame]),
    frame,
  }));
}

/**
 * Return the planned refreshes of each frame; one where the display, checked before consent, became too slow.
 * @param {Clip[]} clips
 * @param {number} frame_ms
 */
function cadenceHere([{ head }], frame_ms) {
  return cadenceOf(head.fps, frame_ms) ?? [1];
}

/**
 * Return the facts of what was shown of clips; pure.
 * @param {Clip[]} clips
 * @param {number} frame_ms
 * @param {{timing: Timing, isWhole: boolean}[]} plays `isWhole`: whether the clip was seen to its end
 */
export function clipFacts(clips, frame_ms, plays) {
  const isKnown = plays.length > 0 && plays.every(({ timing }) => !UNWATCHED.includes(timing.evidence));
  const whole = plays.filter(({ isWhole }) => isWhole).length;
  return {
    clip_plays: whole,
    clip_seen_whole: whole > 0,
    clip_frames_off: isKnown ? plays.reduce((sum, { timing }) => sum + framesOff(timing), 0) : null,
    clip_cadence: cadenceText(cadenceHere(clips, frame_ms)),
  };
}

/**
 * Return whether a play that was not stopped showed the clip's last frame: a busy computer may drop it.
 * @param {Timing} timing of all frames of the clip
 */
export function isSeenToItsEnd({ achieved_frames }) {
  return achieved_frames[achieved_frames.length - 1] > 0;
}

/** @param {Timing} timing */
function framesOff({ planned_frames, achieved_frames }) {
  return planned_frames.filter((planned, i) => achieved_frames[i] !== planned).length;
}

/**
 * Return the timing of what a play showed before it was stopped; the frame that it ended in has no end.
 * @param {Timing} timing
 * @returns {Timing}
 */
function untilStopped(timing) {
  const count = timing.achieved_frames.findLastIndex((frames) => frames > 0) + 1;
  return ofPhases(timing, (counts) => counts.slice(0, count));
}

/**
 * Play the clips of a trial; resolves once their first frame is shown, or waits for a press to play them.
 * @type {import("./medium.js").Medium["show"]}
 */
export async function playClips(scene, stimuli) {
  const clips = /** @type {Clip[]} */ (stimuli);
  const { screen, display, visit } = scene;
  const { clip_play, clip_replays } = visit.state.protocol;
  const frame_ms = display.frame_ms > 0 ? display.frame_ms : USUAL_FRAME_MS;
  const phases = framePhases(clips, clips[0].head.frames, frame_ms);
  const button = /** @type {HTMLButtonElement} */ (screen.controls?.firstElementChild);
  const isCalm = wantsCalm();
  let { presenter } = scene;
  /** @type {Played[]} */
  const plays = [];
  let begun = 0;
  let isWanted = !isCalm;
  let isOver = false;
  let stop = new AbortController();
  /** @type {() => void} */
  let wake = () => {};
  /** @type {(seen: unknown) => void} */
  let onFirst;
  const first = new Promise((resolve) => (onFirst = resolve));
  /** @type {(calm: unknown) => void} */
  let onCalm;
  const calm = new Promise((resolve) => (onCalm = resolve));
  screen.verdict.textContent = "";
  screen.onset = Infinity;

  const left = () => (clip_play === ONCE ? clip_replays + 1 - begun : Infinity);
  const label = () => {
    if (isWanted) return text("clip.stop");
    if (begun === 0) return text("clip.play");
    return left() === Infinity ? text("clip.again") : text("clip.again_left", { n: left() });
  };
  function show() {
    button.textContent = label();
    button.append(el("kbd", { class: "with-keys", translate: "no" }, text("clip.key")));
    button.disabled = isOver || (!isWanted && left() <= 0);
  }
  button.onclick = () => {
    isWanted = !isWanted;
    show();
    if (isWanted) wake();
    else stop.abort();
  };
  const onVisible = () => {
    if (document.hidden) stop.abort();
    else wake();
  };
  document.addEventListener("visibilitychange", onVisible);

  /** @returns {Promise<void>} */
  async function untilPlaying() {
    while (!isOver && (!isWanted || document.hidden))
      await new Promise((resolve) => (wake = () => resolve(null)));
  }

  async function playOnce() {
    stop = new AbortController();
    const { signal } = stop;
    const drawer = presenter;
    let wasHidden = false;
    const onHidden = () => (wasHidden ||= document.hidden);
    document.addEventListener("visibilitychange", onHidden);
    begun += 1;
    show();
    screen.main.classList.add("playing");
    const { settled, wasDrawn } = await /** @type {NonNullable<typeof drawer.play>} */ (drawer.play)(
      phases,
      frame_ms,
      (phase) => {
        if (!phase || screen.onset < Infinity) return; // the first frame may have been dropped
        screen.onset = performance.now();
        onFirst(null);
      },
      signal,
    );
    screen.main.classList.remove("playing");
    document.removeEventListener("visibilitychange", onHidden);
    const isEnded = !signal.aborted && !wasHidden; // before the wait, in which it may be answered
    const { timing, isContradicted } = await settled;
    const isWhole = isEnded && isSeenToItsEnd(timing);
    const isUnseen = !isEnded && !wasDrawn.some(Boolean); // stopped before its first frame
    if (!isUnseen || wasHidden)
      plays.push({ timing: isEnded ? timing : untilStopped(timing), isWhole, wasHidden, isContradicted });
    if (isEnded) onCalm(null);
    else if (isWanted || isUnseen) begun -= 1; // shown again: it was not the evaluator who stopped it
    if (isEnded && (clip_play === ONCE || isCalm)) isWanted = false;
    show();
  }

  async function run() {
    for (;;) {
      await untilPlaying();
      if (isOver || isGone(screen)) return;
      await playOnce();
    }
  }

  show();
  const ended = run();
  await Promise.race([first, ended, ...(isWanted ? [] : [Promise.resolve()])]);
  return {
    calm,
    settled: ended.then(() => {
      document.removeEventListener("visibilitychange", onVisible);
      return seenOf(clips, frame_ms, plays);
    }),
    end() {
      isOver = true;
      isWanted = false;
      show();
      onCalm(null);
      stop.abort();
      wake();
    },
    moveTo(other) {
      presenter = other;
      stop.abort();
    },
  };
}

/**
 * @param {Clip[]} clips
 * @param {number} frame_ms
 * @param {Played[]} plays
 * @returns {import("./trials.js").Seen}
 */
function seenOf(clips, frame_ms, plays) {
  const isExact = plays.every(({ timing }) => isAsPlanned(timing, frame_ms));
  const evidences = plays.map(({ timing }) => timing.evidence);
  return {
    ...{ shown_ms: null, frames: null, mask_ms: null, timing: null },
    ...clipFacts(clips, frame_ms, plays),
    flags: [
      ...(plays.some(({ wasHidden }) => wasHidden) ? ["hidden"] : []),
      ...(isExact ? [] : ["mistimed"]),
      ...(plays.some(({ isContradicted }) => isContradicted) ? ["display_stalled"] : []),
      ...(evidences.some((evidence) => UNWATCHED.includes(evidence)) ? ["unverified"] : []),
    ],
  };
}
