// @ts-check
/** Clips: the page's side of `stimuli/media/clip.py`. */

import { framesIn } from "./cadence.js";
import { bytesOfTrial } from "./clip_fitness.js";
import { clipFacts, framePhases, isSeenToItsEnd, playButton, playClips, wantsCalm } from "./clip_player.js";
import { loadAll } from "./pictures.js";
import { ofPhases } from "./planner.js";
import { makePlayer } from "./presenter.js";
import { text } from "../texts/texts.js";

const DECODED_MS = 60000; // a slow computer is waited for: the clip plays only afterwards
const FETCHES_AT_ONCE = 1; // so that the first is there first
/** Decoded frames of one trial are shown while those of the next are decoded, where both fit. */
const AHEAD_BYTES = 160e6;

/**
 * A clip that was decoded: all its frames.
 * @typedef {{head: import("./clip_file.js").ClipHead, frames: ImageBitmap[], close: () => void}} Clip
 */

/** @type {Worker | null} */
let worker = null;
let serials = 0;
/** @type {Map<number, (reply: {head: Clip["head"], frames: ImageBitmap[], fault?: string}) => void>} */
const waiting = new Map();

/**
 * Decode a clip aside from the page; reject if it is broken.
 * @param {Blob} blob
 * @returns {Promise<Clip>}
 */
export function decodeClip(blob) {
  if (!worker) {
    worker = new Worker(new URL("./clip_worker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => {
      waiting.get(data.serial)?.(data);
      waiting.delete(data.serial);
    };
  }
  serials += 1;
  const serial = serials;
  const decoder = worker;
  return new Promise((resolve, reject) => {
    waiting.set(serial, ({ head, frames, fault }) => {
      if (fault) reject(new Error(fault));
      else resolve({ head, frames, close: () => closeAll(frames) });
    });
    decoder.postMessage({ serial, blob });
  });
}

/** @param {ImageBitmap[]} frames */
function closeAll(frames) {
  for (const frame of frames) frame.close();
}

/**
 * @param {Pick<import("../../types/api.js").PublicStudy, "clip">} study
 * @returns {import("./medium.js").Medium}
 */
export function mediumFor({ clip }) {
  return {
    load: (urls, fetchPicture, size, options) =>
      loadAll(
        urls,
        fetchPicture,
        size,
        { decode: decodeClip, decoded_ms: DECODED_MS, atOnce: FETCHES_AT_ONCE, isSized: false },
        options,
      ),
    trialsDecoded: (each) => (clip && 2 * bytesOfTrial(clip, each) <= AHEAD_BYTES ? 2 : 1),
    isDecodedAside: false,
    phases: (stimuli, ms, frame_ms) => {
      const clips = /** @type {Clip[]} */ (stimuli);
      return framePhases(clips, framesIn(ms, clips[0].head), frame_ms);
    },
    present: makePlayer,
    show: playClips,
    facts: (stimuli, phases, timing, frame_ms) => {
      const clips = /** @type {Clip[]} */ (stimuli);
      const shown = ofPhases(timing, (counts) => counts.filter((_, i) => phases[i].frame !== undefined));
      const isAll = shown.planned_frames.length === clips[0].head.frames;
      const isWhole = isAll && isSeenToItsEnd(shown);
      return clipFacts(clips, frame_ms, [{ timing: shown, isWhole }]);
    },
    controls: playButton,
    notes: ({ clip_play, clip_replays, time_limits }) => {
      if (time_limits === "all") return [];
      const once = clip_replays ? "clip.note_replays" : "clip.note_once";
      return [
        ...(wantsCalm() ? [text("clip.note_calm")] : []),
        text(clip_play === "once" ? once : "clip.note_loop", { n: clip_replays }),
      ];
    },
  };
}
