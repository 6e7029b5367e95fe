// @ts-check
/**
 * The one home of localStorage and sessionStorage, and of the lock that keeps a session to one tab.
 * Storage that throws (blocked, full) is done without: a reload then starts anew.
 */

/** @param {string} study */
const key = (study) => `openhype:${study}`;

/**
 * The token of this browser's session in a study.
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
 * @param {string | null} token null forgets it
 */
export function writeToken(study, token) {
  try {
    if (token === null) localStorage.removeItem(key(study));
    else localStorage.setItem(key(study), token);
  } catch {
    // done without
  }
}

/** @param {string} study @param {string} link */
const passKey = (study, link) => `${key(study)}:pass:${link}`;

/**
 * The pass that this tab was given for the panel's link; it lasts as long as the tab.
 * @param {string} study
 * @param {string} link its query
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
 * @param {string | null} pass null forgets it
 */
export function writePass(study, link, pass) {
  try {
    if (pass === null) sessionStorage.removeItem(passKey(study, link));
    else sessionStorage.setItem(passKey(study, link), pass);
  } catch {
    // done without
  }
}

/**
 * Take the study's lock for this tab, for as long as it lives.
 * A browser that refuses locks does without: the server's lease still keeps a session to one tab.
 * @param {string} study
 * @param {boolean} steal take it from another tab
 * @param {() => void} onLost another tab took it
 * @returns {Promise<boolean>} whether this tab has it
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
