// @ts-check
/** Keeps a part of a screen up to date for as long as the screen is shown. */

import { waited, waitedOrOnline } from "./api.js";
import { lookOn, untilSeen } from "./poll.js";
import { notice } from "../shared/elements.js";

const LOST = "The server cannot be reached. What you see may be old; trying again…";
const FIRST_PAUSE_MS = 3000;

/**
 * Call `onData` with the data of an address, now and whenever they have changed, until the screen is left.
 * A sign-in that has expired is renewed by the console's own dialog.
 * @template Data
 * @param {string} path
 * @param {(data: Data) => void} onData
 * @param {Pick<import("./main.js").Context, "api" | "signal">} context
 * @param {number} [least_ms] shortest time between two requests
 * @returns {Promise<void>} when the screen was left
 */
export async function watch(path, onData, { api, signal }, least_ms = 0) {
  const isShown = () => !signal.aborted;
  while (isShown()) {
    // signs in again if that is needed; what was deleted meanwhile is refused
    onData(await api.get(path, { signal }));
    await waited(Math.max(least_ms, FIRST_PAUSE_MS), signal);
    await lookOn(path, {
      onData: (/** @type {Data} */ data) => isShown() && onData(data),
      onTrouble: (isLost) => isShown() && notice(isLost ? LOST : ""),
      onKeyNeeded: () => {},
      send: (at, init) => api.send(at, { ...init, signal }),
      pause: (ms) =>
        waitedOrOnline(Math.max(ms, least_ms), signal).then(
          () => untilSeen(0),
          () => undefined,
        ),
      goesOn: isShown,
    });
  }
}
