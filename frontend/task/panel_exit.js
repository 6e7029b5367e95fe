// @ts-check
/** The panel's link: its parameters, and the link back for those who do not take part or cannot continue. */

import { el } from "../shared/elements.js";
import { hideProgress, show } from "./screens.js";
import { readPass } from "./storage.js";
import { text } from "../texts/texts.js";
import { quotes } from "./connection_messages.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */

/** @typedef {"no_consent" | "unfit_device" | "screened_out" | "fault"} Outcome */

/** @param {PublicStudy} study */
export const pathOf = (study) => /** @type {const} */ (`/api/studies/${encodeURIComponent(study.study)}`);

/**
 * Return the parameters of the panel's link.
 * @param {PublicStudy} study
 * @returns {Record<string, string>}
 */
export function panelParameters(study) {
  const query = new URLSearchParams(location.search);
  const names = study.panel_parameters.filter((/** @type {string} */ name) => query.get(name));
  return Object.fromEntries(names.map((/** @type {string} */ name) => [name, query.get(name) ?? ""]));
}

/**
 * Return the proof that the panel sent this evaluator: the pass that replaced the signature, or the link's
 * signature; null if the study requires neither.
 * @param {PublicStudy} study
 */
export function signature(study) {
  const pass = readPass(study.study);
  if (pass) return pass;
  return study.signature_parameter
    ? new URLSearchParams(location.search).get(study.signature_parameter)
    : null;
}

/**
 * Return the panel's address for those who do not take part or cannot continue; null if none is known. If it
 * cannot be fetched soon, the panel's own page serves: the page ends in any case.
 * @param {import("./visit.js").Api} api
 * @param {PublicStudy} study
 * @param {Outcome} outcome
 * @param {string | null} [qualificationToken]
 * @returns {Promise<string | null>}
 */
export async function exitLink(api, study, outcome, qualificationToken = null) {
  const body = {
    outcome,
    panel: panelParameters(study),
    qualification_token: qualificationToken,
    signature: signature(study),
  };
  const home = outcome === "screened_out" ? null : study.panel_home;
  try {
    return (await api.post(`${pathOf(study)}/exit`, body, null, () => false)).redirect_url ?? home;
  } catch {
    return home;
  }
}

/**
 * Return where people of a study's panel find it again.
 * @param {PublicStudy} study
 * @returns {import("./connection_messages.js").Panel | null} null if people come from no panel
 */
export function panelOf({ panel_home, panel_parameters }) {
  return panel_parameters.length > 1 ? { home: panel_home } : null; // one is that of private links
}

/**
 * Return the way back for a person whose visit ends here: a link, or else words.
 * @param {string | null} back address back to the panel; null for that of its own page
 * @param {import("./connection_messages.js").Panel | null} panel null if people come from none
 * @returns {HTMLElement[]}
 */
export function wayBack(back, panel) {
  const href = back ?? panel?.home ?? null;
  return panel && !href ? [el("p", {}, text("panel.find_back"))] : goBack(href);
}

/**
 * Return the link back to the panel, which also leaves the panel's frame.
 * @param {string | null} href
 * @param {string} [label]
 * @param {boolean} [isPrimary]
 * @returns {HTMLElement[]} in a row of actions; empty without an address
 */
export function goBack(href, label = text("panel.go_back"), isPrimary = true) {
  return href ? [el("div", { class: "actions" }, backLink(href, label, isPrimary))] : [];
}

/**
 * @param {string} href
 * @param {string} label
 * @param {boolean} isPrimary
 */
export function backLink(href, label, isPrimary) {
  return el("a", { class: isPrimary ? "button primary" : "button", href, target: "_top" }, label);
}

/**
 * Show the end of a visit without participation.
 * @param {string | null} back address of the panel, if it expects the evaluator back
 * @returns {null}
 */
export function sayGoodbye(back) {
  show("done", text("panel.goodbye"), [
    el("p", {}, text(back ? "panel.goodbye_back" : "panel.goodbye_close")),
    ...goBack(back),
  ]);
  return null;
}

/**
 * Show the end of a visit that cannot continue, through no fault of the evaluator; never resolves.
 * @param {import("./visit.js").Api} api
 * @param {PublicStudy} study
 * @param {import("./connection_messages.js").About} about
 * @returns {Promise<void>}
 */
export async function showGivenUp(api, study, about) {
  hideProgress();
  const back = await exitLink(api, study, "fault");
  const { base_usd_cents, bonus_usd_cents } = study.pay;
  const isPaid = about.session && base_usd_cents + bonus_usd_cents > 0;
  show("error", text("panel.stop"), [
    el("p", {}, text(about.session ? "panel.stop_stored" : "panel.stop_nothing")),
    ...(isPaid ? [el("p", {}, text("panel.stop_pay"))] : []),
    ...quotes(about, ""),
    el("p", {}, text(back ? "panel.stop_note" : "panel.stop_again")),
    ...goBack(back),
  ]);
  return new Promise(() => {});
}
