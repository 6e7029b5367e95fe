// @ts-check
/** Reads the files of clips (`backend/stimuli/clips/`): a head, and the encoded frames in order. Pure. */

const MAGIC = "OHCLIP1\n";
const FRAME_HEAD_BYTES = 5;

/**
 * The same for every clip of a study.
 * @typedef {object} ClipHead
 * @property {string} codec as WebCodecs names it, such as `vp09.00.31.08`
 * @property {[number, number]} fps frames in a number of seconds: [30000, 1001]
 * @property {number} frames
 * @property {number} width px
 * @property {number} height px
 *
 * @typedef {{isKey: boolean, timestamp: number, data: Uint8Array}} EncodedFrame `timestamp` in µs from the
 *   first frame
 */

/** Bytes that are no clip, or not a whole one. */
export class ClipError extends Error {}

/**
 * Return a clip's head, its encoded frames, and where the last one ends: a film strip and padding follow.
 * @param {ArrayBuffer} buffer
 * @returns {{head: ClipHead, frames: EncodedFrame[], end: number}}
 * @throws {ClipError}
 */
export function readClip(buffer) {
  const bytes = new Uint8Array(buffer);
  const view = new DataView(buffer);
  let at = 0;
  /** @param {number} count */
  function take(count) {
    if (at + count > bytes.length)
      throw new ClipError(`the clip ends after ${bytes.length} bytes; ${count} more were expected at ${at}`);
    at += count;
    return at - count;
  }
  const magic = take(MAGIC.length);
  if ([...MAGIC].some((letter, i) => bytes[magic + i] !== letter.charCodeAt(0)))
    throw new ClipError("the file does not begin as a clip does");
  const length = view.getUint32(take(4), true);
  const head = readHead(bytes.subarray(take(length), at));
  const frames = Array.from({ length: head.frames }, (_, i) => {
    const start = take(FRAME_HEAD_BYTES);
    const size = view.getUint32(start, true);
    const isKey = bytes[start + 4] === 1;
    if (size === 0 || (i === 0 && !isKey))
      throw new ClipError(`frame ${i} of ${head.frames} is ${size === 0 ? "empty" : "no key frame"}`);
    return { isKey, timestamp: timestampOf(i, head), data: bytes.subarray(take(size), at) };
  });
  return { head, frames, end: at };
}

/**
 * Return the film strip of a clip, a JPEG: frames side by side, the first one on the left.
 * @param {ArrayBuffer} buffer
 * @throws {ClipError}
 */
export function stripOf(buffer) {
  const { end } = readClip(buffer);
  const view = new DataView(buffer, end);
  if (view.byteLength < 4) throw new ClipError("the clip ends before its film strip");
  return new Uint8Array(buffer, end + 4, Math.min(view.getUint32(0, true), view.byteLength - 4));
}

/**
 * Return when a frame begins, in µs from the first one.
 * @param {number} i
 * @param {Pick<ClipHead, "fps">} head
 */
export function timestampOf(i, { fps: [count, seconds] }) {
  return Math.round((i * 1e6 * seconds) / count);
}

/**
 * @param {Uint8Array} bytes
 * @returns {ClipHead}
 */
function readHead(bytes) {
  let head;
  try {
    head = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new ClipError("the head of the clip is no JSON");
  }
  const { codec, fps, frames, width, height } = head ?? {};
  const areCounts = [frames, width, height, ...(Array.isArray(fps) ? fps : [0])].every(
    (count) => Number.isSafeInteger(count) && count > 0,
  );
  if (typeof codec !== "string" || !areCounts || fps.length !== 2)
    throw new ClipError(`the head of the clip is incomplete: ${JSON.stringify(head)}`);
  return { codec, fps, frames, width, height };
}
