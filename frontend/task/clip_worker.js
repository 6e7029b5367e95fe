// @ts-check
/** Decodes clips aside from the page, which goes on showing the clip of another trial. */

import { decodeClip } from "./clip_decoder.js";
import { readClip } from "./clip_file.js";

/** @type {{onmessage: ((event: MessageEvent) => void) | null, postMessage: Function}} */
const scope = globalThis;

scope.onmessage = async ({ data: { serial, blob } }) => {
  try {
    const clip = readClip(await blob.arrayBuffer());
    const frames = await decodeClip(clip);
    scope.postMessage({ serial, head: clip.head, frames }, frames);
  } catch (error) {
    scope.postMessage({ serial, fault: `${error}` });
  }
};
