// @ts-check
/**
 * The back end that draws in a sandboxed frame, on a canvas like the page's. Chromium runs a sandboxed frame
 * in its own process: a busy page does not delay it, and the browser reports when each phase was presented,
 * as it does for the page's own canvas.
 */

import { everyFrame } from "./frames.js";
import { hasElementTiming } from "./element_timing.js";
import { PATIENCE_MS, longestOf, unknown } from "./lost_sequences.js";
import { afterSeen } from "../shared/patience.js";
import { rowOf } from "./stage.js";
import { currentLanguage } from "../texts/texts.js";

/**
 * @param {HTMLElement} stage
 * @param {import("./backend.js").Size} size
 * @param {string} label of the frame
 * @returns {Promise<(import("./backend.js").Backend & {isLost: () => boolean}) | null>} null if the frame
 *   does not start or would not receive presentation times
 */
export async function startFrame(stage, size, label) {
  if (!hasElementTiming()) return null;
  const frame = document.createElement("iframe");
  frame.sandbox.add("allow-scripts");
  frame.allow = "cross-origin-isolated";
  frame.tabIndex = -1;
  frame.title = label;
  const { width_css, height_css } = rowOf(size);
  frame.style.width = `${width_css}px`;
  frame.style.height = `${height_css}px`;
  const script = new URL("./presenter_frame.js", import.meta.url).href;
  const title = frame.title.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  frame.srcdoc =
    `<!doctype html><html lang="${currentLanguage()}"><title>${title}</title><meta ` +
    `name="darkreader-lock"><script ` +
    `type="module" src="${script}"></script>`;
  /** @type {{to: Window | null, port: MessagePort} | null} */
  let line = null;
  let isLost = false;
  // Another screen removes the stage from the page; the frame loads again when the stage returns.
  frame.onload = () => {
    const { contentWindow: to } = frame;
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = ({ data }) => {
      if (data.isReady) line = { to, port: port1 };
    };
    to?.postMessage(size, "*", [port2]);
  };
  const isConnected = () => line !== null && line.to === frame.contentWindow;
  async function connection() {
    let isOver = false;
    const patience = afterSeen(PATIENCE_MS, () => (isOver = true));
    await everyFrame(() => isConnected() || isOver).catch(() => {}); // no frames at all
    patience.stop();
    return isConnected() && line ? line.port : null;
  }
  stage.append(frame);
  const end = () => frame.remove();
  if (!(await connection())) {
    end();
    return null;
  }
  /** @type {import("./backend.js").Show} */
  async function show(serial, phases, frame_ms, onPhase) {
    const port = await connection();
    const wasDrawn = phases.map(() => false);
    return new Promise((resolve) => {
      /** @type {(shown: import("./backend.js").Shown) => void} */
      let settle;
      /** @type {Promise<import("./backend.js").Shown>} */
      const settled = new Promise((done) => (settle = done));
      // No animation frames of the page are requested: the display would wait for a busy page.
      const patience = afterSeen(port ? longestOf(phases) : 0, () => {
        isLost = true;
        settle(unknown(phases, frame_ms));
        resolve({ settled, wasDrawn });
      });
      if (port) {
        port.onmessage = ({ data }) => {
          if (data.serial !== serial) return;
          if ("phase" in data) {
            wasDrawn[data.phase] = true;
            onPhase(phases[data.phase] ?? null);
          }
          if ("wasDrawn" in data) resolve({ settled, wasDrawn: data.wasDrawn });
          if ("shown" in data) {
            patience.stop();
            settle(data.shown);
          }
        };
        port.postMessage({ serial, phases, frame_ms });
      }
    });
  }
  return { element: frame, show, end, isLost: () => isLost };
}
