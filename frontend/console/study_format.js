// @ts-check
/** How a study's method, its numbers of sessions and its scores are written; pure. */

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
 * Return the name of a study's method.
 * @param {{title: string, kind: string}} study
 */
export function methodName({ title, kind }) {
  return kind === "qualification" ? "Qualification" : title;
}

/**
 * @param {number} value
 * @param {string} unit `percent`, `ms` or "" (log-odds)
 */
export function scored(value, unit) {
  return `${inDigits(value, unit)}${{ percent: "%", ms: " ms" }[unit] ?? ""}`;
}

/**
 * @param {number} value
 * @param {string} unit
 */
function inDigits(value, unit) {
  return value.toFixed({ percent: 1, ms: 0 }[unit] ?? 2);
}

/**
 * @param {number[] | null} ci
 * @param {string} unit
 */
export function interval(ci, unit) {
  if (!ci) return "one evaluator so far: no interval yet";
  const [low, high] = ci.map((end) => inDigits(end, unit));
  return `95% interval ${low} to ${high}`;
}
