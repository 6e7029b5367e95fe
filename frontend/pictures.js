// @ts-check
/**
 * The pictures of a block: fetched ahead of time, decoded before a trial needs them.
 * A first paint that decodes costs a frame, and the frame is the measurement.
 */

const FETCHES_AT_ONCE = 6;

/**
 * @param {string[]} urls
 * @param {(url: string) => Promise<Blob>} fetchPicture
 * @param {{px: number, quality: ResizeQuality}} size width and height to decode to, in device pixels
 * @param {(done: number) => void} onProgress
 */
export function loadPictures(urls, fetchPicture, size, onProgress) {
  /** @type {Promise<Blob>[]} */
  const blobs = [];
  /** @type {Map<number, Promise<ImageBitmap>>} */
  const bitmaps = new Map();
  /** @type {(() => void)[]} */
  const starts = [];
  let done = 0;
  for (const url of urls) {
    blobs.push(new Promise((resolve, reject) => starts.push(() => work(url).then(resolve, reject))));
  }
  for (const blob of blobs) blob.catch(() => {}); // whoever waits for the picture is told
  for (let i = 0; i < FETCHES_AT_ONCE; i += 1) starts.shift()?.();

  /** @param {string} url */
  async function work(url) {
    try {
      const blob = await fetchPicture(url);
      onProgress((done += 1));
      return blob;
    } finally {
      starts.shift()?.();
    }
  }

  /** @param {Blob} blob */
  const decoded = (blob) =>
    createImageBitmap(blob, { resizeWidth: size.px, resizeHeight: size.px, resizeQuality: size.quality });

  return {
    /** Wait until every picture is here. */
    all: () => Promise.all(blobs),
    /**
     * The decoded picture at a place.
     * @param {number} i
     * @returns {Promise<ImageBitmap>}
     */
    bitmap(i) {
      let bitmap = bitmaps.get(i);
      if (!bitmap) {
        bitmap = blobs[i].then(decoded);
        bitmap.catch(() => {});
        bitmaps.set(i, bitmap);
      }
      return bitmap;
    },
    /**
     * A picture that was not among them, decoded alike.
     * @param {string} url
     */
    extra: async (url) => decoded(await fetchPicture(url)),
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
