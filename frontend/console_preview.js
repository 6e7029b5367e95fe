// @ts-check
/** The button that opens a preview, in which the fragment of the address names the page to come back to. */

import { actionButton } from "./console_elements.js";

/**
 * @param {Pick<import("./console.js").Context, "api" | "signal">} context
 * @param {string} path where the preview is opened
 * @param {() => object} [body] what is asked for
 */
export function previewButton({ api, signal }, path, body = () => ({})) {
  return actionButton("Preview", async () => {
    const opened = /** @type {import("../types/api.js").OpenedPreview} */ (
      await api.post(path, body(), { signal })
    );
    location.assign(`${opened.path}#${location.pathname}`);
  });
}
