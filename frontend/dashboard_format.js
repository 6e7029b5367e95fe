// @ts-check
/** The dashboard's number formats; pure. */

const METHODS = /** @type {Record<string, string>} */ ({ infinity: "HYPE-∞", time: "HYPE-time", exposures: "Constant stimuli" });

/** @param {{ended: number, abandoned: number}} row */
export function broken({ ended, abandoned }) {
  return ended + abandoned;
}

/**
 * @param {{finished: number, active: number, ended: number, abandoned: number}} row
 * @param {number} wanted 0 if any number is
 */
export function inWords(row, wanted) {
  const goal = wanted ? ` of ${wanted}` : "";
  const parts = [`${row.finished}${goal} finished`];
  if (row.active) parts.push(`${row.active} under way`);
  if (broken(row)) parts.push(`${broken(row)} broke off`);
  return parts.join(" · ");
}

/**
 * @param {string} of the method's name
 * @param {string} kind
 */
export function method(of, kind) {
  return kind === "qualification" ? "Qualification" : METHODS[of] ?? of;
}

/**
 * @param {number} value
 * @param {string} unit `percent` or `ms`
 */
export function scored(value, unit) {
  return unit === "percent" ? `${value.toFixed(1)}%` : `${Math.round(value)} ms`;
}

/**
 * @param {number[] | null} ci
 * @param {string} unit
 */
export function interval(ci, unit) {
  if (!ci) return "one evaluator so far: no interval yet";
  const [low, high] = ci.map((end) => (unit === "percent" ? end.toFixed(1) : `${Math.round(end)}`));
  return `95% interval ${low} to ${high}`;
}
