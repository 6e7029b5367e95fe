// @ts-check
/** The evaluator's display: whether it can show flashes, and whether it has changed. */

import { measureRefresh } from "./frames.js";
import { isFullScreen } from "./full_screen.js";
import { texts } from "../texts/more_en.js";
import { addTexts, text } from "../texts/texts.js";
import { watchWindow, windowAtHand } from "./window_fit.js";

addTexts(texts);

const SMALLEST_SIDE_CSS = 480;
const LARGEST_JITTER = 0.25; // of a refresh: a larger median deviation means an unsteady display
const LARGEST_CHANGE = 0.05; // of the refresh interval
const FRAMES_AT_A_GLANCE = 60;
const FRAMES_MEASURED = 120;

/**
 * @typedef {import("./frames.js").Refresh} Refresh
 * @typedef {{width: number, height: number, has_pointer_or_keys: boolean, is_large: boolean, is_hidden:
 *   boolean}} Screen `width`, `height`: of the window; `is_large`: whether the screen exceeds a phone's
 */

/** Measure the display's refresh roughly, over one second at 60 Hz. */
export function glanceAtDisplay() {
  return measureRefresh(FRAMES_AT_A_GLANCE);
}

/** Measure the display's refresh, over two seconds at 60 Hz. */
export function measureDisplay() {
  return measureRefresh(FRAMES_MEASURED);
}

/** @returns {Screen} */
export function screenAtHand() {
  return {
    width: innerWidth,
    height: innerHeight,
    has_pointer_or_keys:
      matchMedia("(any-pointer: fine)").matches || matchMedia("(any-hover: hover)").matches,
    is_large: Math.min(screen.width, screen.height) >= SMALLEST_SIDE_CSS,
    is_hidden: document.hidden,
  };
}

/**
 * Return whether a device can show flashes: a computer with a screen larger than a phone's.
 * @param {Screen} screen
 */
export function isComputer(screen) {
  return screen.has_pointer_or_keys && Math.min(screen.width, screen.height) >= SMALLEST_SIDE_CSS;
}

/**
 * Return why a display cannot show flashes, in words for the evaluator; empty if it can.
 * @param {Refresh} refresh
 * @param {Screen} screen
 * @param {number[]} admitted lowest and highest refresh rate of the study
 * @returns {string[]}
 */
export function unfitness(refresh, screen, [slowest_hz, fastest_hz]) {
  const isWindow = screen.is_large && screen.has_pointer_or_keys;
  return [
    ...(!isComputer(screen) ? [text(isWindow ? "display.small_window" : "display.needs_computer")] : []),
    ...(!refresh.has_frames
      ? [text(screen.is_hidden ? "display.hidden" : "refused.no_frames_help")]
      : unevenness(refresh, slowest_hz, fastest_hz)),
  ];
}

/**
 * Return why the refresh is not fit. Where the clock or a busy computer hides it, its rate is not told; one
 * that is just outside the limits is not rounded to them.
 * @param {Refresh} refresh
 * @param {number} slowest_hz
 * @param {number} fastest_hz
 */
function unevenness(refresh, slowest_hz, fastest_hz) {
  if (refresh.is_clock_coarse) return [text("display.clock")];
  if (refresh.is_busy) return [text("display.busy")];
  const { refresh_hz, is_variable, jitter_ms, frame_ms } = refresh;
  if (is_variable) return [text("display.varies")];
  if (jitter_ms > LARGEST_JITTER * frame_ms) return [text("display.busy")];
  const hz = Math.round(refresh_hz);
  if (refresh_hz < slowest_hz)
    return [text("display.too_slow", { hz: Math.min(hz, Math.ceil(slowest_hz) - 1), needed: slowest_hz })];
  if (refresh_hz > fastest_hz)
    return [text("display.too_fast", { hz: Math.max(hz, Math.floor(fastest_hz) + 1), needed: fastest_hz })];
  return [];
}

/**
 * Return whether a refresh interval differs from the one measured before.
 * @param {number} frame_ms
 * @param {number} before_ms
 */
export function hasChanged(frame_ms, before_ms) {
  return Math.abs(frame_ms / before_ms - 1) > LARGEST_CHANGE;
}

/**
 * Watch for events that must not occur during a flash: a hidden tab, full screen lost, anything that lays out
 * the page anew. Return a function that stops watching and returns them as flags.
 * @returns {() => string[]}
 */
export function watchFlash() {
  const flags = new Set();
  const wasFull = isFullScreen();
  const before = geometry();
  if (document.hidden) flags.add("hidden");
  const onHidden = () => flags.add("hidden");
  const onChange = () => {
    if (geometry() !== before) flags.add("resized");
  };
  document.addEventListener("visibilitychange", onHidden);
  const stop = watchWindow(onChange);
  return () => {
    document.removeEventListener("visibilitychange", onHidden);
    stop();
    onChange();
    if (!wasFull || isFullScreen()) return [...flags];
    flags.delete("resized");
    return [...flags.add("left_full_screen")];
  };
}

/** Return where and how large the window is on which display, as a text to compare. */
function geometry() {
  const { offsetLeft = 0, offsetTop = 0 } = visualViewport ?? {};
  return JSON.stringify([windowAtHand(), screen.width, screen.height, offsetLeft, offsetTop]);
}
