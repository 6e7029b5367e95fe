// @ts-check
/** Looking at an address again and again: what has not changed is not sent, a page that nobody sees asks for nothing. */

const EVERY_MS = 3000;
const LONGEST_PAUSE_MS = 30000;

/**
 * @template Data what the address tells
 * @param {string} path
 * @param {object} hooks
 * @param {(data: Data) => void} hooks.onData called when the data are others than before
 * @param {(isLost: boolean) => void} hooks.onTrouble
 * @param {() => void} hooks.onKeyNeeded the visit is over
 * @param {(path: string, init: RequestInit) => Promise<Response>} [hooks.send]
 * @param {(ms: number) => Promise<unknown>} [hooks.pause]
 * @param {() => boolean} [hooks.goesOn]
 */
export async function lookOn(path, { onData, onTrouble, onKeyNeeded, send = (at, init) => fetch(at, init), pause = untilSeen, goesOn = () => true }) {
  let tag = "";
  let failures = 0;
  do {
    try {
      const reply = await send(path, { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
      if (reply.status === 403) return onKeyNeeded();
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
 * Tell the server to do something; gives its reply's data.
 * @param {string} path
 * @returns {Promise<unknown>}
 */
export async function command(path) {
  const reply = await fetch(path, { method: "POST" });
  if (!reply.ok) throw new Error(`status ${reply.status}`);
  return reply.json();
}

/**
 * Wait, and longer while the page is hidden.
 * @param {number} ms
 */
function untilSeen(ms) {
  return new Promise((resolve) => {
    setTimeout(() => {
      if (!document.hidden) return resolve(undefined);
      document.addEventListener("visibilitychange", () => resolve(undefined), { once: true });
    }, ms);
  });
}
