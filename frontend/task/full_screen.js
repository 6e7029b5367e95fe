// @ts-check
/** Full screen, for flashes: entered if the browser permits it, and left at the end. */

import { waitFrames } from "./frames.js";
import { within } from "../shared/patience.js";

const SETTLING_MS = 300;
const PATIENCE_MS = 3000;
/**
 * WebKitGTK, as in GNOME Web: the key F leaves full screen there and never reaches the page, where it means
 * “fake”.
 */
const KEEPS_F_IN_FULL_SCREEN = /\(X11; .*AppleWebKit\/(?!.*Chrom)/;

/** Enter full screen if the browser permits it; must follow a key press or click. */
export async function enterFullScreen() {
  if (
    isFullScreen() ||
    !document.documentElement.requestFullscreen ||
    KEEPS_F_IN_FULL_SCREEN.test(navigator.userAgent)
  )
    return;
  try {
    await within(PATIENCE_MS, document.documentElement.requestFullscreen({ navigationUI: "hide" }));
    await waitFrames(SETTLING_MS);
  } catch {
    // An embedding page may forbid it, or a browser not answer; the task continues in the window.
  }
}

export function isFullScreen() {
  return document.fullscreenElement !== null;
}

export async function leaveFullScreen() {
  if (isFullScreen()) await within(PATIENCE_MS, document.exitFullscreen()).catch(() => {});
}
