// @ts-check
/**
 * Decodes all frames of a clip before its trial, by WebCodecs. Decoders own few frames, so each is copied and
 * closed at once; not all give them in order, or give all, so they are sorted and counted.
 */

import { ClipError } from "./clip_file.js";

const BYTES_OF_PIXEL = 4;

/**
 * Return the frames of a clip as pictures, in order.
 * @param {ReturnType<typeof import("./clip_file.js").readClip>} clip
 * @returns {Promise<ImageBitmap[]>}
 * @throws {ClipError} the decoder refuses it, or gives other frames than the head says
 */
export async function decodeClip({ head, frames }) {
  /** @type {Promise<{timestamp: number, picture: ImageBitmap}>[]} */
  const copies = [];
  /** @type {unknown} */
  let fault = null;
  const pixels = new Uint8ClampedArray(BYTES_OF_PIXEL * head.width * head.height);
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  const decoder = new VideoDecoder({
    // one after the other, by one buffer: what each would leave behind is as much as all frames
    output: (frame) => {
      const copy = last.then(() => copied(frame, pixels));
      last = copy.catch(() => {});
      copies.push(copy);
    },
    error: (error) => (fault = error),
  });
  try {
    decoder.configure({ codec: head.codec, codedWidth: head.width, codedHeight: head.height });
    for (const { isKey, timestamp, data } of frames)
      decoder.decode(new EncodedVideoChunk({ type: isKey ? "key" : "delta", timestamp, data }));
    await decoder.flush();
  } catch (error) {
    fault ??= error;
  }
  if (decoder.state !== "closed") decoder.close();
  const settled = await Promise.allSettled(copies);
  const found = settled.flatMap((copy) => (copy.status === "fulfilled" ? [copy.value] : []));
  try {
    if (fault || found.length < copies.length) throw new ClipError(`the clip was not decoded: ${fault}`);
    return inOrder(found, frames, head);
  } catch (error) {
    for (const { picture } of found) picture.close();
    throw error;
  }
}

/**
 * @param {VideoFrame} frame
 * @param {Uint8ClampedArray<ArrayBuffer>} pixels buffer of a frame
 */
async function copied(frame, pixels) {
  const { timestamp } = frame;
  try {
    return { timestamp, picture: await pictureOf(frame, pixels) };
  } finally {
    frame.close();
  }
}

/**
 * Return a frame's pixels as a picture of its own: Chromium's pictures of frames keep the frames in memory
 * once they are closed, too. Browsers that cannot convert colours in a copy ignore the format.
 * @param {VideoFrame} frame
 * @param {Uint8ClampedArray<ArrayBuffer>} pixels buffer of a frame
 */
async function pictureOf(frame, pixels) {
  const { width, height } = /** @type {DOMRectReadOnly} */ (frame.visibleRect);
  const format = { format: /** @type {const} */ ("RGBA") };
  const isCopied = pixels.length === BYTES_OF_PIXEL * width * height;
  if (frame.format === null || !isCopied || allocationOf(frame, format) !== pixels.length)
    return createImageBitmap(frame);
  await frame.copyTo(pixels, format);
  return createImageBitmap(new ImageData(pixels, width, height));
}

/**
 * @param {VideoFrame} frame
 * @param {VideoFrameCopyToOptions} options
 */
function allocationOf(frame, options) {
  try {
    return frame.allocationSize(options);
  } catch {
    return NaN;
  }
}

/**
 * Return the pictures by their times, which must be those of the clip; pure.
 * @template {{width: number, height: number}} Picture
 * @param {{timestamp: number, picture: Picture}[]} decoded
 * @param {{timestamp: number}[]} frames
 * @param {{width: number, height: number}} head
 * @returns {Picture[]}
 * @throws {ClipError}
 */
export function inOrder(decoded, frames, { width, height }) {
  const sorted = [...decoded].sort((a, b) => a.timestamp - b.timestamp);
  if (sorted.length !== frames.length)
    throw new ClipError(`the decoder gave ${sorted.length} frames of ${frames.length}`);
  const odd = sorted.findIndex(({ timestamp }, i) => timestamp !== frames[i].timestamp);
  if (odd >= 0) throw new ClipError(`the decoder gave frame ${odd} another time than the clip's`);
  const other = sorted.find(({ picture }) => picture.width !== width || picture.height !== height);
  if (other)
    throw new ClipError(
      `a frame has ${other.picture.width} × ${other.picture.height} px, not ${width} × ${height}`,
    );
  return sorted.map(({ picture }) => picture);
}
