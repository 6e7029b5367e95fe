// @ts-check
/**
 * A demonstration of a study that could not show its flashes: the result of the pictures that it did show,
 * and the same question without flashes, which every device can show.
 */

import { addressOf } from "../shared/base_path.js";
import { texts } from "../texts/more_en.js";
import { el } from "../shared/elements.js";
import { addTexts, percent, sentences, text } from "../texts/texts.js";

addTexts(texts);

/** @typedef {import("./debrief.js").Debrief} Debrief */

/** The fragment with which a demo without a server asks the same without flashes. */
export const WITHOUT_FLASHES = "#without-flashes";

/**
 * Return the result of a part in one line.
 * @param {Debrief} debrief
 */
export function headline({ pictures }) {
  const n = pictures.length;
  const right = pictures.filter(({ truth, response }) => truth === response).length;
  return n ? text("demo.part", { right, n, share: percent(right / n) }) : text("demo.none");
}

/**
 * Return of what part the result is, why, and what helps.
 * @param {Debrief} debrief
 * @param {boolean} mayRepeat
 * @param {import("./visit.js").Ended} visit
 */
export function result({ pictures, model }, mayRepeat, { progress, done }) {
  const counts = { n: pictures.length, total: progress.total };
  const why = done.paid_in_part ? "end.part_why" : "end.early_why";
  return [
    el(
      "p",
      {},
      sentences(
        text(pictures.length ? "demo.part_of" : "demo.none_of", counts),
        model && pictures.length ? text("debrief.made_by", { model }) : "",
      ),
    ),
    ...(progress.replaced ? [el("p", {}, text(why))] : []),
    ...(mayRepeat && !(progress.replaced && done.paid_in_part)
      ? [el("p", {}, text("flash.wrong_help"))]
      : []),
  ];
}

/**
 * Return what else can be played where flashes fail: in words, as actions, and a function that opens the one
 * that was chosen, and leaves the page.
 * @param {Pick<import("./visit.js").Api, "get">} api
 * @param {import("../../types/api.js").PublicStudy} study
 * @param {Debrief | null} [debrief] of what was played
 */
export async function otherPlays({ get }, study, debrief = null) {
  const { untimed, start } = await addresses(get, study);
  const primary = debrief?.pictures.length === 0;
  const actions = [
    ...(untimed ? [{ label: text("demo.without_flashes"), value: untimed, primary }] : []),
    ...(start ? [{ label: text("end.start_page"), value: start }] : []),
  ];
  /** @param {string} answer */
  async function open(answer) {
    if (!actions.some(({ value }) => value === answer)) return;
    location.assign(answer);
    if (answer === WITHOUT_FLASHES) location.reload();
    await new Promise(() => {});
  }
  return { words: untimed ? [el("p", {}, text("demo.without_flashes_help"))] : [], actions, open };
}

/**
 * Return the addresses of the same question without flashes, and of the start page; null where there is none.
 * @param {import("./visit.js").Api["get"]} get
 * @param {import("../../types/api.js").PublicStudy} study
 * @returns {Promise<{untimed: string | null, start: string | null}>}
 */
async function addresses(get, study) {
  if (document.body.dataset.demo) return { untimed: study.flashes ? WITHOUT_FLASHES : null, start: null };
  try {
    const { studies } = /** @type {import("./start.js").DemoStatus} */ (
      await get("/api/demo", undefined, () => false)
    );
    const found = studies.find(({ method, is_ready }) => method === "infinity" && is_ready);
    return { untimed: found ? addressOf(`/s/${found.study}#demo`) : null, start: addressOf("/") };
  } catch {
    return { untimed: null, start: null }; // a server of studies has no start page
  }
}
