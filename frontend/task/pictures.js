// @ts-check
/**
 * The pictures of a block: prefetched, and decoded before a trial needs them.
 * Decoding during the first paint would cost a frame and so distort the exposure.
 */

import { within } from "../shared/patience.js";

const FETCHES_AT_ONCE = 6;
const DECODED_MS = 10000;

/**
 * @typedef {ReturnType<import("../shared/api.js").makeApi>["picture"]} FetchPicture
 * @typedef {{px: number, quality: ResizeQuality}} DecodedSize width and height, in device pixels
 */

/**
 * How the stimuli of a medium are fetched and decoded: what is decoded can be freed.
 * @template {{close: () => void}} Decoded
 * @typedef {object} Loading
 * @property {(blob: Blob, size: DecodedSize) => Promise<Decoded>} decode
 * @property {number} decoded_ms time within which one is decoded, or else is broken
 * @property {number} atOnce how many are fetched at the same time
 * @property {boolean} isSized whether they are decoded to the size at which they are shown
 */

/** @type {Loading<ImageBitmap>} */
const PICTURES = {
  decode: (blob, { px, quality }) =>
    createImageBitmap(blob, { resizeWidth: px, resizeHeight: px, resizeQuality: quality }),
  decoded_ms: DECODED_MS,
  atOnce: FETCHES_AT_ONCE,
  isSized: true,
};

/**
 * Prefetch pictures, as `loadAll`.
 * @param {string[]} urls
 * @param {FetchPicture} fetchPicture
 * @param {DecodedSize} size
 * @param {{areAllNeeded?: boolean, onProgress?: (done: number) => void}} [options]
 */
export function loadPictures(urls, fetchPicture, size, options) {
  return loadAll(urls, fetchPicture, size, PICTURES, options);
}

/**
 * Prefetch the stimuli of a medium. One that fails is requested again, and the trouble reported, only once it
 * is needed.
 * @template {{close: () => void}} Decoded
 * @param {string[]} urls
 * @param {FetchPicture} fetchPicture
 * @param {DecodedSize} size to decode to
 * @param {Loading<Decoded>} loading
 * @param {object} [options]
 * @param {boolean} [options.areAllNeeded] whether the evaluator is waiting for all of them
 * @param {(done: number) => void} [options.onProgress]
 */
export function loadAll(
  urls,
  fetchPicture,
  size,
  loading,
  { areAllNeeded = false, onProgress = () => {} } = {},
) {
  /** @type {Promise<Blob>[]} */
  const blobs = [];
  /** @type {Map<number, Promise<Decoded>>} */
  const bitmaps = new Map();
  /** @type {Set<number>} */
  const needed = new Set();
  /** @type {(() => void)[]} */
  const starts = [];
  let done = 0;
  for (const i of urls.keys()) {
    blobs.push(new Promise((resolve, reject) => starts.push(() => work(i).then(resolve, reject))));
  }
  for (const blob of blobs) blob.catch(() => {}); // requested again when needed
  for (let i = 0; i < loading.atOnce; i += 1) starts.shift()?.();

  /** @param {number} i */
  const isNeeded = (i) => areAllNeeded || needed.has(i);

  /** @param {number} i */
  async function work(i) {
    try {
      const blob = await fetchPicture(urls[i], () => isNeeded(i));
      done += 1;
      onProgress(done);
      return blob;
    } finally {
      starts.shift()?.();
    }
  }

  /** @param {Blob} blob */
  const decoded = (blob) => within(loading.decoded_ms, loading.decode(blob, size), "undecoded");

  /**
   * @param {string} url
   * @param {() => boolean} [isAwaited]
   */
  async function anew(url, isAwaited) {
    /** @type {Decoded | undefined} */
    let bitmap;
    await fetchPicture(url, isAwaited, async (blob) => {
      bitmap = await decoded(blob);
    });
    return /** @type {Decoded} */ (bitmap);
  }

  /** @param {number} i */
  function bitmap(i) {
    let bitmap = bitmaps.get(i);
    if (!bitmap) {
      bitmap = /** @type {Promise<Decoded>} */ (blobs[i].then(decoded)).catch(() =>
        anew(urls[i], () => isNeeded(i)),
      );
      bitmap.catch(() => bitmaps.delete(i));
      bitmaps.set(i, bitmap);
    }
    return bitmap;
  }

  /** @param {number} i */
  function drop(i) {
    bitmaps.get(i)?.then(
      (bitmap) => bitmap.close(),
      () => {},
    );
    bitmaps.delete(i);
  }

  /** @param {number[]} kept */
  function dropOthers(kept) {
    for (const i of [...bitmaps.keys()]) if (!kept.includes(i)) drop(i);
  }

  return {
    /** Wait until every picture is fetched. */
    all: () => Promise.all(blobs),
    /**
     * Return the decoded picture at index `i`, ahead of time; reject if it cannot be fetched now.
     * @param {number} i
     * @returns {Promise<Decoded>}
     */
    bitmap,
    /**
     * Return the decoded picture at index `i`, needed now.
     * @param {number} i
     * @returns {Promise<Decoded>}
     */
    needed(i) {
      needed.add(i);
      return bitmap(i).catch(() => bitmap(i));
    },
    /**
     * Return a picture that is not one of `urls`, decoded in the same way.
     * @param {string} url
     */
    extra: (url) => anew(url),
    /** Free the memory of a decoded picture that is no longer needed. */
    drop,
    /** Free the memory of all decoded pictures but those at the indices `kept`. */
    dropOthers,
    /**
     * Decode to another size from now on; what was decoded is freed.
     * @param {DecodedSize} next
     */
    resize(next) {
      if (!loading.isSized) return;
      size = next;
      dropOthers([]);
    },
  };
}
