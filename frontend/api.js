// @ts-check
/**
 * The one home of fetch. Answers count once however often they are sent, so that everything is
 * retried until it is confirmed; only what the server refuses for good (4xx) is not.
 */

/** What the server refused for good. */
export class Refused extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {string} id
   */
  constructor(code, message, id) {
    super(message);
    this.code = code;
    this.id = id;
  }
}

const TIMEOUT_MS = 20000;
const LONGEST_PAUSE_MS = 8000;

/**
 * @param {object} options
 * @param {(isOffline: boolean) => void} options.onTrouble
 * @param {() => number} options.random
 * @param {(path: string, init: RequestInit) => Promise<Response>} [options.send]
 * @param {(ms: number) => Promise<unknown>} [options.pause]
 */
export function makeApi({ onTrouble, random, send = (path, init) => fetch(path, init), pause = untilOnline }) {
  /**
   * @param {string} path
   * @param {RequestInit} init
   * @param {string} type of what the server sends when all is well
   * @returns {Promise<Response>}
   */
  async function persistently(path, init, type) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const reply = await send(path, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS), credentials: "omit" });
        if (isFinal(reply, type)) {
          // The body can be lost as well as the head; both count as one attempt.
          const body = await reply.blob();
          onTrouble(false);
          return new Response(body, { status: reply.status });
        }
      } catch {
        // no network, or no answer in time
      }
      if (attempt > 0) onTrouble(true);
      await pause(Math.min(300 * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + random()));
    }
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   */
  async function json(path, init) {
    const reply = await persistently(path, init, "application/json");
    const data = await reply.json().catch(() => ({}));
    if (reply.ok) return data;
    const error = data.error ?? {};
    throw new Refused(error.code ?? `http_${reply.status}`, error.message ?? "", error.id ?? "");
  }

  return {
    /**
     * @param {string} path
     * @param {string | null} token
     */
    get: (path, token = null) => json(path, token ? { headers: { Authorization: `Bearer ${token}` } } : {}),
    /**
     * @param {string} path
     * @param {object} body
     * @param {string | null} token
     */
    post: (path, body, token = null) =>
      json(path, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) },
      }),
    /**
     * A picture, as it was sent.
     * @param {string} url
     */
    async picture(url) {
      const reply = await persistently(url, {}, "image/");
      if (!reply.ok) throw new Refused(`http_${reply.status}`, `picture ${url} could not be loaded`, "");
      return reply.blob();
    },
  };
}

/**
 * Whether asking again is of no use. A 200 of another type is the sign-in page of a hotel's network:
 * taken for a confirmation, it would lose the answer.
 * @param {Response} reply
 * @param {string} type
 */
function isFinal(reply, type) {
  if (reply.ok) return (reply.headers.get("Content-Type") ?? "").startsWith(type);
  return reply.status >= 400 && reply.status < 500 && reply.status !== 429;
}

/**
 * Wait, but no longer than until the network is back.
 * @param {number} ms
 */
function untilOnline(ms) {
  return new Promise((resolve) => {
    const done = () => {
      removeEventListener("online", done);
      resolve(undefined);
    };
    addEventListener("online", done);
    setTimeout(done, ms);
  });
}
