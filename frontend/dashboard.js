// @ts-check
/** The researcher's dashboard: the list of studies, or one study, live. */

import "./forms.js";
import { command, lookOn } from "./poll.js";
import { notice } from "./screens.js";
import { listView } from "./studies_view.js";
import { studyView } from "./study_view.js";

const NAME = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const main = /** @type {HTMLElement} */ (document.getElementById("main"));

if (NAME)
  watch((/** @type {import("../types/api.js").WatchedStudy} */ first) => studyView(main, first, setPaused));
else watch(() => listView(main));

/**
 * Show the data of this page's address, and keep them up to date.
 * @template Data
 * @param {(first: Data) => {update: (data: Data) => void}} makeView
 */
function watch(makeView) {
  /** @type {{update: (data: Data) => void} | null} */
  let view = null;
  lookOn(`${location.pathname}?as=json`, {
    onData(/** @type {Data} */ data) {
      view ??= makeView(data);
      view.update(data);
    },
    onTrouble: (isLost) =>
      notice(isLost ? "The server cannot be reached. What you see may be old; trying again…" : ""),
    onKeyNeeded: () => location.reload(),
  });
}

/** @param {boolean} isToPause */
async function setPaused(isToPause) {
  const reply = await command(`${location.pathname}/${isToPause ? "pause" : "resume"}`);
  return /** @type {import("../types/api.js").Paused} */ (reply).paused;
}
