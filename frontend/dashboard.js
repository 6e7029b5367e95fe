// @ts-check
/** The researcher's dashboard: the list of studies, or one study as it happens. */

import { command, lookOn } from "./poll.js";
import { notice } from "./screens.js";
import { listView } from "./studies_view.js";
import { studyView } from "./study_view.js";

const NAME = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const main = /** @type {HTMLElement} */ (document.getElementById("main"));
/** @type {{update: (data: any) => void} | null} */
let view = null;

lookOn(`${location.pathname}?as=json`, {
  onData(data) {
    view ??= NAME ? studyView(main, data, setPaused) : listView(main);
    view.update(data);
  },
  onTrouble: (isLost) => notice(isLost ? "The server cannot be reached. What you see may be old; trying again…" : ""),
  onKeyNeeded: () => location.reload(),
});

/** @param {boolean} isToPause */
async function setPaused(isToPause) {
  return (await command(`${location.pathname}/${isToPause ? "pause" : "resume"}`)).paused;
}
