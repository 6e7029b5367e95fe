// @ts-check
/**
 * The adaptive staircase of exposures, equivalent to backend/experiment/staircase.py; both are tested against
 * tests/unit/staircase_vectors.json. The page uses it to check each exposure that the server announces.
 */

/**
 * @typedef {{right_to_descend: number, down_ms: number, up_ms: number, start_ms: number, min_ms: number,
 *   max_ms: number, grid_ms?: number}} StaircaseRule
 * @typedef {{exposure_ms: number, right_in_a_row: number}} StaircaseState
 */

/**
 * Return the state before the first trial of a block.
 * @param {StaircaseRule} rule
 * @returns {StaircaseState}
 */
export function start(rule) {
  return { exposure_ms: rule.start_ms, right_in_a_row: 0 };
}

/**
 * Return the state after one more response. A descent resets the count, and so does a wrong response.
 * @param {StaircaseRule} rule
 * @param {StaircaseState} state
 * @param {boolean} wasCorrect
 * @returns {StaircaseState}
 */
export function step(rule, state, wasCorrect) {
  if (!wasCorrect) {
    return { exposure_ms: bounded(rule, state.exposure_ms + rule.up_ms), right_in_a_row: 0 };
  }
  const inARow = state.right_in_a_row + 1;
  if (inARow < rule.right_to_descend) {
    return { exposure_ms: state.exposure_ms, right_in_a_row: inARow };
  }
  return { exposure_ms: bounded(rule, state.exposure_ms - rule.down_ms), right_in_a_row: 0 };
}

/**
 * Return the exposure (ms) shown most often in a block; if several are tied, the shortest. Sums of the same
 * steps in another order differ as floats, so that exposures are compared to a millionth of a millisecond.
 * @param {number[]} exposures
 */
export function modalExposure(exposures) {
  if (exposures.length === 0) throw new RangeError("a block without trials has no modal exposure");
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const exposure of exposures) {
    const compared = rounded(exposure, 1e6);
    counts.set(compared, (counts.get(compared) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  return Math.min(...[...counts].filter(([, count]) => count === most).map(([exposure]) => exposure));
}

/**
 * @param {StaircaseRule} rule
 * @param {number} exposure
 */
function bounded(rule, exposure) {
  const within = Math.min(Math.max(exposure, rule.min_ms), rule.max_ms);
  return rule.grid_ms ? Math.round(within / rule.grid_ms) * rule.grid_ms : rounded(within, 1e9);
}

/**
 * @param {number} ms
 * @param {number} steps of a millisecond
 */
function rounded(ms, steps) {
  return Math.round(ms * steps) / steps;
}
