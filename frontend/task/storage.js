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

/**
 * Return the token of this browser's session in a study.
 * @param {string} study
 * @returns {string | null}
 */
export function readToken(study) {
  try {
    return localStorage.getItem(key(study));
  } catch {
    return null;
  }
}

/**
 * @param {string} study
 * @param {string | null} token null removes it
 */
export function writeToken(study, token) {
  try {
    if (token === null) localStorage.removeItem(key(study));
    else localStorage.setItem(key(study), token);
  } catch {
    // done without
  }
}

/** @param {string} study */
const languageKey = (study) => `${key(study)}:language`;

/**
 * Return the language that the evaluator chose for a study, as stored.
 * @param {string} study
 * @returns {string | null}
 */
export function readLanguage(study) {
  try {
    return localStorage.getItem(languageKey(study));
  } catch {
    return null;
  }
}

/**
 * @param {string} study
 * @param {string} language
 */
export function writeLanguage(study, language) {
  try {
    localStorage.setItem(languageKey(study), language);
  } catch {
    // done without
  }
}

/** @param {string} study */
const passKey = (study) => `${key(study)}:pass`;

/**
 * Return the pass that this tab received for the panel's link; it lasts as long as the tab.
 * @param {string} study
 * @returns {string | null}
 */
export function readPass(study) {
  try {
    return sessionStorage.getItem(passKey(study));
  } catch {
    return null;
  }
}

/**
 * @param {string} study
 * @param {string | null} pass null removes it
 */
export function writePass(study, pass) {
  try {
    if (pass === null) sessionStorage.removeItem(passKey(study));
    else sessionStorage.setItem(passKey(study), pass);
  } catch {
    // done without
  }
}

/** @param {string} study */
const numberKey = (study) => `${key(study)}:number`;

/**
 * Return which person this is at a shared computer, from 1.
 * @param {string} study
 */
export function readNumber(study) {
  try {
    return Number(localStorage.getItem(numberKey(study)) ?? 1);
  } catch {
    return 1;
  }
}

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
export function writeDraft(session, when, draft) {
  try {
    if (draft === null) sessionStorage.removeItem(draftKey(session, when));
    else sessionStorage.setItem(draftKey(session, when), JSON.stringify(draft));
  } catch {
    // done without
  }
}

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
