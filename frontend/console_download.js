// @ts-check
/** A button that downloads a file which the server may have to make first. */

import { Refused, waited } from "./console_api.js";
import { actionButton } from "./console_elements.js";

const BUSY = 503;
const SHORTEST_PAUSE_MS = 2000;

/**
 * @param {string} label
 * @param {() => string} pathNow
 * @param {AbortSignal} signal
 */
export function downloadButton(label, pathNow, signal) {
  return actionButton(label, async () => {
    const path = pathNow();
    await made(path, signal);
    const anchor = document.createElement("a");
    anchor.href = path;
    anchor.download = "";
    anchor.click();
  });
}

/**
 * Wait until the server has made a file; it keeps the file for some minutes.
 * @param {string} path
 * @param {AbortSignal} signal
 */
async function made(path, signal) {
  for (;;) {
    const reply = await fetch(path, { signal, cache: "no-store" });
    if (reply.ok) return void (await reply.body?.cancel());
    const { error } = await reply.json().catch(() => ({ error: { code: "", message: "the server did not make the file; try again", id: "" } }));
    if (reply.status !== BUSY) throw new Refused(error.code, error.message, error.id);
    await waited(Math.max(SHORTEST_PAUSE_MS, 1000 * Number(reply.headers.get("Retry-After"))), signal);
  }
}
