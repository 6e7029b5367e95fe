// @ts-check
/** The button that opens a preview, in which the fragment of the address names the page to come back to. */

import { actionButton } from "./elements.js";

/**
 * @param {Pick<import("./main.js").Context, "api" | "signal">} context
 * @param {string} path where the preview is opened
 * @param {object} [options]
 * @param {() => Promise<object>} [options.order] what is asked for
 * @param {(error: unknown) => void} [options.onError] shows an error; by default it stands below the button
 */
export function previewButton({ api, signal }, path, { order = async () => ({}), onError } = {}) {
  const button = actionButton("Preview", open, { onError });
  async function open() {
    button.textContent = "Opening the preview…";
    try {
      const opened = /** @type {import("../../types/api.js").OpenedPreview} */ (
        await api.post(path, await order(), { signal })
      );
      location.assign(`${opened.path}#${location.pathname}`);
    } finally {
      button.textContent = "Preview";
    }
  }
  return button;
}
