// @ts-check
/** The texts around the practice trials, with which a session can begin. */

import { el } from "../shared/elements.js";
import { ask, hideProgress } from "./screens.js";
import { text } from "../texts/texts.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */

/**
 * Return what evaluators are told before practice; empty if no practice is ahead.
 * @param {PublicStudy} study
 * @param {import("./visit.js").Visit} visit
 */
export function beforePractice(study, { next }) {
  if (!next?.practice) return [];
  return [
    el("h2", {}, text("practice.title")),
    el(
      "p",
      {},
      study.trial_shows === "pair"
        ? text("practice.intro_pairs", { n: study.practice })
        : text("practice.intro", { n: study.practice }),
    ),
    el("p", {}, text(study.pay.bonus_usd_cents ? "practice.unpaid" : "practice.unscored")),
  ];
}

/**
 * Show that the practice is over, and wait until the evaluator begins.
 * @param {PublicStudy} study
 * @param {Element[]} below
 */
export function afterPractice(study, below) {
  hideProgress();
  return ask(
    "instructions",
    text("practice.done.title"),
    [
      el("p", {}, text("practice.done.text")),
      ...(study.pay.bonus_usd_cents ? [el("p", {}, text("practice.done.paid"))] : []),
      ...below,
    ],
    [{ label: text("practice.done.start"), value: "on", primary: true }],
  );
}
