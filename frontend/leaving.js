// @ts-check
/** A question before a session under way is left by accident: by the back button, or by closing the page. */

import { interrupt } from "./interruption.js";
import { ask, el, hideProgress, untilCalm } from "./screens.js";

const MARK = { openhype: "session" };

let isGuarding = false;
let wasGuarding = false;
let isAsking = false;

/** Ask from now on. */
export function startGuarding() {
  if (isGuarding) return;
  isGuarding = true;
  addEventListener("beforeunload", warn);
  if (history.state?.openhype === MARK.openhype) return;
  history.pushState(MARK, ""); // the back button comes out here, and not before the task
}

/** Ask no more: the session is over, or there is nothing to be lost by leaving. */
export function stopGuarding() {
  wasGuarding = isGuarding;
  isGuarding = false;
  removeEventListener("beforeunload", warn);
}

/** Ask again, if it was asked before. */
export function guardAgain() {
  if (wasGuarding) startGuarding();
}

addEventListener("popstate", () => {
  if (isGuarding) askBeforeLeaving();
  else if (history.state?.openhype !== MARK.openhype) history.back(); // past the place that only caught the button
});

/** @param {BeforeUnloadEvent} event */
function warn(event) {
  event.preventDefault();
}

async function askBeforeLeaving() {
  history.pushState(MARK, "");
  if (isAsking) return;
  isAsking = true;
  await untilCalm();
  const answer = isGuarding && (await interrupt(
    "break",
    "Leave the task?",
    [el("p", {}, "Your answers so far are stored. You can go on later: open the same link in this browser.")],
    [
      { label: "Stay", value: "stay", primary: true },
      { label: "Leave", value: "leave" },
    ],
  ));
  isAsking = false;
  if (answer === "leave") leave();
}

/** Go where the back button leads; a tab that was opened for the task leads nowhere. */
function leave() {
  stopGuarding();
  hideProgress();
  ask("break", "See you later", [el("p", {}, "You can close this page. Your answers are stored.")], [
    { label: "Go on with the task", value: "on", primary: true },
  ]).then(() => location.reload());
  history.go(-2);
}
