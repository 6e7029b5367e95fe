// @ts-check
/** One study on the dashboard: its live view, a button to pause it, and where else to go. */

import { method } from "./dashboard_format.js";
import { el } from "./screens.js";
import { liveView } from "./study_live.js";

/** @typedef {import("../types/api.js").WatchedStudy} WatchedStudy */

/**
 * @param {HTMLElement} main
 * @param {WatchedStudy} first the data at the start
 * @param {(isToPause: boolean) => Promise<boolean>} setPaused
 */
export function studyView(main, first, setPaused) {
  document.title = `${first.study} · openhype`;
  const state = el("p", { class: "quiet" });
  const pause = pauseButton(setPaused, (isPaused) => tellState(isPaused));
  const tellState = (/** @type {boolean} */ isPaused) => {
    const now = isPaused ? "paused: nobody new can begin" : "open to evaluators";
    state.textContent = `${method(first)} · ${now}`;
  };
  const live = liveView(first);
  const isStudy = first.kind === "study";
  main.replaceChildren(
    el(
      "nav",
      { "aria-label": "Pages" },
      el("a", { href: "/dashboard" }, "All studies"),
      ...(isStudy ? [el("a", { href: `/results/${encodeURIComponent(first.study)}` }, "Results")] : []),
      leaving(),
    ),
    el(
      "div",
      { class: "head" },
      el("div", {}, el("h1", {}, first.study), state),
      el("div", {}, pause.button, pause.told),
    ),
    ...live.parts,
  );
  return {
    /** @param {WatchedStudy} data */
    update(data) {
      pause.update(data.paused);
      tellState(data.paused);
      live.update(data);
    },
  };
}

/**
 * @param {(isToPause: boolean) => Promise<boolean>} setPaused
 * @param {(isPaused: boolean) => void} onChange
 */
export function pauseButton(setPaused, onChange) {
  const button = /** @type {HTMLButtonElement} */ (el("button", { type: "button" }));
  const told = el("p", { class: "quiet told", role: "status" });
  let isPaused = false;
  const update = (/** @type {boolean} */ now) => {
    isPaused = now;
    button.textContent = isPaused ? "Let evaluators in" : "Pause the study";
  };
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      update(await setPaused(!isPaused));
      onChange(isPaused);
      told.textContent = isPaused ? "Paused. Whoever has begun can finish." : "Evaluators can begin again.";
    } catch {
      told.textContent = "That did not reach the server; please try again.";
    } finally {
      button.disabled = false;
      button.focus();
    }
  });
  return { button, told, update };
}

function leaving() {
  return el(
    "form",
    { method: "post", action: `${location.pathname}/leave` },
    el("button", { class: "plain" }, "Sign out"),
  );
}
