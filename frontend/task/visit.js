// @ts-check
/** One evaluator's visit to a study: the token, the session's state, and the calls that advance it. */

/**
 * @typedef {ReturnType<import("../shared/api.js").makeApi>} Api
 * @typedef {ReturnType<typeof makeVisit>} Visit
 * @typedef {import("../../types/api.js").State} State
 * @typedef {import("../../types/api.js").SessionProgress} SessionProgress
 * @typedef {import("../../types/api.js").Next} Next
 * @typedef {import("../../types/api.js").Done} Done
 * @typedef {Visit & {done: Done}} Ended a visit whose session is closed
 * @typedef {Visit & {done: Done & {qualification: object}}} Tested a closed visit to a qualification
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
    /** Questions of the researcher that are to be answered now. */
    questions: state.questions ?? null,
    fetchPicture: api.picture,
    load: api.load,
    get: api.get,
    /** @param {object} display */
    beginBlock: (display) =>
      api.post(
        `${path}/blocks`,
        { lease: state.lease, block: /** @type {Next} */ (visit.next).block, display },
        token,
      ),
    /** Fetch the debrief of a finished session, if any; reject if it cannot be fetched soon. */
    debrief: () => api.get(`${path}/debrief`, token, () => false),
    /** @param {object} answer */
    answer: async (answer) =>
      moved(await api.post(`${path}/answers`, { lease: state.lease, ...answer }, token)),
    /** @param {{when: string, answers: object, declined?: boolean}} given */
    answerQuestions: async (given) =>
      moved(await api.post(`${path}/questions`, { lease: state.lease, ...given }, token)),
    /** End early; the server permits this after repeated mistimed flashes. */
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
    visit.questions = reply.questions ?? null;
    return reply;
  }
  return visit;
}
