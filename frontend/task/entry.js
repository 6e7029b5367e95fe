// @ts-check
/** From the link to an open session: exclusion criteria, then consent, then the qualification if any. */

import { Refused } from "../shared/api.js";
import { keepToken } from "./held_token.js";
import { languagePicker } from "./language_picker.js";
import { offer } from "./study_terms.js";
import { exitLink, panelParameters, pathOf, sayGoodbye, signature } from "./panel_exit.js";
import { EXITS } from "./refusals.js";
import { el } from "../shared/elements.js";
import { ask, show } from "./screens.js";
import { readNumber, readPass, writePass } from "./storage.js";
import { titleOf } from "./study_texts.js";
import { currentLanguage, loadTexts, text } from "../texts/texts.js";
import { translatedTo } from "./translation.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */
/** @typedef {import("../../types/api.js").Opened} Opened */

/**
 * @typedef {import("./visit.js").Visit} Visit
 * @typedef {object} World
 * @property {import("./visit.js").Api} api
 * @property {(study: string, token?: string) => Promise<Visit | null>} resumed the visit of a session stored
 *   in this browser, or of a token
 * @property {(study: PublicStudy, opened: Opened) => Visit} begun
 * @property {(study: PublicStudy) => Promise<boolean>} fitMedium whether this device can show the stimuli; if
 *   not, the evaluator was told
 * @property {(isAwaited?: () => boolean) => Promise<typeof import("./playing.js")>} playing
 * @property {(error: unknown, back?: string | null) => void} showError
 */

/**
 * Check admission and the device, ask for consent, and open a session; return null if one of them fails.
 * @param {World} world
 * @param {PublicStudy} study
 */
export async function enter(world, study) {
  const { api } = world;
  const looked = study.flashes ? firstLook(api) : null;
  looked?.catch(() => {}); // awaited below, unless admission is refused first
  try {
    const token = await vouchedFor(api, study);
    if (token) {
      keepToken(study.study, token);
      return await world.resumed(study.study, token);
    }
  } catch (error) {
    return turnedAway(world, study, error);
  }
  if (looked) {
    const { fitDisplay } = await api.load(() => import("./fitness.js"));
    await loadTexts();
    if (!(await fitDisplay(api, study, text("display.no_fault_nothing"), await looked))) return null;
  }
  if (!(await world.fitMedium(study))) return null;
  if (!(await consented(world, study))) return sayGoodbye(await exitLink(api, study, "no_consent"));
  try {
    return await admitted(world, study);
  } catch (error) {
    return turnedAway(world, study, error);
  }
}

const PLACE_TRIES = 12;
const PLACE_PAUSE_MS = 2500;

/**
 * Request admission and store the pass that replaces the panel's signature, which expires after two minutes.
 * The panel may not know a place yet in the first moments after it was taken. Return the token of the
 * person's own session, if it was begun elsewhere.
 * @param {import("./visit.js").Api} api
 * @param {PublicStudy} study
 */
async function vouchedFor(api, study) {
  for (let tried = 1; ; tried += 1) {
    try {
      const { pass, token } = await api.post(`${pathOf(study)}/admission`, {
        panel: panelParameters(study),
        signature: signature(study),
      });
      if (pass) writePass(study.study, pass);
      return token;
    } catch (error) {
      const code = error instanceof Refused ? error.code : "";
      if (code === "unsigned" && readPass(study.study)) {
        writePass(study.study, null);
      } else if (code !== "unknown_place" || tried === PLACE_TRIES) {
        throw error;
      } else {
        show("check", text("panel.looking"), [el("p", {}, text("panel.looking_wait"))]);
        await new Promise((resolve) => setTimeout(resolve, PLACE_PAUSE_MS));
      }
    }
  }
}

/**
 * Measure the display briefly while the server checks admission; it is measured again before each block.
 * @param {import("./visit.js").Api} api
 */
async function firstLook(api) {
  show("check", text("display.checking"), [el("p", {}, text("display.checking_wait"))]);
  const { glanceAtDisplay } = await api.load(() => import("./display.js"));
  return glanceAtDisplay();
}

/**
 * @param {World} world
 * @param {PublicStudy} study
 */
async function admitted(world, study) {
  const opened = await open(world, study, null);
  if (opened.stage === "session") return world.begun(study, opened);
  return afterQualification(world, study, opened);
}

/**
 * @param {World} world
 * @param {PublicStudy} study
 * @param {import("../../types/api.js").QualificationFirst} first `token`: of a test that was begun elsewhere
 * @returns {Promise<Visit | null>}
 */
async function afterQualification(world, study, { qualification, token }) {
  const { api } = world;
  const { askQuestions, playBlocks, showResult } = await world.playing();
  let visit = await world.resumed(qualification.study);
  if (!visit && token) {
    keepToken(qualification.study, token);
    visit = await world.resumed(qualification.study, token);
  }
  if (!visit) {
    if (!(await consented(world, qualification, titleOf(study))))
      return sayGoodbye(await exitLink(api, study, "no_consent"));
    visit = world.begun(qualification, /** @type {Opened} */ (await open(world, qualification, null)));
  }
  if (visit.state.stage === "block") await playBlocks(api, qualification, visit);
  if (!visit.done) return null; // the device could not show the pictures
  await askQuestions(visit);
  const tested = /** @type {import("./visit.js").Tested} */ (visit);
  const { done } = tested;
  if (!done.qualification.passed && !done.qualification.may_retake) {
    done.redirect_url = (await exitLink(api, study, "screened_out", visit.token)) ?? done.redirect_url;
  }
  if ((await showResult(tested, qualification, true)) === "again") keepToken(qualification.study, null);
  const opened = await open(world, study, visit.token);
  if (opened.stage === "session") return world.begun(study, opened);
  keepToken(qualification.study, null); // the test may be taken again: not passed, or the pass expired
  return afterQualification(world, study, opened);
}

/**
 * @param {World} world
 * @param {PublicStudy} study
 * @param {string | null} qualificationToken
 */
function open({ api }, study, qualificationToken) {
  return api.post(`${pathOf(study)}/sessions`, {
    consent_version: study.consent.version,
    panel: panelParameters(study),
    device: {
      user_agent: navigator.userAgent.slice(0, 290),
      screen_width_px: screen.width,
      screen_height_px: screen.height,
      pixel_ratio: devicePixelRatio,
      language: navigator.language,
      shown_language: currentLanguage(),
      translated: translatedTo(),
      ...(study.shared_computer ? { person_at_computer: readNumber(study.study) } : {}),
    },
    qualification_token: qualificationToken,
    signature: signature(study),
  });
}

/**
 * @param {World} world
 * @param {PublicStudy} study
 * @param {unknown} error
 * @returns {Promise<null>}
 */
async function turnedAway({ api, showError }, study, error) {
  const outcome = error instanceof Refused ? EXITS[error.code] : undefined;
  showError(error, outcome ? await exitLink(api, study, outcome) : null);
  return null;
}

/**
 * Ask for consent, in the language that the evaluator chooses if the study lets them; the modules that run
 * the blocks are loaded while it is read.
 * @param {World} world
 * @param {PublicStudy} study
 * @param {string} [before] title of the study that this qualification opens
 */
async function consented({ api, playing }, study, before) {
  const unawaited = () => false;
  playing(unawaited)
    .then(({ prepare }) => prepare(api, study, unawaited))
    .catch(() => {}); // loaded again when needed
  for (;;) {
    const answer = await askForConsent(study, before);
    if (answer !== "again") return answer === "yes";
  }
}

/**
 * @param {PublicStudy} study
 * @param {string} [before]
 * @returns {Promise<string>} `yes`, `no`, or `again` in a language chosen just now
 */
function askForConsent(study, before) {
  document.title = titleOf(study);
  return new Promise((resolve) => {
    const picker = before ? [] : languagePicker(study, () => resolve("again"));
    ask(
      "consent",
      titleOf(study),
      [...picker, ...offer(study, before)],
      [
        { label: text("consent.agree"), value: "yes", primary: true },
        { label: text("consent.decline"), value: "no" },
      ],
    ).then(resolve);
  });
}
