// @ts-check
/**
 * The task without a server, for a demo: a session's plan, its staircase and its score are computed here,
 * and nothing is stored or sent. The page's files contain all truths, so this is not a measurement.
 * `backend/web/static_demo.py` writes the data it needs; it has the same interface as the server (`api.js`).
 */

import { Refused } from "../shared/api.js";
import { WITHOUT_FLASHES } from "./demonstration.js";
import { modalExposure, start, step } from "../staircase.js";

/** Flags of a flash that was not shown as planned, as in backend/experiment/session.py. */
const MISTIMED = ["mistimed", "hidden", "left_full_screen", "resized", "not_whole", "display_changed"];
/** Those of them that the browser is to blame for. */
const FAILED = ["mistimed", "display_changed"];
/** Mistimed flashes in a row after which the visitor is asked whether to go on. */
const MISTIMED_BEFORE_ASKING = 5;

/**
 * @typedef {{url: string, truth: "real" | "fake", model: string | null}} Picture
 * @typedef {{model: string, data: string, score: number}} Published
 * @typedef {{
 *   study: import("../../types/api.js").PublicStudy,
 *   protocol: Omit<import("../../types/api.js").PageProtocol,
 *   "block_images" | "time_limits">, unit: "percent" | "ms", blocks: number, images: number, staircase:
 *   import("../staircase.js").StaircaseRule | null, mask_count: number, masks: string[], models: string[],
 *   pictures: Picture[], published: Published[], published_without_flashes: Published[], }} Site
 */

/**
 * @param {Site} described
 * @param {Pick<import("./visit.js").Api, "picture" | "load"> & {random: () => number, hash: string}} world
 *   `hash` of the page's address
 */
export function makeDemo(described, { picture, load, random, hash }) {
  const site = hash === WITHOUT_FLASHES ? withoutFlashes(described) : described;
  let session = drawSession(site, random);

  /** @param {string} path */
  async function get(path) {
    return path.endsWith("/debrief") ? debriefOf(site, session) : site.study;
  }

  /**
   * @param {string} path
   * @param {object} body
   * @returns {Promise<unknown>}
   */
  async function post(path, body) {
    if (path.endsWith("/admission")) return { admitted: true };
    if (path.endsWith("/exit")) return { redirect_url: null };
    if (path.endsWith("/sessions")) {
      session = drawSession(site, random);
      return { stage: "session", token: null, state: stateOf(site, session) };
    }
    if (path.endsWith("/blocks")) return blockOf(site, session, random);
    if (path.endsWith("/answers"))
      return answered(site, session, /** @type {import("../../types/api.js").Answer} */ (body));
    if (path.endsWith("/end")) {
      session.isEnded = true;
      return standing(site, session);
    }
    throw new Refused("unknown_session", "a demo keeps no session", "");
  }

  return { get, post, picture, load };
}

/**
 * Return the same demo without time limit: HYPE-infinity's trials in place of HYPE-time's.
 * @param {Site} site
 * @returns {Site}
 */
function withoutFlashes(site) {
  const method = "infinity";
  return {
    ...site,
    study: { ...site.study, method, flashes: false, flash_warning: false },
    protocol: { ...site.protocol, method },
    unit: "percent",
    staircase: null,
    masks: [],
    published: site.published_without_flashes,
  };
}

/**
 * @typedef {{
 *   model: string, blocks: Picture[][], spares: Picture[], trial: number, mistimed: number, in_a_row: number,
 *   failed: number, isEnded: boolean, right: number, responses: ("real" | "fake")[], stair:
 *   import("../staircase.js").StaircaseState | null, exposures: number[][], }} Session `mistimed` flashes in
 *   all, those `in_a_row` just now, and those that `failed` through the browser
 */

/**
 * Draw a session of one model: each block half real, half fake, in random order; no picture twice.
 * @param {Site} site
 * @param {() => number} random
 * @returns {Session}
 */
function drawSession(site, random) {
  const model = site.models[Math.floor(random() * site.models.length)];
  const reals = shuffled(
    site.pictures.filter(({ truth }) => truth === "real"),
    random,
  );
  const fakes = shuffled(
    site.pictures.filter((picture) => picture.model === model),
    random,
  );
  const half = site.images / 2;
  const blocks = Array.from({ length: site.blocks }, () =>
    shuffled([...reals.splice(0, half), ...fakes.splice(0, half)], random),
  );
  return {
    model,
    blocks,
    spares: [...reals, ...fakes],
    trial: 0,
    mistimed: 0,
    in_a_row: 0,
    failed: 0,
    isEnded: false,
    right: 0,
    responses: [],
    stair: site.staircase && start(site.staircase),
    exposures: blocks.map(() => []),
  };
}

/**
 * @param {Site} site
 * @param {Session} session
 */
function stateOf(site, session) {
  return {
    session: "demo",
    study: site.study.study,
    kind: site.study.kind,
    lease: 1,
    stage: "block",
    protocol: {
      ...site.protocol,
      block_images: session.blocks.map((block) => block.length),
      time_limits: site.staircase ? "all" : "none",
    },
    block_begun: false,
    ...standing(site, session),
  };
}

/**
 * @param {Site} site
 * @param {Session} session
 * @param {() => number} random
 */
function blockOf(site, session, random) {
  const block = Math.floor(session.trial / site.images);
  const pictures = session.blocks[block];
  return {
    block,
    first_trial_index: session.trial,
    images: pictures.map(({ url }) => url),
    masks: site.masks,
    trial_masks: site.masks.length
      ? pictures.map(() =>
          shuffled(
            site.masks.map((_, i) => i),
            random,
          ).slice(0, site.mask_count),
        )
      : [],
    instructed: [],
    staircase: site.staircase,
    next: nextOf(site, session),
  };
}

/**
 * @param {Site} site
 * @param {Session} session
 * @param {import("../../types/api.js").Answer} body the response, as the server would receive it
 */
function answered(site, session, body) {
  const block = Math.floor(session.trial / site.images);
  const offset = session.trial % site.images;
  const shown = session.blocks[block][offset];
  const wasCorrect = body.response === shown.truth;
  if (isMistimed(site, body)) return replaced(site, session, body);
  session.in_a_row = 0;
  if (site.staircase && session.stair) {
    session.exposures[block].push(session.stair.exposure_ms);
    session.stair =
      offset + 1 === site.images ? start(site.staircase) : step(site.staircase, session.stair, wasCorrect);
  }
  session.trial += 1;
  session.responses.push(/** @type {"real" | "fake"} */ (body.response)); // a demo is of this judgment
  session.right += wasCorrect ? 1 : 0;
  return {
    trial_index: session.trial - 1,
    was_correct: site.protocol.feedback ? wasCorrect : null,
    replaced_by: null,
    may_end: false,
    block_finished: offset + 1 === site.images,
    ...standing(site, session),
  };
}

/**
 * Replace the picture of a mistimed flash by a spare one; without any, the session ends early.
 * @param {Site} site
 * @param {Session} session
 * @param {import("../../types/api.js").Answer} body
 */
function replaced(site, session, { flags }) {
  const shown = session.blocks[Math.floor(session.trial / site.images)];
  const offset = session.trial % site.images;
  const spare = session.spares.findIndex(({ truth }) => truth === shown[offset].truth);
  session.mistimed += 1;
  session.in_a_row += 1;
  if (flags.every((flag) => !MISTIMED.includes(flag) || FAILED.includes(flag))) session.failed += 1;
  if (spare >= 0) shown[offset] = session.spares.splice(spare, 1)[0];
  else session.isEnded = true;
  return {
    trial_index: session.trial,
    was_correct: null,
    replaced_by: session.isEnded ? null : shown[offset].url,
    may_end: !session.isEnded && session.in_a_row % MISTIMED_BEFORE_ASKING === 0,
    block_finished: session.isEnded,
    ...standing(site, session),
  };
}

/**
 * @param {Site} site
 * @param {import("../../types/api.js").Answer} body
 */
function isMistimed({ mask_count }, { timing, flags }) {
  if (!timing) return false;
  // picture and masks
  const judged = (/** @type {number[]} */ frames) => String(frames.slice(-1 - mask_count));
  return (
    judged(timing.planned_frames) !== judged(timing.achieved_frames) ||
    MISTIMED.some((flag) => flags.includes(flag))
  );
}

/**
 * @param {Site} site
 * @param {Session} session
 */
function standing(site, session) {
  const total = site.blocks * site.images;
  const isDone = session.isEnded || session.trial === total;
  return {
    next: isDone ? null : nextOf(site, session),
    progress: { answered: session.trial, total, replaced: session.mistimed },
    earned_usd_cents: null,
    done: isDone ? doneOf(session) : null,
  };
}

/**
 * @param {Session} session
 * @returns {import("./visit.js").Done}
 */
function doneOf(session) {
  return {
    complete: !session.isEnded,
    paid_in_part: session.failed < Math.min(session.mistimed, MISTIMED_BEFORE_ASKING),
    completion_code: "",
    needs_code: false,
    redirect_url: null,
    form: null,
    reported: false,
    earned_usd_cents: 0,
    right: session.right,
    not_sure: 0,
    answered: session.trial,
    qualification: null,
  };
}

/**
 * @param {Site} site
 * @param {Session} session
 */
function nextOf(site, session) {
  return {
    trial_index: session.trial,
    block: Math.floor(session.trial / site.images),
    exposure_ms: session.stair?.exposure_ms ?? null,
    right_in_a_row: session.stair?.right_in_a_row ?? 0,
    practice: false,
  };
}

/**
 * Return the debrief as the server would, without the other evaluators, who are unknown here.
 * @param {Site} site
 * @param {Session} session
 */
function debriefOf(site, session) {
  const shown = session.blocks.flat().slice(0, session.trial);
  const pictures = shown.map(({ url, truth }, i) => ({ url, truth, response: session.responses[i] }));
  const percentWrong = (/** @type {string} */ wanted) => {
    const side = pictures.filter(({ truth }) => truth === wanted);
    const wrong = side.filter(({ response }) => response !== wanted);
    return side.length ? (100 * wrong.length) / side.length : null;
  };
  return {
    unit: site.unit,
    score: session.isEnded ? null : scoreOf(site, session),
    fakes_error: percentWrong("fake"),
    reals_error: percentWrong("real"),
    model: session.model,
    others: null,
    published: site.published,
    pictures,
  };
}

/**
 * Return the score. HYPE-infinity: percent judged wrong. HYPE-time: mean of the blocks' modal exposures (ms).
 * @param {Site} site
 * @param {Session} session
 */
function scoreOf(site, session) {
  if (site.unit === "percent") return 100 * (1 - session.right / session.trial);
  const modes = session.exposures.map(modalExposure);
  return modes.reduce((sum, mode) => sum + mode, 0) / modes.length;
}

/**
 * @template T
 * @param {T[]} items
 * @param {() => number} random
 * @returns {T[]}
 */
function shuffled(items, random) {
  const mixed = [...items];
  for (let i = mixed.length - 1; i > 0; i -= 1) {
    const j = Math.floor(random() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
  }
  return mixed;
}
