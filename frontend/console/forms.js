// @ts-check
/** Forms that send one command, and questions before what cannot be undone. */

import { Refused } from "./api.js";
import {
  actionRow,
  alertLine,
  answered,
  askInDialog,
  el,
  explained,
  field,
  isAbort,
  paragraph,
  statusLine,
  textInput,
} from "./elements.js";
import { money } from "../texts/texts.js";

/**
 * Return a form with one button. While the command is under way the button waits and keeps the focus; what
 * came of it stands below.
 * @param {Node[]} fields
 * @param {string} label of the button
 * @param {(told: HTMLElement) => Promise<string | void>} run returns what is to be told, if anything; it gets
 *   the line that tells it, for what is known later
 * @param {{isPrimary?: boolean, isInline?: boolean}} [look]
 */
export function commandForm(fields, label, run, { isPrimary = true, isInline = true } = {}) {
  const button = el("button", { class: isPrimary ? "primary" : "" }, label);
  const failure = alertLine();
  const told = statusLine();
  const form = el(
    "form",
    { class: isInline ? "inline-form" : "" },
    ...fields,
    actionRow(button),
    failure,
    told,
  );
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled")) return;
    button.setAttribute("aria-disabled", "true");
    failure.textContent = told.textContent = "";
    try {
      told.textContent = (await run(told)) ?? "";
    } catch (error) {
      if (!isAbort(error)) failure.textContent = explained(error);
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
  return form;
}

/**
 * Return an amount with its currency's code, so that no dollar is taken for another.
 * @param {number} cents
 * @param {string} currency
 */
export function amount(cents, currency) {
  return `${money(cents, currency)} (${currency})`;
}

/**
 * Ask whether to do something, in a dialog whose button names what it does.
 * @param {string} title
 * @param {string} words
 * @param {string} label
 * @returns {Promise<boolean>}
 */
export function isConfirmed(title, words, label) {
  return isAgreed(title, [paragraph(words)], label);
}

/**
 * Ask twice: first with everything that is to be known, then for exactly what will be done.
 * @param {{title: string, content: Node[], label: string}} first
 * @param {{title: string, words: string, label: string}} second
 * @returns {Promise<boolean>}
 */
export async function isConfirmedTwice(first, second) {
  const isFirst = await isAgreed(first.title, first.content, first.label);
  return isFirst && isConfirmed(second.title, second.words, second.label);
}

/**
 * @param {string} title
 * @param {Node[]} content
 * @param {string} label
 */
async function isAgreed(title, content, label) {
  const choices = [
    { label, value: "yes", primary: true },
    { label: "Cancel", value: "" },
  ];
  return (await askInDialog(title, content, choices)) === "yes";
}

/**
 * Return whether what was confirmed is done; false if it is not, for something had changed since.
 * @param {() => Promise<unknown>} order
 */
export async function isDone(order) {
  try {
    await order();
    return true;
  } catch (error) {
    if (error instanceof Refused && error.code === "changed") return false;
    throw error;
  }
}

/**
 * Ask for a name to be typed before something is deleted for good.
 * @param {string} title
 * @param {Node[]} content
 * @param {string} name
 * @param {string} label
 * @returns {Promise<boolean>}
 */
export async function isTyped(title, content, name, label) {
  const input = textInput({ autocapitalize: "off", autofocus: "" });
  const typed = field(`Type ${name} to confirm`, input);
  const cancel = el("button", { type: "button" }, "Cancel");
  const buttons = actionRow(el("button", { class: "primary" }, label), cancel);
  const form = el("form", { method: "dialog" }, typed.element, buttons);
  const heading = el("h2", { id: "typed-title" }, title);
  const dialog = el("dialog", { class: "small", "aria-labelledby": heading.id }, heading, ...content, form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value === name) return dialog.close("yes");
    typed.fail(`That is not ${name}.`);
    input.focus();
  });
  cancel.addEventListener("click", () => dialog.close(""));
  return (await answered(dialog)) === "yes";
}
