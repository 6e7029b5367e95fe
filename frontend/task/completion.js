// @ts-check
/** What the end of every session has: earnings, completion code, the link back to the panel or the demo. */

import { copier } from "../shared/copy_button.js";
import { backLink } from "./panel_exit.js";
import { el, facts } from "../shared/elements.js";
import { money, number, text } from "../texts/texts.js";
import { questions } from "./connection_messages.js";
import { withdrawalNote } from "./withdraw_link.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */

/** The fragment of an address that was opened from the demo's start page. */
const DEMO = "#demo";

/**
 * Return what the page says whatever else it shows.
 * @param {import("./visit.js").Ended} visit
 * @param {PublicStudy} study
 * @param {string[][]} [rows] further facts, placed first
 * @param {boolean} [isPrimary] whether the link back is the primary action
 */
export function ending({ done, earned, state }, study, rows = [], isPrimary = true) {
  const code = el("output", { class: "code", id: "code", dir: "ltr", translate: "no" }, done.completion_code);
  const { button, told } = copier(done.completion_code, code, {
    label: text("end.copy_code"),
    copied: text("end.code_copied"),
    selected: text("end.code_selected"),
  });
  const link = done.redirect_url ? [backLink(done.redirect_url, text("panel.finish"), isPrimary)] : [];
  const back = done.form ? [backForm(done.form, isPrimary)] : link;
  const known = [
    ...rows,
    ...(done.right === null
      ? []
      : [[text("end.right"), text("end.right_of", { right: done.right, answered: done.answered })]]),
    ...(done.not_sure ? [[text("end.not_sure"), number(done.not_sure)]] : []),
    ...(earned === null ? [] : [[text("end.earned"), money(done.earned_usd_cents, state.currency)]]),
  ];
  const stored = text(done.reported ? "end.stored_reported" : "end.stored_code");
  const noCode = text(state.withdrawal_url ? "end.stored" : "demo.nothing_sent");
  const shown = done.needs_code
    ? [el("p", {}, stored), code, el("div", { class: "actions" }, button, ...back), told]
    : [el("p", {}, noCode)];
  return [
    ...(known.length ? [facts(known)] : []),
    ...shown,
    ...questions({ contact: study.contact }, ""),
    ...(state.withdrawal_url ? [withdrawalNote(state.withdrawal_url)] : []),
  ];
}

/**
 * Return a form that reports completion to the panel, for panels that require one.
 * @param {{action: string, fields: Record<string, string>}} form
 * @param {boolean} isPrimary
 */
function backForm({ action, fields }, isPrimary) {
  const inputs = Object.entries(fields).map(([name, value]) => el("input", { type: "hidden", name, value }));
  const button = el("button", { type: "submit", class: isPrimary ? "primary" : "" }, text("panel.finish"));
  return el("form", { method: "post", action }, ...inputs, button);
}

/** Return the action that leads back to the demo's start page; none if the visit did not come from there. */
export function startPage() {
  return location.hash === DEMO ? [{ label: text("end.start_page"), value: "start" }] : [];
}
