// @ts-check
/** Texts on what a study requires and pays: before consent, and before the first picture. */

import { contactLink, days, duration, el, facts, money, paragraphs, show } from "./screens.js";
import { text } from "./texts.js";

/** @typedef {import("../types/api.js").PublicStudy} PublicStudy */
/** @typedef {import("./judgment.js").Judgment} Judgment */

/**
 * Return whether a visit is a preview, before the task is accepted at the panel.
 * @param {PublicStudy} study
 */
export function isPreview(study) {
  return study.preview !== null && new URLSearchParams(location.search).get(study.preview[0]) === study.preview[1];
}

/**
 * Show a preview of the task, before it is accepted at the panel.
 * @param {PublicStudy} study
 * @param {Judgment} judgment
 */
export function showPreview(study, judgment) {
  show("consent", study.title, [
    el("p", { class: "preview" }, "This is a preview. Accept the task to begin; nothing is recorded until then."),
    ...offer(study),
    el("h2", {}, "How it works"),
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
    ? [el("p", {}, `Before “${before}” there is a short test. You are paid for it whatever the result, and told how you did.`)]
    : paragraphs(study.consent.text);
  const pictures = `${study.images} pictures${study.blocks > 1 ? `, in ${study.blocks} parts with breaks` : ""}`;
  return [
    ...(study.flashes ? [flashWarning()] : []),
    ...intro,
    facts([
      ["Time", duration(study.minutes)],
      ["Pictures", pictures],
      ...(study.practice ? [[text("practice.offer"), text("practice.offer.count", { n: study.practice })]] : []),
      ["Pay", pay(study) || "none"],
      ...(study.keep_days ? [["Kept", `your id at the panel and technical details about your device, for ${days(study.keep_days)}; your answers stay, without these`]] : []),
    ]),
    ...(study.contact ? [el("p", {}, "Questions? You can write to ", contactLink(study.contact), ".")] : []),
  ];
}

/**
 * Return the instructions for a trial.
 * @param {PublicStudy} study
 * @param {Judgment} judgment
 * @param {boolean} isBack whether a session is resumed
 */
export function instructions(study, { each, choices, instructions }, isBack) {
  const keys = choices.flatMap(({ label, keys: [key] }, i) => [i ? " or " : "", el("kbd", {}, key.toUpperCase()), ` for ${label.toLowerCase()}`]);
  return [
    ...(isBack ? [el("p", {}, "You go on where you stopped. Every answer so far is stored.")] : []),
    ...instructions(study),
    el("p", { class: "with-keys" }, `For each ${each}, press `, ...keys, ", or use the buttons."),
    el("p", { class: "without-keys" }, `For each ${each}, tap ${choices.map(({ label }) => `“${label}”`).join(" or ")}.`),
    ...(study.feedback ? [el("p", {}, "After each answer you are told whether it was right. Nobody gets them all; follow your first impression.")] : []),
    ...(pay(study) ? [el("p", {}, `You are paid ${pay(study)}.`)] : []),
  ];
}

/** @param {PublicStudy} study */
function pay({ currency, pay: { base_usd_cents, bonus_usd_cents } }) {
  const base = base_usd_cents ? [money(base_usd_cents, currency)] : [];
  const bonus = bonus_usd_cents ? [`${money(bonus_usd_cents, currency)} for each right answer`] : [];
  return [...base, ...bonus].join(" and ");
}

function flashWarning() {
  const wantsLessMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return el(
    "section",
    { class: "warning" },
    el("h2", {}, "This task flashes pictures"),
    el("p", {}, "Pictures appear for a fraction of a second, followed by quick patterns. If you have epilepsy, or if flashing light makes you feel unwell, please do not take part."),
    ...(wantsLessMotion ? [el("p", {}, "Your device is set to show less motion. This task cannot be done without flashes, so you may want to say no.")] : []),
  );
}
