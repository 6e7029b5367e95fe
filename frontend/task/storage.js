// @ts-check
/**
 * The only module that uses localStorage, sessionStorage, and the lock that restricts a session to one tab.
 * If storage throws (blocked, full), the task runs without it: a reload then starts again.
 */

import { BASE } from "../shared/base_path.js";
import { within } from "../shared/patience.js";

const LOCK_MS = 5000;

let person = "";

/**
 * Use what is stored for one person only: at a shared computer, others leave theirs in the same browser.
 * @param {string} id a digest, since the next person can read it; "" where the link names nobody
 */
export function storeFor(id) {
  person = id;
}

/**
 * The base tells a preview, or another server at the same address, from the study itself.
 * @param {string} study
 */
const key = (study) => `openhype:${BASE}${study}${person && `:${person}`}`;

const LOCAL = () => localStorage;
const OF_TAB = () => sessionStorage;

/**
 * @param {() => Storage} storage
 * @param {string} name
 * @returns {string | null}
 */
function read(storage, name) {
  try {
    return storage().getItem(name);
  } catch {
    return null;
  }
}

/**
 * @param {() => Storage} storage
 * @param {string} name
 * @param {string | null} value null removes it
 */
function write(storage, name, value) {
  try {
    if (value === null) storage().removeItem(name);
    else storage().setItem(name, value);
  } catch {
    // done without
  }
}

/**
 * Return the token of this browser's session in a study.
 * @param {string} study
 */
export const readToken = (study) => read(LOCAL, key(study));

/**
 * @param {string} study
 * @param {string | null} token null removes it
 */
export const writeToken = (study, token) => write(LOCAL, key(study), token);

/** @param {string} study */
const languageKey = (study) => `${key(study)}:language`;

/**
 * Return the language that the evaluator chose for a study, as stored.
 * @param {string} study
 */
export const readLanguage = (study) => read(LOCAL, languageKey(study));

/**
 * @param {string} study
 * @param {string} language
 */
export const writeLanguage = (study, language) => write(LOCAL, languageKey(study), language);

/** @param {string} study */
const passKey = (study) => `${key(study)}:pass`;

/**
 * Return the pass that this tab received for the panel's link; it lasts as long as the tab.
 * @param {string} study
 */
export const readPass = (study) => read(OF_TAB, passKey(study));

/**
 * @param {string} study
 * @param {string | null} pass null removes it
 */
export const writePass = (study, pass) => write(OF_TAB, passKey(study), pass);

/** @param {string} study */
const numberKey = (study) => `${key(study)}:number`;

/**
 * Return which person this is at a shared computer, from 1.
 * @param {string} study
 */
export const readNumber = (study) => Number(read(LOCAL, numberKey(study)) ?? 1);

/**
 * Forget what a person at a shared computer chose and did not send, and count the next one.
 * @param {string[]} studies the study, and its qualification if any
 */
export function forgetPerson(studies) {
  const number = readNumber(studies[0]);
  try {
    for (const study of studies) localStorage.removeItem(languageKey(study));
    const drafts = Object.keys(sessionStorage).filter((name) => name.startsWith(DRAFT));
    for (const name of drafts) sessionStorage.removeItem(name);
    localStorage.setItem(numberKey(studies[0]), `${number + 1}`);
  } catch {
    // nothing was stored
  }
}

const RELOADS = "openhype:reloads";
const RELOADS_AT_MOST = 10;
const RELOADS_WITHIN_MS = 30000;

/**
 * Load the page again, which it must not do without end.
 * @param {() => void} [before] what to do first, if it may
 */
export function reloadPage(before) {
  if (!mayReload()) return;
  before?.();
  location.reload();
}

/** Return whether this page may load itself again; count it if so. */
function mayReload() {
  try {
    const since = Date.now() - RELOADS_WITHIN_MS;
    const stored = /** @type {number[]} */ (JSON.parse(sessionStorage.getItem(RELOADS) ?? "[]"));
    const recent = stored.filter((at) => at > since);
    if (recent.length >= RELOADS_AT_MOST) return false;
    sessionStorage.setItem(RELOADS, JSON.stringify([...recent, Date.now()]));
    return true;
  } catch {
    return false;
  }
}

const DRAFT = "openhype:draft:";

/** @param {string} session @param {string} when */
const draftKey = (session, when) => `${DRAFT}${session}:${when}`;

/**
 * Return the answers to questions that this tab has not sent yet; {} if there are none.
 * @param {string} session
 * @param {string} when
 * @returns {Record<string, unknown>}
 */
export function readDraft(session, when) {
  try {
    return JSON.parse(sessionStorage.getItem(draftKey(session, when)) ?? "{}");
  } catch {
    return {};
  }
}

/**
 * Keep answers that are not sent yet, for a reload.
 * @param {string} session
 * @param {string} when
 * @param {Record<string, unknown> | null} draft null removes it
 */
export const writeDraft = (session, when, draft) =>
  write(OF_TAB, draftKey(session, when), draft && JSON.stringify(draft));

/**
 * Acquire the study's lock for this tab, until the tab is closed.
 * If the browser has no locks, or does not answer, the task runs anyway: the server's lease also restricts a
 * session to one tab.
 * @param {string} study
 * @param {boolean} steal whether to take the lock from another tab
 * @param {() => void} onLost called when another tab took it
 * @returns {Promise<boolean>} whether this tab holds it
 */
export function holdTab(study, steal, onLost) {
  if (!navigator.locks) return Promise.resolve(true);
  let isHeld = false;
  /** @type {Promise<boolean>} */
  const taken = new Promise((resolve) => {
    const options = steal ? { steal: true } : { ifAvailable: true };
    navigator.locks
      .request(key(study), options, (lock) => {
        isHeld = lock !== null;
        resolve(isHeld);
        return lock === null ? undefined : new Promise(() => {});
      })
      .catch(() => (isHeld ? onLost() : resolve(true)));
  });
  return within(LOCK_MS, taken).catch(() => true);
}
