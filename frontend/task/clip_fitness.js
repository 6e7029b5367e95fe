// @ts-check
/** Checks before consent whether this browser and device can play a study's clips; if not, says so. */

import { glanceAtDisplay } from "./display.js";
import { exitLink, panelOf, sayGoodbye, wayBack } from "./panel_exit.js";
import { el } from "../shared/elements.js";
import { within } from "../shared/patience.js";
import { ask } from "./screens.js";
import { loadTexts, text } from "../texts/texts.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */
/** @typedef {NonNullable<PublicStudy["clip"]>} ClipForm */

const BYTES_OF_PIXEL = 4;
const MOST_BYTES = 400e6;
/** Of the memory that the browser reports, in GiB, and rounds: a page that takes more may be ended. */
const SHARE_OF_MEMORY = 1 / 8;
const SLOWEST = 0.98; // refreshes for each frame; as `cadenceOf`
const LINK_MS = 4000;

/**
 * Return the memory that the decoded clips of one trial take.
 * @param {Pick<ClipForm, "frames" | "width" | "height">} clip
 * @param {number} each clips of a trial
 */
export function bytesOfTrial({ frames, width, height }, each) {
  return each * frames * width * height * BYTES_OF_PIXEL;
}

/**
 * Return the key of the text on why clips cannot be played here, or null; the display's rate is not asked.
 * @param {ClipForm} clip
 * @param {number} each clips of a trial
 * @param {{decoder: Pick<typeof VideoDecoder, "isConfigSupported"> | undefined, memory_gib: number |
 *   undefined}} browser
 */
export async function obstacle(clip, each, { decoder, memory_gib }) {
  if (!decoder) return "clip.no_decoder";
  const { codec, width, height } = clip;
  const { supported } = await decoder
    .isConfigSupported({ codec, codedWidth: width, codedHeight: height })
    .catch(() => ({ supported: false }));
  if (!supported) return "clip.no_codec";
  const most = Math.min(MOST_BYTES, memory_gib ? memory_gib * 2 ** 30 * SHARE_OF_MEMORY : Infinity);
  return bytesOfTrial(clip, each) > most ? "clip.no_memory" : null;
}

/**
 * Return whether this device can play a study's clips; if not, say why, until it can or the evaluator leaves.
 * @param {import("./visit.js").Api} api
 * @param {PublicStudy} study
 * @param {ClipForm} clip
 * @returns {Promise<boolean>} false after the final page was shown
 */
export async function fitClips(api, study, clip) {
  const each = study.trial_shows === "pair" ? 2 : 1;
  const [count, seconds] = clip.fps;
  for (;;) {
    const key = await obstacle(clip, each, {
      decoder: globalThis.VideoDecoder,
      memory_gib: /** @type {Navigator & {deviceMemory?: number}} */ (navigator).deviceMemory,
    });
    const { has_frames, refresh_hz } = await glanceAtDisplay();
    const isSlow = has_frames && refresh_hz < (SLOWEST * count) / seconds;
    if (!key && !isSlow) return true;
    await loadTexts();
    const back = await within(LINK_MS, exitLink(api, study, "unfit_device")).catch(() => study.panel_home);
    const why = key
      ? text(key)
      : text("display.too_slow", { hz: Math.floor(refresh_hz), needed: Math.ceil(count / seconds) });
    const answer = await ask(
      "check",
      text("clip.unfit"),
      [
        el("p", {}, why),
        el("p", { class: "quiet" }, text("display.no_fault_nothing")),
        ...(back ? [] : wayBack(null, panelOf(study))),
      ],
      [
        { label: text("display.check_again"), value: "again", primary: true },
        ...(back ? [{ label: text("display.leave"), value: "leave" }] : []),
      ],
    );
    if (answer === "leave") {
      sayGoodbye(back);
      return false;
    }
  }
}
