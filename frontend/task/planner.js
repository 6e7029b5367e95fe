// @ts-check
/**
 * Plans a sequence of phases (countdown, picture, masks) in refreshes of a display, and checks whether it
 * was shown as planned. Pure: the inputs are times in ms, the outputs refreshes.
 */

const LARGEST_DOUBT = 0.4; // of a refresh, for times read from a clock
/** For the browser's presentation times: a display that is on time changes exactly at its refreshes. */
const LARGEST_DOUBT_PRESENTED = 0.3;
const LARGEST_DOUBT_BEFORE_MS = 50; // for each number of the countdown

/**
 * Timing of a sequence that was shown; by phase, in order.
 * @typedef {object} Timing
 * @property {"element" | "worker_element" | "worker_video" | "worker" | "callback"} evidence
 * @property {number} lateness_ms the latest callback that changed what is shown, after the start of its
 *   refresh
 * @property {number[]} planned_frames
 * @property {number[]} achieved_frames 0 for a phase that was never shown
 * @property {number[]} phase_ms
 */

/**
 * When a phase was drawn: the start of its refresh as the browser reports it, and the clock time.
 * @typedef {{at: number, now: number}} Drawn
 */

/**
 * Return the first refresh of each phase, then the first one after all phases; a phase lasts at least one.
 * The edges are the refreshes nearest to the cumulative times: four masks of 30 ms at 60 Hz end at 30, 60,
 * 90, 120 ms, so they last 2, 2, 1, 2 refreshes.
 * @param {number[]} durations_ms
 * @param {number} frame_ms
 * @param {number} anchor index of the phase whose first refresh restarts the cumulative times, so that
 *   rounding of the countdown does not change the exposure
 * @returns {number[]}
 */
export function planPhases(durations_ms, frame_ms, anchor = 0) {
  const edges = [0];
  let end_ms = 0;
  for (const [i, ms] of durations_ms.entries()) {
    if (i === anchor) end_ms = edges[i] * frame_ms;
    end_ms += ms;
    edges.push(Math.max(edges[edges.length - 1] + 1, Math.round(end_ms / frame_ms - 1e-9)));
  }
  return edges;
}

/**
 * Return the index of the phase at refresh `refresh`, or the number of phases once they are over.
 * @param {number[]} edges
 * @param {number} refresh
 */
export function phaseAt(edges, refresh) {
  let phase = 0;
  while (phase < edges.length - 1 && refresh >= edges[phase + 1]) phase += 1;
  return phase;
}

/**
 * Return the refresh, counted from `began`, in which a callback really runs: a late callback may run in a
 * later refresh than the one it was scheduled for.
 * @param {Drawn} frame
 * @param {number} began
 * @param {number} frame_ms
 */
export function refreshOfCallback({ at, now }, began, frame_ms) {
  return Math.round((at - began) / frame_ms) + Math.max(0, Math.floor((now - at) / frame_ms));
}

/**
 * Return the timing of a sequence from when each phase was drawn. What a late callback draws may or may not
 * be shown in the same refresh, so the clock times are used, not the refreshes.
 * @param {number[]} edges as planned
 * @param {(Drawn | null)[]} drawn for each phase, null if never; the last entry is the end of the sequence
 * @param {number} frame_ms
 * @param {"worker" | "callback"} evidence
 * @returns {Timing}
 */
export function timingOfCallbacks(edges, drawn, frame_ms, evidence) {
  const starts = drawn.map((frame) => (frame ? frame.now : null));
  const lateness = drawn.map((frame) => (frame ? frame.now - frame.at : 0));
  return { ...timingOfStarts(edges, starts, frame_ms), evidence, lateness_ms: Math.max(0, ...lateness) };
}

/**
 * Return the timing of a sequence from the presentation times that the browser reports.
 * @param {number[]} edges
 * @param {(number | null)[]} presented
 * @param {number} frame_ms
 * @param {number} lateness_ms
 * @returns {Timing}
 */
export function timingOfPresentations(edges, presented, frame_ms, lateness_ms) {
  return { ...timingOfStarts(edges, presented, frame_ms), evidence: "element", lateness_ms };
}

/**
 * Return the timing of a sequence with all frames of a clip as one phase, as it is stored.
 * @param {Timing} timing
 * @param {{frame?: number}[]} phases
 * @returns {Timing}
 */
export function withClipsWhole(timing, phases) {
  /** @param {number[]} counts */
  const joined = (counts) =>
    phases.reduce(
      (all, { frame }, i) => {
        if (frame) all[all.length - 1] += counts[i];
        else all.push(counts[i]);
        return all;
      },
      /** @type {number[]} */ ([]),
    );
  return ofPhases(timing, joined);
}

/**
 * Return a timing of some of its phases.
 * @param {Timing} timing
 * @param {(counts: number[]) => number[]} chosen
 * @returns {Timing}
 */
export function ofPhases(timing, chosen) {
  const { planned_frames, achieved_frames, phase_ms } = timing;
  return {
    ...timing,
    planned_frames: chosen(planned_frames),
    achieved_frames: chosen(achieved_frames),
    phase_ms: chosen(phase_ms),
  };
}

/**
 * Return whether picture and masks were certainly shown for the planned refreshes: a time half-way between
 * two numbers of refreshes is ambiguous. Earlier phases may deviate slightly: they are not measured.
 * @param {Timing} timing
 * @param {number} frame_ms
 * @param {number} [anchor] index of the picture
 */
export function isAsPlanned({ evidence, planned_frames, phase_ms }, frame_ms, anchor = 0) {
  const isCalm = planned_frames.slice(0, anchor).every((planned, i) => {
    return Math.abs(phase_ms[i] - planned * frame_ms) <= LARGEST_DOUBT_BEFORE_MS;
  });
  let edge = 0;
  let at = 0;
  const ends = planned_frames.slice(anchor).map((planned, i) => {
    edge += planned;
    at += phase_ms[anchor + i];
    return { edge, at };
  });
  return (
    isCalm &&
    keepsTo(
      [{ edge: 0, at: 0 }, ...ends],
      frame_ms,
      evidence === "element" ? LARGEST_DOUBT_PRESENTED : LARGEST_DOUBT,
    )
  );
}

/**
 * Return whether display changes have the planned distances, both from one to the next and from the first.
 * @param {{edge: number, at: number}[]} changes refresh planned, and time (ms)
 * @param {number} frame_ms
 * @param {number} doubt tolerance, as a fraction of a refresh
 */
function keepsTo(changes, frame_ms, doubt) {
  return changes.slice(1).every(({ edge, at }, i) => {
    return [changes[i], changes[0]].every(
      (before) => Math.abs((at - before.at) / frame_ms - (edge - before.edge)) <= doubt,
    );
  });
}

/**
 * Compare a sequence with the observations of a second witness, which saw some phases begin. Only the picture
 * and later phases are compared, not the countdown.
 * @param {number[]} edges as planned
 * @param {(number | null)[]} seen when each phase and the end were presented (ms), null where it was not seen
 * @param {number} frame_ms
 * @param {number} anchor index of the picture
 * @param {Timing["evidence"]} evidence name of the evidence if the witness saw everything
 * @returns {{isWhole: boolean, isContrary: boolean}} whether the witness saw everything, and whether anything
 *   it saw differs from the plan
 */
export function testimony(edges, seen, frame_ms, anchor, evidence) {
  const known = edges.flatMap((edge, i) => {
    const at = seen[i];
    return i >= anchor && at !== null ? [{ edge, at }] : [];
  });
  const doubt = evidence === "worker_element" ? LARGEST_DOUBT_PRESENTED : LARGEST_DOUBT;
  return { isWhole: known.length === edges.length - anchor, isContrary: !keepsTo(known, frame_ms, doubt) };
}

/**
 * @param {number[]} edges
 * @param {(number | null)[]} starts of each phase and the end, in ms
 * @param {number} frame_ms
 */
function timingOfStarts(edges, starts, frame_ms) {
  const planned_frames = edges.slice(1).map((edge, i) => edge - edges[i]);
  const phase_ms = planned_frames.map((_, i) => {
    const from = starts[i];
    const to = starts.slice(i + 1).find((start) => start !== null);
    return from === null || to === undefined || to === null ? 0 : to - from;
  });
  return { planned_frames, phase_ms, achieved_frames: phase_ms.map((ms) => Math.round(ms / frame_ms)) };
}
