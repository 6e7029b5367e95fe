/** Our presenter through its public interface; returns what it reports for each trial. */

import { measureRefresh } from "/assets/task/frames.js";
import { isAsPlanned } from "/assets/task/planner.js";
import { makePresenter } from "/assets/task/presenter.js";

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function decoded(/** @type {string} */ url) {
  return createImageBitmap(await (await fetch(url)).blob());
}

/**
 * Show the trials as the task does, or in the worker from the first trial on.
 * @param {{picture: string, exposure_ms: number, masks: string[]}[]} trials
 */
async function play(trials, { mask_ms, blank_ms, side_px, frame_ms, in_worker }) {
  const stage = document.getElementById("stage");
  const presenter = await makePresenter(stage, { css: side_px, px: side_px });
  if (in_worker) presenter.leavePage();
  const told = [];
  for (const { picture, exposure_ms, masks } of trials) {
    const pictures = await Promise.all([picture, ...masks].map(decoded));
    await sleep(blank_ms);
    const phases = pictures.map((bitmap, i) => ({
      name: i ? "mask" : "stimulus",
      ms: i ? mask_ms : exposure_ms,
      picture: bitmap,
    }));
    const { settled } = await presenter.show(phases, frame_ms);
    const { timing, isPageLate, isContradicted } = await settled;
    const was_flagged = !isAsPlanned(timing, frame_ms) || isContradicted;
    told.push({ was_flagged, timing });
    presenter.note(isPageLate);
  }
  presenter.end();
  return told;
}

Object.assign(globalThis, { play, measureRefresh });
