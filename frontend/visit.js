// @ts-check
/** One evaluator's visit to a study: the token, where the session stands, and the calls that move it. */

/**
 * @typedef {ReturnType<import("./api.js").makeApi>} Api
 * @typedef {ReturnType<typeof makeVisit>} Visit
 * @typedef {import("../types/api.js").State} State
 * @typedef {import("../types/api.js").SessionProgress} SessionProgress
 * @typedef {import("../types/api.js").Next} Next
 * @typedef {import("../types/api.js").Done} Done
 * @typedef {Visit & {done: Done}} Ended a visit whose session is closed
 * @typedef {Visit & {done: Done & {qualification: object}}} Tested one that was a qualification
 */

/**
 * @param {Api} api
 * @param {string} token
 * @param {State} state
 */
export function makeVisit(api, token, state) {
  const path = /** @type {const} */ (`/api/sessions/${state.session}`);
  const visit = {
    token,
    state,
    /** @type {{answered: number, total: number, replaced?: number}} */
    progress: state.progress,
    /** @type {number | null} */
    earned: state.earned_usd_cents,
    /** @type {SessionProgress["next"]} */
    next: state.next,
    /** @type {SessionProgress["done"]} */
    done: state.done,
    fetchPicture: api.picture,
    /** @param {object} display */
    beginBlock: (display) =>
      api.post(`${path}/blocks`, { lease: state.lease, block: /** @type {Next} */ (visit.next).block, display }, token),
    /** How one did, once the session is finished; of a study that tells it. It fails where it cannot be had soon. */
    debrief: () => api.get(`${path}/debrief`, token, () => false),
    /** @param {object} answer */
    answer: async (answer) => moved(await api.post(`${path}/answers`, { lease: state.lease, ...answer }, token)),
    /** End early; the server lets those whose flashes keep going wrong. */
    end: async () => moved(await api.post(`${path}/end`, { lease: state.lease }, token)),
  };
  /**
   * @template {SessionProgress} T
   * @param {T} reply
   */
  function moved(reply) {
    visit.progress = reply.progress;
    visit.earned = reply.earned_usd_cents;
    visit.next = reply.next;
    visit.done = reply.done;
    return reply;
  }
  return visit;
}
