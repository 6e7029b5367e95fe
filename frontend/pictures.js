// @ts-check
/**
 * The pictures of a block: fetched ahead of time, decoded before a trial needs them.
 * A first paint that decodes costs a frame, and the frame is the measurement.
 */

const FETCHES_AT_ONCE = 6;

/**
 * @typedef {ReturnType<import("./api.js").makeApi>["picture"]} FetchPicture
 */

/**
 * What cannot be fetched in advance is fetched again, and the person informed, only once it is needed.
 * @param {string[]} urls
 * @param {FetchPicture} fetchPicture
 * @param {{px: number, quality: ResizeQuality}} size width and height to decode to, in device pixels
 * @param {object} [options]
 * @param {boolean} [options.areAllNeeded] whether somebody waits for all of them
 * @param {(done: number) => void} [options.onProgress]
 */
export function loadPictures(urls, fetchPicture, size, { areAllNeeded = false, onProgress = () => {} } = {}) {
  /** @type {Promise<Blob>[]} */
  const blobs = [];
  /** @type {Map<number, Promise<ImageBitmap>>} */
  const bitmaps = new Map();
  /** @type {Set<number>} */
  const needed = new Set();
  /** @type {(() => void)[]} */
  const starts = [];
  let done = 0;
  for (const i of urls.keys()) {
    blobs.push(new Promise((resolve, reject) => starts.push(() => work(i).then(resolve, reject))));
  }
  for (const blob of blobs) blob.catch(() => {}); // whoever needs the picture asks again
  for (let i = 0; i < FETCHES_AT_ONCE; i += 1) starts.shift()?.();

  /** @param {number} i */
  const isNeeded = (i) => areAllNeeded || needed.has(i);

  /** @param {number} i */
  async function work(i) {
    try {
      const blob = await fetchPicture(urls[i], () => isNeeded(i));
      onProgress((done += 1));
      return blob;
    } finally {
      starts.shift()?.();
    }
  }

  /** @param {Blob} blob */
  const decoded = (blob) =>
    createImageBitmap(blob, { resizeWidth: size.px, resizeHeight: size.px, resizeQuality: size.quality });

  /**
   * @param {string} url
   * @param {() => boolean} [isAwaited]
   */
  async function anew(url, isAwaited) {
    /** @type {ImageBitmap | undefined} */
    let bitmap;
    await fetchPicture(url, isAwaited, async (blob) => {
      bitmap = await decoded(blob);
    });
    return /** @type {ImageBitmap} */ (bitmap);
  }

  /** @param {number} i */
  function bitmap(i) {
    let bitmap = bitmaps.get(i);
    if (!bitmap) {
      bitmap = blobs[i].then(decoded).catch(() => anew(urls[i], () => isNeeded(i)));
      bitmap.catch(() => bitmaps.delete(i));
      bitmaps.set(i, bitmap);
    }
    return bitmap;
  }

  return {
    /** Wait until every picture is here. */
    all: () => Promise.all(blobs),
    /**
     * The decoded picture at a place, ahead of time: it fails where it cannot be had now.
     * @param {number} i
     * @returns {Promise<ImageBitmap>}
     */
    bitmap,
    /**
     * The decoded picture at a place, now.
     * @param {number} i
     * @returns {Promise<ImageBitmap>}
     */
    needed(i) {
      needed.add(i);
      return bitmap(i).catch(() => bitmap(i));
    },
    /**
     * A picture that was not among them, decoded alike.
     * @param {string} url
     */
    extra: (url) => anew(url),
    /**
     * Give back the memory of a picture that is over.
     * @param {number} i
     */
    drop(i) {
      bitmaps.get(i)?.then((bitmap) => bitmap.close(), () => {});
      bitmaps.delete(i);
    },
  };
}
