// @ts-check
/** The sequence of the task: entry, session, blocks, end. Later modules are loaded while consent is read. */

import { nameInPath } from "./address.js";
import { Refused, makeApi } from "../shared/api.js";
import { IS_PREVIEW, addressOf } from "../shared/base_path.js";
import { enter } from "./entry.js";
import { keepToken, tokenOf } from "./held_token.js";
import { listenToInteractions } from "./interactions.js";
import { listenToKeys } from "./keys.js";
import { browserLanguage } from "../texts/languages.js";
import { guardAgain, stopGuarding } from "./leaving.js";
import { isPreview, showPreview } from "./study_terms.js";
import { panelOf, showGivenUp } from "./panel_exit.js";
import { askWhetherTheSame, beginNextPerson, nextPersonActions, recognise } from "./session_person.js";
import { showElsewhere, showRefusal } from "./refusals.js";
import { el } from "../shared/elements.js";
import { ask } from "./screens.js";
import { holdTab, reloadPage } from "./storage.js";
import { speak, titleOf } from "./study_texts.js";
import { loadTextsBy, text, useLanguage } from "../texts/texts.js";
import { makeStuck, tellTrouble } from "./connection_messages.js";
import { makeVisit } from "./visit.js";

/** @typedef {import("../../types/api.js").PublicStudy} PublicStudy */
/** @typedef {Window & {openhypeEarly?: {path: string, reply: Promise<Response>} | null}} Page */

/** Error codes for a token that is no longer valid; after any other refusal the token is retained. */
const TOKEN_IS_DEAD = ["wrong_token", "unknown_session"];
/** Error codes for a session that goes on elsewhere: taken over there, or the picture was judged there. */
const IS_ELSEWHERE = ["stale_lease", "answer_conflict"];
const STUDY = document.body.dataset.study ?? nameInPath();

/** Return a sentence on what is safe meanwhile; empty before there can be any responses. */
const safe = () => (tokenOf(STUDY) ? text("trouble.answers_safe") : "");
/** @type {import("./connection_messages.js").About} */
const about = { contact: "", session: "", panel: null, giveUp: null, nextPerson: null };
/** @type {import("./visit.js").Api} */
let api = makeApi({
  random: Math.random,
  send: (path, init) => requestedEarly(path, init) ?? fetch(addressOf(path), init),
  onTrouble: (trouble) => tellTrouble(trouble, safe()),
  onStuck: makeStuck(about, safe, (isStuck) => (isStuck ? stopGuarding() : guardAgain())),
  reload: () => reloadPage(stopGuarding), // the session goes on where it was
});

loadTextsBy(api.load);
const EARLY_MS = 3000;
/**
 * The browser's language, for what is shown before the study's is known; English if it cannot be loaded soon.
 */
const early = Promise.race([
  useLanguage(browserLanguage(), {}, () => false).catch(() => {}),
  new Promise((resolve) => setTimeout(resolve, EARLY_MS)),
]);

listenToKeys(document);
listenToInteractions(window, document);
// a cached page may be outdated
addEventListener("pageshow", (event) => event.persisted && location.reload());
if (!document.body.dataset.unfit) visitStudy(STUDY).catch(showError);

/** @param {string} name */
async function visitStudy(name) {
  if (IS_PREVIEW) (await api.load(() => import("./preview.js"))).showBanner();
  if (document.body.dataset.demo) await playWithoutServer(document.body.dataset.demo);
  if (!name) throw new Refused("unknown_study", "", "");
  const study = await api.get(`/api/studies/${encodeURIComponent(name)}`);
  await recognise(study);
  await speak(study);
  await haveTab(name);
  document.title = titleOf(study);
  about.contact = study.contact;
  about.panel = panelOf(study);
  about.giveUp = () => showGivenUp(api, study, about);
  about.nextPerson = { actions: nextPersonActions(study), begin: () => beginNextPerson(study) };
  if (isPreview(study)) {
    const { judgmentOf } = await api.load(() => import("./judgment.js"));
    return showPreview(study, await api.load(() => judgmentOf(study)));
  }
  const former = await resumed(name);
  if (former && !former.done) await askWhetherTheSame(study);
  const visit = former ?? (await enter({ api, resumed, begun, fitMedium, playing, showError }, study));
  if (visit) await playToEnd(study, /** @type {import("./visit.js").Ended} */ (visit));
}

/**
 * Load the module that runs the blocks and shows the end; called early, so that it is loaded in time.
 * @param {() => boolean} [isAwaited] whether somebody is waiting for it now
 */
function playing(isAwaited) {
  return api.load(() => import("./playing.js"), isAwaited);
}

/** @param {PublicStudy} study */
async function fitMedium(study) {
  if (!study.clip) return true;
  const { fitClips } = await api.load(() => import("./clip_fitness.js"));
  return fitClips(api, study, study.clip);
}

/**
 * Return the reply that `first.js` requested while this module was loading; null if it did not.
 * @param {string} path
 * @param {RequestInit} init
 * @returns {Promise<Response> | null}
 */
function requestedEarly(path, init) {
  const page = /** @type {Page} */ (window);
  const early = page.openhypeEarly;
  if (early?.path !== path) return null;
  page.openhypeEarly = null;
  /** @type {Promise<never>} */
  const stopped = new Promise((_, reject) => init.signal?.addEventListener("abort", reject));
  return Promise.race([early.reply, stopped]);
}

/**
 * Replace the server by a demo within this page.
 * @param {string} file URL of the demo's description
 */
async function playWithoutServer(file) {
  const { makeDemo } = await api.load(() => import("./demo.js"));
  const demo = makeDemo(/** @type {import("./demo.js").Site} */ (await api.get(file)), {
    picture: api.picture,
    load: api.load,
    random: Math.random,
    hash: location.hash,
  });
  api = /** @type {import("./visit.js").Api} */ (/** @type {unknown} */ (demo));
}

/**
 * Make sure that this tab is the only one that runs the study.
 * @param {string} name
 */
async function haveTab(name) {
  if (await holdTab(name, false, goElsewhere)) return;
  await ask(
    "error",
    text("tab.other"),
    [el("p", {}, text("tab.other_help"))],
    [{ label: text("tab.here"), value: "here", primary: true }],
  );
  await holdTab(name, true, goElsewhere);
}

function goElsewhere() {
  stopGuarding();
  showElsewhere(STUDY);
}

/**
 * Resume the session stored in this browser, or that of a token; return null if there is none.
 * @param {string} name
 */
async function resumed(name, token = tokenOf(name)) {
  if (!token) return null;
  about.session = token.split(".")[0];
  try {
    const { state } = await api.post(`/api/sessions/${about.session}/resume`, {}, token);
    return visitOf(token, state);
  } catch (error) {
    if (!(error instanceof Refused && TOKEN_IS_DEAD.includes(error.code))) throw error;
    keepToken(name, null);
    about.session = "";
    return null;
  }
}

/**
 * Return the visit of a session that was just opened.
 * @param {PublicStudy} study
 * @param {import("../../types/api.js").Opened} opened
 */
function begun(study, opened) {
  keepToken(study.study, opened.token);
  return visitOf(opened.token, opened.state);
}

/**
 * @param {string} token
 * @param {import("../../types/api.js").State} state
 */
function visitOf(token, state) {
  about.session = state.session;
  return makeVisit(api, token, state);
}

/**
 * @param {PublicStudy} study
 * @param {import("./visit.js").Visit} visit
 */
async function playToEnd(study, visit) {
  const { askQuestions, playBlocks, showDone } = await playing();
  if (visit.state.stage === "block") await playBlocks(api, study, visit);
  if (visit.done) await askQuestions(visit);
  if (visit.done) await showDone(study, /** @type {import("./visit.js").Ended} */ (visit));
}

/**
 * @param {unknown} error
 * @param {string | null} [back] address back to the panel
 */
async function showError(error, back = null) {
  stopGuarding();
  await early;
  if (error instanceof Refused && IS_ELSEWHERE.includes(error.code)) return showElsewhere(STUDY);
  showRefusal(error, about, back);
}
