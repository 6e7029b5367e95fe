// @ts-check
/**
 * A question in a modal dialog: it covers the screen, which remains unchanged beneath and reappears
 * afterwards. One at a time.
 */

import { el } from "../shared/elements.js";
import { actionRow, coverScreen } from "./screens.js";

/** @type {Promise<unknown>} */
let last = Promise.resolve();
let under_way = 0;
let so_far = 0;

/**
 * Ask a question over the current screen; the Escape key selects the first action.
 * @param {string} name for `document.body.dataset.screen`
 * @param {string} title
 * @param {(Node | string)[]} content
 * @param {import("./screens.js").Action[]} actions
 * @returns {Promise<string>} the value of the button pressed
 */
export function interrupt(name, title, content, actions) {
  under_way += 1;
  so_far += 1;
  const answer = last.then(() => answered(name, title, content, actions));
  last = answer.finally(() => (under_way -= 1));
  return answer;
}

/** Return the number of interruptions so far. */
export function interruptionsSoFar() {
  return so_far;
}

/** Wait until nothing covers the screen. */
export async function untilUncovered() {
  while (under_way) await last;
}

/**
 * @param {string} name
 * @param {string} title
 * @param {(Node | string)[]} content
 * @param {import("./screens.js").Action[]} actions
 * @returns {Promise<string>}
 */
function answered(name, title, content, actions) {
  return new Promise((resolve) => {
    const heading = el("h1", { tabindex: "-1", id: "interruption" }, title);
    const dialog = el("dialog", { "aria-labelledby": "interruption" });
    let value = actions[0].value;
    const row = actionRow(actions, (pressed) => {
      value = pressed;
      dialog.close();
    });
    dialog.append(el("div", { class: "page" }, heading, ...content, ...row));
    dialog.addEventListener("close", () => {
      dialog.remove();
      coverScreen(null);
      resolve(value);
    });
    document.body.append(dialog);
    dialog.showModal();
    coverScreen(name);
    heading.focus();
  });
}
