// @ts-check
/** Polls an address: unchanged data are not sent again, and a hidden page sends no requests. */

import { addressOf } from "../shared/base_path.js";

const EVERY_MS = 3000;
const PATIENCE_MS = 60000; // for a reply, which may take some computing
const LONGEST_PAUSE_MS = 30000;

/**
 * @template Data the JSON data of the address
 * @param {string} path
 * @param {object} hooks
 * @param {(data: Data) => void} hooks.onData called whenever the data have changed
 * @param {(isLost: boolean) => void} hooks.onTrouble
 * @param {() => void} hooks.onKeyNeeded the sign-in has expired, or what is looked at was deleted
 * @param {(path: string, init: RequestInit) => Promise<Response>} [hooks.send]
 * @param {(ms: number) => Promise<unknown>} [hooks.pause]
 * @param {() => boolean} [hooks.goesOn]
 */
export async function lookOn(
  path,
  {
    onData,
    onTrouble,
    onKeyNeeded,
    send = (at, init) => fetch(addressOf(at), { ...init, signal: AbortSignal.timeout(PATIENCE_MS) }),
    pause = untilSeen,
    goesOn = () => true,
  },
) {
  let tag = "";
  let failures = 0;
  do {
    try {
      const reply = await send(path, { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
      if (reply.status === 403 || reply.status === 404) return onKeyNeeded();
      if (reply.status !== 304) {
        if (!reply.ok) throw new Error(`status ${reply.status}`);
        const data = await reply.json();
        tag = reply.headers.get("ETag") ?? "";
        onData(data);
      }
      failures = 0;
    } catch (error) {
      console.warn("looking again:", error);
      failures += 1;
    }
    onTrouble(failures > 1);
    await pause(Math.min(EVERY_MS * 2 ** failures, LONGEST_PAUSE_MS));
  } while (goesOn());
}

/**
 * Wait for `ms`, and until the page is visible.
 * @param {number} ms
 */
export function untilSeen(ms) {
  return new Promise((resolve) => {
    setTimeout(() => {
      if (!document.hidden) return resolve(undefined);
      document.addEventListener("visibilitychange", () => resolve(undefined), { once: true });
    }, ms);
  });
}
