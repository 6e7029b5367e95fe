// @ts-check
/** A button that downloads a file which the server may have to make first. */

import { Refused, SIGN_IN_CODES, Unreached, waited } from "./console_api.js";
import { actionButton } from "./console_elements.js";

const BUSY = 503;
const SHORTEST_PAUSE_MS = 2000;

/**
 * @param {string} label
 * @param {() => string} pathNow
 * @param {Pick<import("./console.js").Context, "api" | "signal">} context
 */
export function downloadButton(label, pathNow, context) {
  return actionButton(label, async () => {
    const path = pathNow();
    await made(path, context);
    const anchor = document.createElement("a");
    anchor.href = path;
    anchor.download = "";
    anchor.click();
  });
}

/**
 * Wait until the server has made a file; it keeps the file for some minutes.
 * @param {string} path
 * @param {Pick<import("./console.js").Context, "api" | "signal">} context
 */
async function made(path, { api, signal }) {
  for (;;) {
    const reply = await fetch(path, { signal, cache: "no-store" }).catch(() => {
      signal.throwIfAborted();
      throw new Unreached("The server cannot be reached. Check the connection, then try again.");
    });
    if (reply.ok) return void (await reply.body?.cancel());
    const { error } = await reply
      .json()
      .catch(() => ({ error: { code: "", message: "the server did not make the file; try again", id: "" } }));
    if (SIGN_IN_CODES.includes(error.code))
      await api.get("/api/me", { signal }); // asks for a token
    else if (reply.status !== BUSY) throw new Refused(error.code, error.message, error.id);
    else await waited(Math.max(SHORTEST_PAUSE_MS, 1000 * Number(reply.headers.get("Retry-After"))), signal);
  }
}
