// @ts-check
/** Elements that the console's screens are made of: buttons that wait, fields, tables, progress, dialogs. */

import { Refused } from "../shared/api.js";
import { addressOf } from "../shared/base_path.js";
import { sentence } from "./format.js";
import { el } from "../shared/elements.js";

export { el };

/**
 * Return a link; of the console's own pages it is followed without loading.
 * @param {string} href
 * @param {string} words
 * @param {Record<string, string>} [attributes]
 */
export function link(href, words, attributes = {}) {
  return el("a", { href: addressOf(href), ...attributes }, words);
}

/**
 * @param {string} heading
 * @param {...(Node | string)} content
 */
export function section(heading, ...content) {
  return el("section", {}, el("h2", {}, heading), ...content);
}

/**
 * Return content that is folded below its summary.
 * @param {string} summary
 * @param {...(Node | string)} content
 */
export function details(summary, ...content) {
  return el("details", {}, el("summary", {}, summary), ...content);
}

/** @param {...(Node | string)} words */
export function paragraph(...words) {
  return el("p", {}, ...words);
}

/**
 * Return a paragraph of less weight.
 * @param {...(Node | string)} words
 */
export function quiet(...words) {
  return el("p", { class: "quiet" }, ...words);
}

/**
 * Return a number with its interval; "–" if there is none.
 * @param {number | null} value
 * @param {number[] | null} ci
 * @param {number} [digits]
 */
export function estimate(value, ci, digits = 1) {
  if (value === null) return "–";
  const shown = (/** @type {number} */ number) => number.toFixed(digits).replace("-", "−");
  return el(
    "span",
    {},
    shown(value),
    ci ? el("span", { class: "quiet span" }, ci.map(shown).join(" to ")) : "",
  );
}

/** Return what is said above numbers of simulated evaluators. */
export function simulatedWarning() {
  const words = " No person gave these answers.";
  return el("p", { class: "warning simulated" }, el("strong", {}, "Simulated."), words);
}

/** @param {...(Node | string)} content */
export function sideBySide(...content) {
  return el("div", { class: "row" }, ...content);
}

/**
 * Return the buttons that end a form or a screen.
 * @param {...(Node | string)} buttons
 */
export function actionRow(...buttons) {
  return el("div", { class: "actions" }, ...buttons);
}

/**
 * Return a line that tells what was done; screen readers are told too.
 * @param {Record<string, string>} [attributes]
 */
export function statusLine(attributes = {}) {
  return el("p", { class: "quiet told", role: "status", ...attributes });
}

/**
 * Return a list of sentences.
 * @param {string} className
 * @param {string[]} texts
 */
export function sentences(className, texts) {
  return el("ul", { class: className }, ...texts.map((text) => el("li", {}, sentence(text))));
}

/**
 * Return what one of several values is chosen with.
 * @param {string[][]} options value and words of each
 * @param {Record<string, string>} [attributes]
 */
export function select(options, attributes = {}) {
  return el("select", attributes, ...options.map(([value, words]) => el("option", { value }, words)));
}

/**
 * Return an input for one line of text.
 * @param {Record<string, string>} [attributes]
 */
export function textInput(attributes = {}) {
  return el("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes });
}

/**
 * Return an input for a number.
 * @param {Record<string, string>} [attributes]
 */
export function numberInput(attributes = {}) {
  return el("input", { type: "number", class: "number", ...attributes });
}

/**
 * Return a text whose parts between backticks are set as code.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
export function withCode(text) {
  return text.split("`").map((part, i) => (i % 2 ? el("code", {}, part) : part));
}

/**
 * Return a message for a person, with what to quote if it is the server's.
 * @param {unknown} error
 */
export function explained(error) {
  if (!(error instanceof Error)) return "Something went wrong here. Load the page again, then try once more.";
  if (!(error instanceof Refused)) return sentence(error.message);
  return error.id ? `${sentence(error.message)} (${error.id})` : sentence(error.message);
}

/**
 * Return a place for the errors of what stands beside it; screen readers are told at once.
 * @param {string} [words]
 */
export function alertLine(words = "") {
  return el("p", { class: "error", role: "alert" }, words);
}

/**
 * Return a button that is disabled while its work is under way, and reports what failed.
 * @param {string} label
 * @param {() => unknown} work
 * @param {object} [options]
 * @param {boolean} [options.primary]
 * @param {string} [options.className]
 * @param {string} [options.name] for screen readers, if the label does not say what it is about
 * @param {(error: unknown) => void} [options.onError] by default the error is shown after the button
 */
export function actionButton(label, work, { primary = false, className = "", name = "", onError } = {}) {
  const button = el("button", { type: "button", class: primary ? "primary" : className }, label);
  if (name) button.setAttribute("aria-label", name);
  /** @type {HTMLElement | null} */
  let line = null;
  button.addEventListener("click", async () => {
    if (button.getAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true"); // a disabled button would lose the focus
    line?.remove();
    try {
      await work();
    } catch (error) {
      if (isAbort(error)) return;
      if (onError) return onError(error);
      line = alertLine();
      (button.closest(".actions") ?? button).after(line);
      line.textContent = explained(error);
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
  return button;
}

/**
 * Return whether an error only says that the screen was left.
 * @param {unknown} error
 */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

let fields = 0;

/**
 * Return a form's field: label, hint, place of its error, input.
 * @param {string} label
 * @param {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} input
 * @param {string | Node} [hint]
 */
export function field(label, input, hint = "") {
  if (!input.id) fields += 1;
  const id = input.id || `field-${fields}`;
  input.id = id;
  const hintLine = el("p", { class: "hint", id: `${id}-hint` }, hint);
  const errorLine = el("p", { class: "error", id: `${id}-error`, role: "alert" });
  input.setAttribute("aria-describedby", hint === "" ? `${id}-error` : `${id}-hint ${id}-error`);
  const element = el("div", { class: "field" }, el("label", { for: id }, label), hintLine, errorLine, input);
  return {
    element,
    input,
    label,
    hint: hintLine,
    /** @param {string} words the error; "" for none */
    fail(words) {
      errorLine.textContent = words;
      if (words) input.setAttribute("aria-invalid", "true");
      else input.removeAttribute("aria-invalid");
    },
  };
}

/**
 * Return a table that scrolls within itself where the screen is narrow.
 * @param {string} caption
 * @param {(string | Node)[]} columns
 * @param {(string | Node)[][]} rows the first cell of each is its heading
 */
export function table(caption, columns, rows) {
  const head = el("thead", {}, el("tr", {}, ...columns.map((name) => el("th", { scope: "col" }, name))));
  const body = el(
    "tbody",
    {},
    ...rows.map(([first, ...others]) =>
      el("tr", {}, el("th", { scope: "row" }, first), ...others.map((cell) => el("td", {}, cell))),
    ),
  );
  const made = el("table", {}, el("caption", { class: "unseen" }, caption), head, body);
  return el("div", { class: "wide-table", role: "region", "aria-label": caption, tabindex: "0" }, made);
}

/**
 * Return a progress bar with words below.
 * @param {string} label what is under way
 */
export function progress(label) {
  const bar = el("progress", { class: "loading", max: "1", "aria-label": label });
  const words = el("p", { class: "quiet progress-words" });
  return {
    element: el("div", { class: "progress" }, bar, words),
    /** @param {number | null} share 0 to 1; null if it is not known @param {string} text */
    update(share, text) {
      if (share === null) bar.removeAttribute("value");
      else bar.value = share;
      if (words.textContent !== text) words.textContent = text;
    },
  };
}

/**
 * Show a job's progress.
 * @param {ReturnType<typeof progress>} shown
 * @param {import("./api.js").Job} job
 */
export function showJob(shown, job) {
  const { state, progress: at } = job;
  if (state === "queued") return shown.update(null, "Waiting for its turn…");
  if (!at) return shown.update(null, "Under way…");
  const share = at.total ? Math.min(1, at.done / at.total) : null;
  const of = at.total ? `: ${at.done.toLocaleString("en")} of ${at.total.toLocaleString("en")}` : "";
  shown.update(share, sentence(`${at.what}${of}`).replace(/\.$/, ""));
}

/**
 * @typedef {{label: string, value: string, primary?: boolean}} Choice
 */

/**
 * Ask in a dialog; return the value of the button pressed, or null if the dialog was closed otherwise. The
 * last button has the focus, so that an Enter that is held down confirms nothing.
 * @param {string} title
 * @param {(Node | string)[]} content
 * @param {Choice[]} choices the last one that closes without effect included, such as "Cancel" with the value
 *   ""
 * @returns {Promise<string | null>}
 */
export async function askInDialog(title, content, choices) {
  const dialog = el("dialog", { class: "small", "aria-labelledby": "dialog-title" });
  const buttons = choices.map(({ label, value, primary }, i) => {
    const button = el("button", { type: "button", class: primary ? "primary" : "" }, label);
    button.autofocus = i === choices.length - 1;
    button.addEventListener("click", () => dialog.close(`chosen:${value}`));
    return button;
  });
  dialog.append(el("h2", { id: "dialog-title" }, title), ...content, actionRow(...buttons));
  const answer = await answered(dialog);
  return answer.startsWith("chosen:") ? answer.slice("chosen:".length) : null;
}

/**
 * Show a dialog until it is closed; return the value that it was closed with, "" if it was closed otherwise.
 * @param {HTMLDialogElement} dialog
 * @returns {Promise<string>}
 */
export function answered(dialog) {
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
