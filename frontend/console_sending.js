// @ts-check
/** Sends the pictures of one model while its form is shown, with progress. */

import { putPart, waitedOrOnline } from "./console_api.js";
import { progress } from "./console_elements.js";
import { counted, remaining, size } from "./console_format.js";
import { pathTo } from "./console_paths.js";
import { folderSource, makeUpload, zipSource } from "./console_upload.js";
import { sha256Hex } from "./sha256.js";

/**
 * @typedef {import("./console_files.js").Handed} Handed
 * @typedef {import("./console_upload.js").Progress} Progress
 */

export function sendingView() {
  const bar = progress("Sending the pictures");
  bar.element.hidden = true;
  return {
    element: bar.element,
    /**
     * Send pictures; return the upload.
     * @param {Handed} handed
     * @param {import("./console_api.js").Api} api
     * @param {(digest: string) => Promise<unknown>} [onBegun] called before the first part is sent; what it throws ends the sending
     * @returns {Promise<string>}
     */
    async send(handed, api, onBegun) {
      /** @type {unknown} */
      let refusal = null;
      /** @type {Progress | null} */
      let last = null;
      bar.element.hidden = false;
      const upload = makeUpload({
        source: handed.isZip ? zipSource(handed.items[0].file) : folderSource(handed.items),
        api,
        put: putPart,
        hash: (bytes) => sha256Hex(bytes),
        pause: waitedOrOnline,
        onProgress(now) {
          last = now;
          bar.update(now.total ? now.done / now.total : null, inWords(now));
        },
        async onBegun(name) {
          if (!onBegun) return;
          const { digest } = await api.get(pathTo`/api/uploads/${name}`);
          await onBegun(digest).catch((error) => {
            refusal = error;
            throw error;
          });
        },
      });
      const name = await upload.run();
      bar.element.hidden = true;
      if (refusal) throw refusal;
      if (!name) throw new Error(/** @type {Progress | null} */ (last)?.problem || "the pictures were not sent; choose them again");
      return name;
    },
  };
}

/**
 * Return what was chosen, in words.
 * @param {Handed} handed
 */
export function inShort({ isZip, name, items }) {
  return isZip ? `A zip: ${items[0].path}, ${size(items[0].file.size)}` : `${name || "Files"}: ${counted(items.length, "picture")}`;
}

/** @param {Progress} progress */
function inWords({ stage, done, total, left_s, problem }) {
  if (stage === "waiting" || stage === "failed") return problem;
  const share = total ? `${Math.floor((100 * done) / total)}%` : "";
  if (stage === "reading") return `Reading: ${share}`;
  return `Sending ${size(total)}: ${share}${left_s === null ? "" : `, about ${remaining(left_s)} left`}`;
}
