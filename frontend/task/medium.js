// @ts-check
/** The medium of stimuli, such as pictures: each is a module `medium_NAME.js`; the server sends NAME. */

/**
 * A stimulus that was fetched and decoded. Its frames are those of a clip; a picture is drawn as it is.
 * @typedef {ImageBitmap | import("./medium_clip.js").Clip} Stimulus
 *
 * @typedef {object} Showing stimuli without time limit
 * @property {() => void} [end] no longer show them: the evaluator has answered
 * @property {Promise<import("./trials.js").Seen>} settled what is stored of them, once they were shown
 * @property {(presenter: import("./trials.js").Presenter, stimuli: Stimulus[]) => void} moveTo go on in
 *   another presenter, of another size
 * @property {Promise<unknown>} [calm] when other stimuli may be decoded meanwhile
 *
 * @typedef {object} Medium
 * @property {(urls: string[], fetch: import("./pictures.js").FetchPicture, size:
 *   import("./pictures.js").DecodedSize, options: {areAllNeeded?: boolean, onProgress?: (done: number) =>
 *   void}) => ReturnType<typeof import("./pictures.js").loadAll<Stimulus>>} load fetches and decodes stimuli
 *   ahead of time
 * @property {(trial_stimuli: number) => number} trialsDecoded how many trials' stimuli may be decoded at a
 *   time
 * @property {boolean} isDecodedAside whether stimuli may be decoded at any time while others are shown
 *   without time limit; else when `Showing.calm` says so
 * @property {(stimuli: Stimulus[], ms: number, frame_ms: number) => import("./presenter.js").Phase[]} phases
 *   show the stimuli of a trial for `ms`
 * @property {(stage: HTMLElement, size: import("./backend.js").Size) =>
 *   Promise<import("./trials.js").Presenter>} present returns what shows stimuli without time limit, in
 *   studies without flashes
 * @property {(scene: Pick<import("./trials.js").Scene, "presenter" | "screen" | "display" | "visit">,
 *   stimuli: Stimulus[]) => Promise<Showing>} show shows them without time limit
 * @property {(stimuli: Stimulus[], phases: import("./presenter.js").Phase[], timing:
 *   import("./planner.js").Timing, frame_ms: number) => object} facts of a response to a flash
 * @property {() => HTMLElement | null} controls of stimuli without time limit, below the stage
 * @property {(protocol: import("../../types/api.js").PageProtocol) => string[]} notes what evaluators are
 *   told of these stimuli before the first
 */

/**
 * Return the medium of a study's stimuli.
 * @param {import("../../types/api.js").PublicStudy} study
 * @returns {Promise<Medium>}
 */
export async function mediumOf(study) {
  const found = await import(`./medium_${study.medium}.js`);
  return found.mediumFor(study);
}
