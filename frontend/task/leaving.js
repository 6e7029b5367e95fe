// @ts-check
/** Prevents leaving an active session by accident (back button, closing the page): asks first. */

import { held } from "./held_token.js";
import { interrupt } from "./interruption.js";
import { el } from "../shared/elements.js";
import { ask, hideProgress, untilCalm } from "./screens.js";
import { text } from "../texts/texts.js";

const MARK = { openhype: "session" };

let isGuarding = false;
let wasGuarding = false;
let isAsking = false;

/** Ask before leaving, from now on. */
export function startGuarding() {
  if (isGuarding) return;
  isGuarding = true;
  addEventListener("beforeunload", warn);
  if (history.state?.openhype === MARK.openhype) return;
  // the back button leads to the entry below this one, not out of the task
  history.pushState({ ...MARK, held }, "");
}

/** Stop asking: the session is over, or leaving loses nothing. */
export function stopGuarding() {
  wasGuarding = isGuarding;
  isGuarding = false;
  removeEventListener("beforeunload", warn);
}

/** Resume asking if it was active before `stopGuarding`. */
export function guardAgain() {
  if (wasGuarding) startGuarding();
}

addEventListener("popstate", () => {
  if (isGuarding) askBeforeLeaving();
  // skip the entry that catches the button
  else if (history.state?.openhype !== MARK.openhype) history.back();
});

/** @param {BeforeUnloadEvent} event */
function warn(event) {
  event.preventDefault();
}

async function askBeforeLeaving() {
  history.pushState({ ...MARK, held }, "");
  if (isAsking) return;
  isAsking = true;
  await untilCalm();
  const answer =
    isGuarding &&
    (await interrupt(
      "break",
      text("leave.title"),
      [el("p", {}, text("leave.stored"))],
      [
        { label: text("leave.stay"), value: "stay", primary: true },
        { label: text("leave.leave"), value: "leave" },
      ],
    ));
  isAsking = false;
  if (answer === "leave") leave();
}

/** Go back to the page before the task; a tab that was opened for the task has none, and stays here. */
function leave() {
  stopGuarding();
  hideProgress();
  ask(
    "break",
    text("leave.later"),
    [el("p", {}, text("leave.close"))],
    [{ label: text("leave.go_on"), value: "on", primary: true }],
  ).then(() => location.reload());
  history.go(-2);
}
