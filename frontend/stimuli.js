// @ts-check
/** The stimuli of a block: one picture per trial, or several combined into one; decoded in advance. */

/**
 * Load stimuli as `medium.load` does, but indexed by trial.
 * @param {string[]} addresses of each trial: the URLs of its pictures, separated by spaces
 * @param {import("./pictures.js").FetchPicture} fetchPicture
 * @param {{px: number, quality: ResizeQuality}} size
 * @param {import("./medium.js").Medium} medium
 * @param {import("./judgment.js").Judgment["arrange"]} arrange
 * @param {{areAllNeeded?: boolean, onProgress?: (share: number) => void}} [options] `onProgress` receives the share (0 to 1)
 * @returns {ReturnType<import("./medium.js").Medium["load"]>}
 */
export function loadStimuli(addresses, fetchPicture, size, medium, arrange, { areAllNeeded = false, onProgress = () => {} } = {}) {
  const urls = addresses.map(urlsOf);
  const flat = urls.flat();
  const pictures = medium.load(flat, fetchPicture, size, { areAllNeeded, onProgress: (done) => onProgress(done / flat.length) });
  if (!arrange) return pictures;

  let count = 0;
  const places = urls.map((own) => own.map(() => count++));
  /** @type {Map<number, Promise<ImageBitmap>>} */
  const arranged = new Map();

  /** @param {number} i */
  function bitmap(i) {
    let bitmap = arranged.get(i);
    if (!bitmap) {
      bitmap = Promise.all(places[i].map(pictures.bitmap)).then(arrange);
      bitmap.catch(() => arranged.delete(i));
      arranged.set(i, bitmap);
    }
    return bitmap;
  }

  return {
    all: pictures.all,
    bitmap,
    needed: (i) => Promise.all(places[i].map(pictures.needed)).then(() => bitmap(i)),
    extra: (address) => Promise.all(urlsOf(address).map(pictures.extra)).then(arrange),
    drop(i) {
      places[i].forEach(pictures.drop);
      arranged.get(i)?.then((bitmap) => bitmap.close(), () => {});
      arranged.delete(i);
    },
  };
}

/**
 * Return the names of a stimulus' pictures, as a response sends them to the server.
 * @param {string} address
 */
export function namesOf(address) {
  return urlsOf(address).map((url) => url.split("/").pop()).join(" ");
}

/** @param {string} address */
function urlsOf(address) {
  return address.split(" ");
}
