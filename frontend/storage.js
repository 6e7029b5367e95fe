// @ts-check
/**
 * The only module that uses localStorage, sessionStorage, and the lock that restricts a session to one tab.
 * If storage throws (blocked, full), the task runs without it: a reload then starts again.
 */

/** @param {string} study */
const key = (study) => `openhype:${study}`;

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

/** @param {string} study @param {string} link */
const passKey = (study, link) => `${key(study)}:pass:${link}`;

/**
 * Return the pass that this tab received for the panel's link; it lasts as long as the tab.
 * @param {string} study
 * @param {string} link query of the link
 * @returns {string | null}
 */
export function readPass(study, link) {
  try {
    return sessionStorage.getItem(passKey(study, link));
  } catch {
    return null;
  }
}

/**
 * @param {string} study
 * @param {string} link
 * @param {string | null} pass null removes it
 */
export function writePass(study, link, pass) {
  try {
    if (pass === null) sessionStorage.removeItem(passKey(study, link));
    else sessionStorage.setItem(passKey(study, link), pass);
  } catch {
    // done without
  }
}

/** @param {string} session @param {string} when */
const draftKey = (session, when) => `openhype:draft:${session}:${when}`;

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
 * If the browser has no locks, the task runs anyway: the server's lease also restricts a session to one tab.
 * @param {string} study
 * @param {boolean} steal whether to take the lock from another tab
 * @param {() => void} onLost called when another tab took it
 * @returns {Promise<boolean>} whether this tab holds it
 */
export function holdTab(study, steal, onLost) {
  if (!navigator.locks) return Promise.resolve(true);
  let isHeld = false;
  return new Promise((resolve) => {
    const options = steal ? { steal: true } : { ifAvailable: true };
    navigator.locks
      .request(key(study), options, (lock) => {
        isHeld = lock !== null;
        resolve(isHeld);
        return lock === null ? undefined : new Promise(() => {});
      })
      .catch(() => (isHeld ? onLost() : resolve(true)));
  });
}
