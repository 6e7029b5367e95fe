// @ts-check
/** The screens, built from plain elements. Every screen has one heading, which receives the focus. */

import { byId, el } from "../shared/elements.js";
import { counted, money, text } from "../texts/texts.js";
import { countPressesFromNow, onTrialKeys } from "./keys.js";

const FLASH = ["countdown", "stimulus", "gap", "mask"];

/** @param {number} minutes */
export function duration(minutes) {
  const isAnHour = minutes >= 55 && minutes <= 65;
  return isAnHour
    ? text("offer.an_hour")
    : text("offer.minutes", { minutes: counted(Math.max(1, Math.round(minutes)), "minute") });
}

/** @typedef {{label: string, value: string, primary?: boolean}} Action */

/**
 * Show a screen and wait for one of its buttons.
 * @param {string} name for `document.body.dataset.screen`
 * @param {string} title
 * @param {(Node | string)[]} content
 * @param {Action[]} actions
 * @param {(Node | string)[]} [below] what follows the buttons
 * @returns {Promise<string>} the value of the button pressed
 */
export function ask(name, title, content, actions, below = []) {
  return new Promise((resolve) => show(name, title, [...content, ...actionRow(actions, resolve), ...below]));
}

/**
 * Return the buttons of a screen, in a row; empty without actions.
 * @param {Action[]} actions
 * @param {(value: string) => void} onPressed
 */
export function actionRow(actions, onPressed) {
  const buttons = actions.map(({ label, value, primary }) => {
    const button = el("button", { type: "button", class: primary ? "primary" : "" }, label);
    button.addEventListener("click", () => onPressed(value), { once: true });
    return button;
  });
  return buttons.length ? [el("div", { class: "actions" }, ...buttons)] : [];
}

/**
 * @param {string} name
 * @param {string} title
 * @param {(Node | string)[]} content
 */
export function show(name, title, content) {
  const main = byId("main");
  const heading = el("h1", { tabindex: "-1" }, title);
  main.className = "page";
  main.replaceChildren(heading, ...content);
  onTrialKeys(null); // those of the screen that is gone
  enterScreen(name);
  scrollTo(0, 0);
  heading.focus();
}

let entered = "check";
let isCovered = false;
/** @type {(() => void)[]} */
const calmed = [];

/**
 * Record which screen is now shown.
 * @param {string} name for `document.body.dataset.screen`
 */
export function enterScreen(name) {
  entered = name;
  countPressesFromNow();
  if (!isCovered && document.body.dataset.screen !== name) document.body.dataset.screen = name;
  if (calmed.length && !FLASH.includes(name)) for (const resolve of calmed.splice(0)) resolve();
}

/**
 * Record that a dialog covers the screen, or no longer does.
 * @param {string | null} name of what covers it; null for nothing
 */
export function coverScreen(name) {
  countPressesFromNow();
  isCovered = name !== null;
  document.body.dataset.screen = name ?? entered;
}

/** Wait until no flash is under way. */
export function untilCalm() {
  return new Promise((resolve) =>
    FLASH.includes(entered) ? calmed.push(() => resolve(undefined)) : resolve(undefined),
  );
}

/**
 * Show that something is in progress; return a function that updates the progress (0 to 1).
 * @param {string} title
 * @param {string} words
 */
export function showWaiting(title, words) {
  const meter = el("progress", { class: "loading", "aria-label": title });
  show("check", title, [el("p", { class: "quiet" }, words), meter]);
  return (/** @type {number} */ share) => {
    meter.value = share;
  };
}

/**
 * @typedef {{button: HTMLButtonElement, answer: string, confidence: number | null}} AnswerButton
 * @typedef {object} Answers
 * @property {HTMLElement} element
 * @property {AnswerButton[]} buttons
 * @property {() => void} begin called before each question
 * @property {(key: string, onLatin: string, digit: string) => AnswerButton | undefined} byKey the button that
 *   a key presses (`keys.js`)
 */

/**
 * Return a button for each answer.
 * @param {import("./judgment.js").Judgment} judgment
 * @returns {Answers}
 */
function answerButtons({ choices, pictures }) {
  const buttons = choices.map(({ answer, label, keys }) => ({
    button: choice(label, keys[0]),
    answer,
    confidence: null,
  }));
  const elements = buttons.filter(({ answer }) => answer !== "not_sure").map(({ button }) => button);
  const element =
    pictures > 1
      ? underPictures("choices", elements, pictures)
      : el("div", { class: "choices left-to-right" }, ...elements); // as the keys are
  const below = buttons.slice(elements.length).map(({ button }) => button);
  for (const button of below) button.classList.add("below");
  element.append(...below);
  return {
    element,
    buttons,
    begin: () => {},
    byKey: (key, onLatin) => buttons[choiceOf(choices, key, onLatin)],
  };
}

/**
 * Return the place of the choice that a key stands for, in the study's language or else on a Latin keyboard;
 * or -1.
 * @param {{keys: string[]}[]} choices
 * @param {string} key
 * @param {string} onLatin
 */
export function choiceOf(choices, key, onLatin) {
  const place = choices.findIndex(({ keys }) => keys.includes(key));
  return place >= 0 ? place : choices.findIndex(({ keys }) => keys.includes(onLatin));
}

/**
 * Return elements in a row as wide as the row of pictures, from left to right in every language. As many as
 * there are pictures stand under them, each under its own; two under three pictures stand under the outer
 * ones.
 * @param {string} name of the row's class
 * @param {HTMLElement[]} elements
 * @param {number} pictures
 */
function underPictures(name, elements, pictures) {
  const columns = Math.max(elements.length, pictures);
  const row = el("div", { class: `${name} under-pictures left-to-right` }, ...elements);
  row.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  elements[elements.length - 1].style.gridColumn = `${columns}`;
  return row;
}

/**
 * Create the screen of trials, once per block, so that nothing moves between trials. `onset` is when the last
 * picture appeared, on the clock of `performance.now()`; `pressed` the button that was last pressed by keys.
 * @param {import("./judgment.js").Judgment} judgment
 * @param {Answers} [answers]
 * @param {HTMLElement | null} [controls] of what is shown
 */
export function trialScreen(judgment, answers = answerButtons(judgment), controls = null) {
  const stage = el("div", { class: "stage" });
  const captions = (judgment.captions ?? []).map((words) => el("p", {}, words));
  const below = captions.length ? [underPictures("captions", captions, judgment.pictures)] : [];
  const verdict = el("p", { class: "verdict", role: "status" });
  const heading = el("h1", { tabindex: "-1" }, judgment.heading);
  const main = byId("main");
  const asking = el("div", { class: "asking" }, heading, verdict);
  /** Show this screen, also after another one replaced it. */
  const enter = () => {
    main.className = "page trial";
    main.replaceChildren(stage, ...below, ...(controls ? [controls] : []), asking, answers.element);
  };
  enter();
  const pressed = /** @type {HTMLButtonElement | null} */ (null);
  /** What to lay out anew once the pictures have another size. */
  const onFit = /** @type {(() => void) | null} */ (null);
  return { main, stage, answers, controls, verdict, heading, enter, onset: 0, pressed, onFit };
}

/**
 * Return whether another screen replaced the trials: this tab lost the session, and must neither
 * announce a trial nor send a response.
 * @param {{stage: HTMLElement}} screen
 */
export function isGone(screen) {
  return !screen.stage.isConnected;
}

/**
 * Show the progress. A picture that replaces one that was not shown properly has the number of that one.
 * @param {{answered: number, total: number}} progress
 * @param {number | null} earned
 * @param {string} currency
 * @param {import("./judgment.js").Judgment} judgment
 * @param {boolean} [isPractice] whether it is the progress of the practice
 */
export function showProgress(progress, earned, currency, judgment, isPractice = false) {
  byId("bar").hidden = false;
  const { answered, total } = progress;
  const n = Math.min(answered + 1, total);
  byId("progress").textContent = isPractice
    ? text("practice.progress", { n, total })
    : judgment.progress(n, total);
  /** @type {HTMLProgressElement} */ (byId("meter")).value = answered / total;
  byId("earned").textContent =
    earned === null ? "" : text("block.earned", { money: money(earned, currency) });
}

export function hideProgress() {
  byId("bar").hidden = true;
}

/**
 * @param {string} label
 * @param {string} key
 */
function choice(label, key) {
  return el(
    "button",
    { type: "button", "aria-keyshortcuts": key },
    label,
    el("kbd", { class: "with-keys", translate: "no" }, key.toUpperCase()),
  );
}
