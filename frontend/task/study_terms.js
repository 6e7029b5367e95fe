// @ts-check
/** Texts on what a study requires and pays: before consent, and before the first picture. */

import { contactLink, el, facts, paragraphs } from "../shared/elements.js";
import { duration, show } from "./screens.js";
import { languagePicker } from "./language_picker.js";
import { consentOf, titleOf } from "./study_texts.js";
import { counted, money, text, textNodes } from "../texts/texts.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */
/** @typedef {import("./judgment.js").Judgment} Judgment */

/**
 * Return whether a visit is a preview, before the task is accepted at the panel.
 * @param {PublicStudy} study
 */
export function isPreview(study) {
  return (
    study.preview !== null && new URLSearchParams(location.search).get(study.preview[0]) === study.preview[1]
  );
}

/**
 * Show a preview of the task, before it is accepted at the panel.
 * @param {PublicStudy} study
 * @param {Judgment} judgment
 */
export function showPreview(study, judgment) {
  show("consent", titleOf(study), [
    ...languagePicker(study, () => showPreview(study, judgment)),
    el("p", { class: "preview" }, text("offer.preview")),
    ...offer(study),
    el("h2", {}, text("instructions.title")),
    ...instructions(study, judgment, false),
  ]);
}

/**
 * Return what the study requires, its duration and pay; reasons not to take part come first.
 * @param {PublicStudy} study
 * @param {string} [before] title of the study that this qualification opens
 */
export function offer(study, before) {
  const intro = before
    ? [el("p", {}, text("offer.before_test", { study: before }))]
    : paragraphs(consentOf(study));
  return [
    ...(study.flash_warning ? [flashWarning()] : []),
    ...intro,
    facts([
      [text("offer.time"), duration(study.minutes)],
      shown(study),
      ...(study.practice ? [[text("practice.offer"), practice(study)]] : []),
      [text("offer.pay"), pay(study)],
      ...(study.keep_days
        ? [[text("offer.kept"), text("offer.kept_for", { days: counted(study.keep_days, "day") })]]
        : []),
    ]),
    ...(study.contact
      ? [el("p", {}, ...textNodes("contact.questions", { contact: contactLink(study.contact) }))]
      : []),
  ];
}

/**
 * Return the instructions for a trial.
 * @param {PublicStudy} study
 * @param {Judgment} judgment
 * @param {boolean} isBack whether a session is resumed
 */
export function instructions(study, judgment, isBack) {
  return [
    ...(isBack ? [el("p", {}, text("instructions.back"))] : []),
    ...judgment.instructions(study),
    el("p", { class: "with-keys" }, ...judgment.press()),
    el("p", { class: "without-keys" }, judgment.tap()),
    ...(study.feedback ? [el("p", {}, text("instructions.feedback"))] : []),
    ...payInstructions(study),
  ];
}

/**
 * Return what is counted, and how many of it a session has.
 * @param {PublicStudy} study
 */
function shown({ images: n, blocks: parts, trial_shows }) {
  if (trial_shows === "triplet") {
    const values = { n, pictures: 3, parts };
    return [
      text("offer.pictures"),
      parts > 1 ? text("offer.picture_count_side_parts", values) : text("offer.picture_count_side", values),
    ];
  }
  if (trial_shows === "pair")
    return [
      text("offer.pairs"),
      parts > 1 ? text("offer.pair_count_parts", { n, parts }) : text("offer.pair_count", { n }),
    ];
  return [
    text("offer.pictures"),
    parts > 1 ? text("offer.picture_count_parts", { n, parts }) : text("offer.picture_count", { n }),
  ];
}

/** @param {PublicStudy} study */
function practice({ practice: n, trial_shows }) {
  return trial_shows === "pair" ? text("practice.offer.pairs", { n }) : text("practice.offer.count", { n });
}

/** @param {PublicStudy} study */
function pay(study) {
  const { base, bonus } = amounts(study);
  if (base && bonus) return text("offer.pay_both", { base, bonus });
  return base
    ? text("offer.pay_base", { base })
    : bonus
      ? text("offer.pay_bonus", { bonus })
      : text("offer.pay_none");
}

/** @param {PublicStudy} study */
function payInstructions(study) {
  const { base, bonus } = amounts(study);
  if (base && bonus) return [el("p", {}, text("instructions.pay_both", { base, bonus }))];
  if (base) return [el("p", {}, text("instructions.pay_base", { base }))];
  return bonus ? [el("p", {}, text("instructions.pay_bonus", { bonus }))] : [];
}

/**
 * Return the pay as texts, empty where there is none.
 * @param {PublicStudy} study
 */
function amounts({ currency, pay: { base_usd_cents, bonus_usd_cents } }) {
  return {
    base: base_usd_cents ? money(base_usd_cents, currency) : "",
    bonus: bonus_usd_cents ? money(bonus_usd_cents, currency) : "",
  };
}

function flashWarning() {
  const wantsLessMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return el(
    "section",
    { class: "warning" },
    el("h2", {}, text("offer.flashes")),
    el("p", {}, text("offer.flashes_risk")),
    ...(wantsLessMotion ? [el("p", {}, text("offer.less_motion"))] : []),
  );
}
