// @ts-check
/**
 * The tokens of this browser's sessions. Where it refuses storage they stand in the tab's history entry,
 * which a reload keeps, and no other link reads.
 */

import { readToken, writeToken } from "./storage.js";

/** @type {Record<string, string | null>} Tokens by study; part of each state that is put into the history. */
export const held = { ...history.state?.held };

/**
 * @param {string} study
 * @param {string | null} token null removes it
 */
export function keepToken(study, token) {
  writeToken(study, token);
  if (token === (held[study] ?? readToken(study))) return;
  held[study] = token;
  history.replaceState({ ...history.state, held }, "");
}

/**
 * Return the token of this browser's session in a study.
 * @param {string} study
 * @returns {string | null}
 */
export function tokenOf(study) {
  return held[study] ?? readToken(study);
}
