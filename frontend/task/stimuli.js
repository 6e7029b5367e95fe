// @ts-check
/** The stimuli of a block: one or several pictures, or clips, per trial, decoded in advance. */

/**
 * Load the pictures of each trial ahead of time; index them by trial.
 * @param {string[]} addresses of each trial: the URLs of its pictures, separated by spaces
 * @param {import("./pictures.js").FetchPicture} fetchPicture
 * @param {import("./pictures.js").DecodedSize} size
 * @param {import("./medium.js").Medium} medium
 * @param {{areAllNeeded?: boolean, onProgress?: (share: number) => void}} [options] `onProgress` receives the
 *   share (0 to 1)
 */
export function loadStimuli(
  addresses,
  fetchPicture,
  size,
  medium,
  { areAllNeeded = false, onProgress = () => {} } = {},
) {
  const urls = addresses.map(urlsOf);
  const flat = urls.flat();
  const pictures = medium.load(flat, fetchPicture, size, {
    areAllNeeded,
    onProgress: (done) => onProgress(done / flat.length),
  });
  let count = 0;
  const places = urls.map((own) => own.map(() => count++));
  return {
    /** Wait until every picture is fetched. */
    all: pictures.all,
    /**
     * Return the decoded pictures of trial `i`, ahead of time; reject if they cannot be fetched now.
     * @param {number} i
     */
    bitmaps(i) {
      const ahead = Promise.all(places[i].map(pictures.bitmap));
      ahead.catch(() => {}); // requested again when needed
      return ahead;
    },
    /**
     * Return the decoded pictures of trial `i`, needed now.
     * @param {number} i
     */
    needed: (i) => Promise.all(places[i].map(pictures.needed)),
    /**
     * Return the pictures of a stimulus that is not one of `addresses`, decoded in the same way.
     * @param {string} address
     */
    extra: (address) => Promise.all(urlsOf(address).map(pictures.extra)),
    /**
     * Free the memory of pictures that are no longer needed.
     * @param {number} i
     */
    drop: (i) => places[i].forEach(pictures.drop),
    dropAll: () => pictures.dropOthers([]),
    resize: pictures.resize,
  };
}

/**
 * Return the names of a stimulus' pictures, as a response sends them to the server.
 * @param {string} address
 */
export function namesOf(address) {
  return urlsOf(address)
    .map((url) => url.split("/").pop())
    .join(" ");
}

/** @param {string} address */
function urlsOf(address) {
  return address.split(" ");
}
