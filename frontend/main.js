// @ts-check
/** The way through the task: consent, check, session, blocks, end. */

import { Refused, makeApi } from "./api.js";
import { enterFullScreen, leaveFullScreen, measureDisplay, screenAtHand, unfitness } from "./display.js";
import { goBack, sayGoodbye, showDone, showResult } from "./endings.js";
import { listenToInteractions } from "./interactions.js";
import { listenToKeys, onTrialKeys } from "./keys.js";
import { ask, days, dollars, duration, el, facts, hideProgress, notice, paragraphs, show } from "./screens.js";
import { holdTab, readToken, writeToken } from "./storage.js";
import { playBlock } from "./trials.js";
import { makeVisit } from "./visit.js";
import { withdrawalNote } from "./withdrawal.js";

/** What the server says of a token that opens nothing; any other refusal must not cost the session. */
const TOKEN_IS_DEAD = ["wrong_token", "unknown_session"];
const STUDY = document.body.dataset.study ?? decodeURIComponent(location.pathname.split("/")[2] ?? "");

/** @type {import("./visit.js").Api} */
let api = makeApi({
  random: Math.random,
  onTrouble: (isOffline) =>
    notice(isOffline ? "The connection is lost. Your answers are safe; trying again…" : ""),
});
let showEnd = showDone;

listenToKeys(document);
listenToInteractions(window, document);
visitStudy(STUDY).catch((error) => showError(error));

/** @param {string} name */
async function visitStudy(name) {
  await haveTab(name);
  if (document.body.dataset.demo) await playWithoutServer(document.body.dataset.demo);
  const study = await api.get(`/api/studies/${encodeURIComponent(name)}`);
  document.title = study.title;
  if (isPreview(study)) return showPreview(study);
  const visit = (await resumed(name)) ?? (await entered(study));
  if (visit) await playToEnd(study, visit);
}

/**
 * Ask a demo in this page instead of the server.
 * @param {string} file that describes it
 */
async function playWithoutServer(file) {
  const { makeDemo } = await import("./demo.js");
  const demo = makeDemo(await api.get(file), { picture: api.picture, random: Math.random });
  api = demo;
  showEnd = demo.showEnd;
}

/**
 * Make sure that this tab is the one that plays.
 * @param {string} name
 */
async function haveTab(name) {
  if (await holdTab(name, false, showElsewhere)) return;
  await ask(
    "error",
    "This task is open in another tab",
    [el("p", {}, "You can go on there, or move it here. Nothing you have answered is lost.")],
    [{ label: "Continue here", value: "here", primary: true }],
  );
  await holdTab(name, true, showElsewhere);
}

/**
 * The session this browser holds, taken up where it stands; null if it holds none.
 * @param {string} name
 */
async function resumed(name) {
  const token = readToken(name);
  if (!token) return null;
  try {
    const { state } = await api.post(`/api/sessions/${token.split(".")[0]}/resume`, {}, token);
    return makeVisit(api, token, state);
  } catch (error) {
    if (!(error instanceof Refused && TOKEN_IS_DEAD.includes(error.code))) throw error;
    writeToken(name, null);
    return null;
  }
}

/**
 * Consent, check of the device, and the opening of a session; null where it ends before.
 * @param {any} study
 */
async function entered(study) {
  if (study.paused) throw new Refused("study_paused", "", "");
  try {
    await api.post(`${path(study)}/admission`, { panel: panelParameters(study), signature: signature(study) });
  } catch (error) {
    return turnedAway(study, error);
  }
  if (!(await consented(study))) return sayGoodbye(await wayBack(study, "no_consent"));
  if (study.flashes && !(await fitDisplay(study))) return null;
  try {
    return await admitted(study);
  } catch (error) {
    return turnedAway(study, error);
  }
}

/** @param {any} study */
async function admitted(study) {
  const opened = await open(study, null);
  if (opened.stage === "session") return begun(study, opened);
  return afterQualification(study, opened.qualification);
}

/**
 * @param {any} study
 * @param {any} qualification
 */
async function afterQualification(study, qualification) {
  let visit = await resumed(qualification.study);
  if (!visit) {
    if (!(await consented(qualification, study.title))) return sayGoodbye(await wayBack(study, "no_consent"));
    visit = begun(qualification, await open(qualification, null));
  }
  if (visit.state.stage === "block") await playBlocks(qualification, visit);
  const done = visit.done;
  if (!done.qualification.passed && !done.qualification.may_retake) {
    done.redirect_url = (await wayBack(study, "screened_out", visit.token)) ?? done.redirect_url;
  }
  if ((await showResult(visit, true)) === "again") writeToken(qualification.study, null);
  const opened = await open(study, visit.token);
  if (opened.stage === "session") return begun(study, opened);
  writeToken(qualification.study, null); // the test can be taken anew, the pass having run out or not been had
  return afterQualification(study, opened.qualification);
}

/**
 * @param {any} study
 * @param {any} opened
 */
function begun(study, opened) {
  writeToken(study.study, opened.token);
  return makeVisit(api, opened.token, opened.state);
}

/**
 * @param {any} study
 * @param {string | null} qualificationToken
 */
function open(study, qualificationToken) {
  return api.post(`${path(study)}/sessions`, {
    consent_version: study.consent.version,
    panel: panelParameters(study),
    device: {
      user_agent: navigator.userAgent.slice(0, 290),
      screen_width_px: screen.width,
      screen_height_px: screen.height,
      pixel_ratio: devicePixelRatio,
      language: navigator.language,
    },
    qualification_token: qualificationToken,
    signature: signature(study),
  });
}

/** @param {any} study */
const path = (study) => `/api/studies/${encodeURIComponent(study.study)}`;

/**
 * What the panel's link says.
 * @param {any} study
 * @returns {Record<string, string>}
 */
function panelParameters(study) {
  const query = new URLSearchParams(location.search);
  const names = study.panel_parameters.filter((/** @type {string} */ name) => query.get(name));
  return Object.fromEntries(names.map((/** @type {string} */ name) => [name, query.get(name)]));
}

/**
 * What the panel's link vouches with; null where the study asks for nothing of the kind.
 * @param {any} study
 */
function signature(study) {
  return study.signature_parameter ? new URLSearchParams(location.search).get(study.signature_parameter) : null;
}

/**
 * The panel's address for those who take no part; null where it has none.
 * @param {any} study
 * @param {"no_consent" | "unfit_device" | "screened_out"} outcome
 * @param {string | null} [qualificationToken]
 * @returns {Promise<string | null>}
 */
async function wayBack(study, outcome, qualificationToken = null) {
  const body = { outcome, panel: panelParameters(study), qualification_token: qualificationToken, signature: signature(study) };
  try {
    return (await api.post(`${path(study)}/exit`, body)).redirect_url;
  } catch {
    return null; // the page ends in any case, and says what it can
  }
}

/** What refuses a person who has a place at the panel, and the panel's outcome for it. */
const TURNED_AWAY = /** @type {Record<string, "no_consent" | "screened_out">} */ ({
  took_part_before: "no_consent",
  study_full: "no_consent",
  not_qualified: "screened_out",
});

/**
 * @param {any} study
 * @param {any} error
 * @returns {Promise<null>}
 */
async function turnedAway(study, error) {
  const outcome = TURNED_AWAY[error?.code];
  const back = outcome ? await wayBack(study, outcome) : null;
  showError(error, back);
  return null;
}

/** @param {any} study */
function isPreview(study) {
  return study.preview !== null && new URLSearchParams(location.search).get(study.preview[0]) === study.preview[1];
}

/**
 * The task as it will be, to look at before it is accepted at the panel.
 * @param {any} study
 */
function showPreview(study) {
  show("consent", study.title, [
    el("p", { class: "preview" }, "This is a preview. Accept the task to begin; nothing is recorded until then."),
    ...offer(study),
    el("h2", {}, "How it works"),
    ...instructions(study, false),
  ]);
}

/**
 * @param {any} study
 * @param {import("./visit.js").Visit} visit
 */
async function playToEnd(study, visit) {
  if (visit.state.stage === "block") await playBlocks(study, visit);
  if (visit.done) await showEnd(study, visit);
}

/**
 * @param {any} study
 * @param {import("./visit.js").Visit} visit
 */
async function playBlocks(study, visit) {
  const blocks = visit.state.protocol.block_images.length;
  const isBack = visit.progress.answered > 0;
  await ask("instructions", isBack ? "Welcome back" : "How it works", [...instructions(study, isBack), ...withdrawing(visit)], [
    { label: isBack ? "Continue" : "Start", value: "start", primary: true },
  ]);
  while (!visit.done) {
    const block = visit.next.block;
    if (study.flashes && visit.state.protocol.full_screen) await enterFullScreen();
    const display = study.flashes ? await fitDisplay(study) : null;
    if (study.flashes && !display) return;
    await playBlock(visit, display);
    if (!visit.done) {
      await ask(
        "break",
        "Time for a break",
        [
          el("p", {}, `Part ${block + 1} of ${blocks} is done: ${visit.progress.answered} of ${visit.progress.total} pictures. All your answers are stored.`),
          el("p", {}, "Rest your eyes for as long as you like."),
          ...withdrawing(visit),
        ],
        [{ label: "Continue", value: "on", primary: true }],
      );
    }
  }
  await leaveFullScreen();
  hideProgress();
}

/**
 * The note on how to withdraw; none in a demo, which keeps nothing.
 * @param {import("./visit.js").Visit} visit
 */
function withdrawing({ state: { withdrawal_url } }) {
  return withdrawal_url ? [withdrawalNote(withdrawal_url)] : [];
}

/** @param {any} study */
function pay({ pay: { base_usd_cents, bonus_usd_cents } }) {
  const base = base_usd_cents ? [dollars(base_usd_cents)] : [];
  const bonus = bonus_usd_cents ? [`${dollars(bonus_usd_cents)} for each right answer`] : [];
  return [...base, ...bonus].join(" and ");
}

/**
 * @param {any} study
 * @param {string} [before] title of the study that this qualification opens
 */
async function consented(study, before) {
  const answer = await ask("consent", study.title, offer(study, before), [
    { label: "I agree and want to take part", value: "yes", primary: true },
    { label: "No, thank you", value: "no" },
  ]);
  return answer === "yes";
}

/**
 * What is asked, for how long and for what pay.
 * @param {any} study
 * @param {string} [before]
 */
function offer(study, before) {
  const intro = before
    ? [el("p", {}, `Before “${before}” there is a short test. You are paid for it whatever the result, and told how you did.`)]
    : paragraphs(study.consent.text);
  const pictures = `${study.images} pictures${study.blocks > 1 ? `, in ${study.blocks} parts with breaks` : ""}`;
  return [
    ...intro,
    facts([
      ["Time", duration(study.minutes)],
      ["Pictures", pictures],
      ["Pay", pay(study) || "none"],
      ...(study.keep_days ? [["Kept", `your id at the panel and what your browser tells of your device, for ${days(study.keep_days)}; your answers stay, without these`]] : []),
    ]),
    ...(study.qualification
      ? [el("p", {}, `A short test of ${duration(study.qualification.minutes)} comes first, unless you passed it before. It is paid as well.`)]
      : []),
    ...(study.flashes ? [flashWarning()] : []),
  ];
}

function flashWarning() {
  const wantsLessMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
  return el(
    "section",
    { class: "warning" },
    el("h2", {}, "This task flashes pictures"),
    el("p", {}, "Pictures appear for a fraction of a second, followed by quick patterns. If you have epilepsy, or flashing light makes you unwell, please do not take part."),
    ...(wantsLessMotion ? [el("p", {}, "Your device asks for less motion. This task cannot do without flashes; you may want to decline.")] : []),
  );
}

/**
 * The display, measured and found fit for flashes; tells kindly where it is not, and checks again when asked.
 * Null where the person gives up, and the page has ended.
 * @param {any} study
 */
async function fitDisplay(study) {
  for (;;) {
    show("check", "Checking your screen", [el("p", {}, "This takes two seconds.")]);
    const display = await measureDisplay();
    const reasons = unfitness(display, screenAtHand(), study.refresh_hz);
    if (reasons.length === 0) return display;
    const back = await wayBack(study, "unfit_device");
    const answer = await ask(
      "check",
      "This device cannot show the task",
      [
        ...reasons.map((reason) => el("p", {}, reason)),
        el("p", { class: "quiet" }, "This is no fault of yours. Nothing is lost."),
      ],
      [
        { label: "Check again", value: "again", primary: true },
        ...(back ? [{ label: "I cannot take part", value: "leave" }] : []),
      ],
    );
    if (answer === "leave") {
      sayGoodbye(back);
      return null;
    }
  }
}

/**
 * @param {any} study
 * @param {boolean} isBack
 */
function instructions(study, isBack) {
  return [
    ...(isBack ? [el("p", {}, "You go on where you stopped. Every answer so far is stored.")] : []),
    el("p", {}, "You will see pictures, one at a time. Half of them are real; half were made by a computer. They come in random order."),
    el("p", {}, "For each one, press ", el("kbd", {}, "F"), " for fake or ", el("kbd", {}, "R"), " for real, or use the buttons."),
    ...(study.feedback ? [el("p", {}, "After each answer you are told whether it was right. Nobody gets them all; follow your first impression.")] : []),
    ...(pay(study) ? [el("p", {}, `You are paid ${pay(study)}.`)] : []),
  ];
}

function showElsewhere() {
  hideProgress();
  onTrialKeys(null);
  ask(
    "error",
    "The task goes on in another tab",
    [el("p", {}, "You can close this one. Every answer you gave is stored.")],
    [{ label: "Continue here instead", value: "here", primary: true }],
  ).then(async () => {
    await holdTab(STUDY, true, () => {}); // else the page asks the same again after loading
    location.reload();
  });
}

const PLAIN = /** @type {Record<string, [string, string]>} */ ({
  unknown_study: ["There is no such study", "Please check the link you were given."],
  study_paused: ["The study takes a break", "Nobody can begin just now. Please come back later; thank you for your patience."],
  withdrawn: ["You have withdrawn", "Your answers are deleted, and what you earned is paid all the same. Thank you for your time."],
  study_full: ["The study is full", "All places are taken for now. Thank you for coming."],
  already_started: ["You have started already", "Your session is open in another browser. Please go on there; your answers are stored."],
  already_finished: ["You have taken part already", "Each person takes part once. Thank you for your answers; they are stored."],
  returned: ["Your place was given back", "At the panel, your place in this study was returned or ran out of time, so it has gone to someone else. Thank you for coming."],
  took_part_before: ["Thank you for coming back", "You took part in another study of ours, and this one is for people who have not seen such pictures before. You have done nothing wrong."],
  unknown_link: ["This link does not open the study", "Each link works for one person. Please use the one you were given, in full."],
  unsigned: ["Please come in from the panel again", "Your link has run out, or is not whole. Please open the study anew at the panel; nothing is lost, and you have done nothing wrong."],
  not_qualified: ["Thank you", "This study is for people who passed its test. You are paid for the test you took."],
});

/**
 * @param {any} error
 * @param {string | null} [back] to the panel
 */
function showError(error, back = null) {
  if (error instanceof Refused && error.code === "stale_lease") {
    showElsewhere();
    return;
  }
  console.error(error);
  hideProgress();
  const [title, text] = PLAIN[error?.code] ?? [
    "Something went wrong on our side",
    "Every answer you gave so far is stored, and your pay is safe. Load this page again to go on where you stopped.",
  ];
  const quote = error?.id ? [el("p", { class: "quiet" }, `If you write to us, please quote ${error.id}.`)] : [];
  onTrialKeys(null);
  if (PLAIN[error?.code]) {
    const next = back ? [el("p", {}, "Please go back, so that your place is given to someone else.")] : [];
    show("error", title, [el("p", {}, text), ...(TURNED_AWAY[error.code] === "no_consent" ? next : []), ...quote, ...goBack(back)]);
    return;
  }
  const again = [{ label: "Load the page again", value: "again", primary: true }];
  ask("error", title, [el("p", {}, text), ...quote], again).then(() => location.reload());
}
