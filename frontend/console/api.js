// @ts-check
/**
 * The console's requests to the API. The sign-in is a cookie that no script can read; a request that needs a
 * new sign-in waits for it and is then sent again, so that nothing typed is lost. Requests that may be sent
 * twice without harm are repeated while the server cannot be reached; others say that their outcome is
 * unknown.
 */

import { Refused, digestHeader } from "../shared/api.js";
import { addressOf } from "../shared/base_path.js";

export { Refused };

/** No reply, after several attempts or to a request that must not be repeated. */
export class Unreached extends Error {}

/** Codes of refusals for which a token is asked for. */
export const SIGN_IN_CODES = ["no_token", "wrong_token", "expired_token", "revoked_token", "wrong_key"];
/** Code of the refusal of a page that was loaded for another member than the one signed in now. */
export const OTHER_MEMBER = "other_member";
const TRIES = 6;
const SHORTEST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 8000;
const LONGEST_ASKED_PAUSE_MS = 30000;
const BUSY = [429, 503];
const GATEWAY = [408, 502, 504];
const POLL_MS = 700;
const LONGEST_POLL_MS = 3000;
const STALLED_MS = 45000; // longest time in which nothing of a part is sent
const FINAL = ["done", "failed", "cancelled"];

/**
 * @typedef {object} Job
 * @property {string} job
 * @property {string} kind
 * @property {string | null} study
 * @property {string} member
 * @property {"queued" | "running" | "done" | "failed" | "cancelled"} state
 * @property {{what: string, done: number, total: number | null} | null} progress
 * @property {string | null} reason
 * @property {any} result
 * @property {string} created_at
 * @property {string} updated_at
 */

/**
 * @typedef {object} Options
 * @property {boolean} [again] whether the request may be repeated when its outcome is unknown; true for
 *   reading
 * @property {AbortSignal} [signal]
 */

/**
 * @param {object} world
 * @param {(reason: string) => Promise<unknown>} world.signIn asks for a token, and resolves once the cookie
 *   is set; `reason` is the code of the refusal
 * @param {() => string | null} [world.member] for whom the page was loaded, once that is known
 * @param {() => Promise<never>} [world.startAfresh] somebody else has signed in, in another tab
 * @param {(path: string, init: RequestInit) => Promise<Response>} [world.send]
 * @param {(ms: number, signal?: AbortSignal) => Promise<unknown>} [world.pause]
 * @param {() => number} [world.random]
 */
export function makeConsoleApi({
  signIn,
  member = () => null,
  startAfresh = () => new Promise(() => {}),
  send: sendAs = (path, init) => fetch(addressOf(path), init),
  pause = waited,
  random = Math.random,
}) {
  /** @type {Promise<unknown> | null} one dialog for all requests that wait for it */
  let signingIn = null;
  let signIns = 0;

  /**
   * Send a request that says for whom this page was loaded, once, and return the reply.
   * @param {string} path
   * @param {RequestInit} init
   */
  function send(path, init) {
    const name = member();
    const headers = { ...init.headers, ...(name ? { "X-Openhype-Member": name } : {}) };
    return sendAs(path, { ...init, headers });
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   * @param {Options} options
   * @returns {Promise<any>}
   */
  async function request(path, init, { again = false, signal }) {
    for (let tries = 1; ; tries += 1) {
      const signInsBefore = signIns;
      const reply = await attempt(path, init, signal);
      if ("data" in reply) return reply.data;
      if (reply.refusal && SIGN_IN_CODES.includes(reply.refusal.code) && path !== "/api/sign-in") {
        if (signInsBefore === signIns) {
          signingIn ??= askToSignIn(reply.refusal.code);
          await signingIn;
        }
        tries = 0;
        continue;
      }
      if (reply.refusal?.code === OTHER_MEMBER) await startAfresh();
      if (reply.refusal && !reply.isTemporary) throw reply.refusal;
      const maySendAgain = again || reply.isUndone;
      if (!maySendAgain || tries >= TRIES) throw reply.refusal ?? unreached(again);
      const backoff_ms = Math.min(SHORTEST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS) * (0.5 + random());
      await pause(Math.max(backoff_ms, Math.min(1000 * reply.retry_after_s, LONGEST_ASKED_PAUSE_MS)), signal);
    }
  }

  /** @param {string} reason */
  async function askToSignIn(reason) {
    await signIn(reason);
    signIns += 1;
    signingIn = null;
  }

  /**
   * Send the request once.
   * @param {string} path
   * @param {RequestInit} init
   * @param {AbortSignal} [signal]
   * @returns {Promise<{data: any} | Failure>}
   */
  async function attempt(path, init, signal) {
    /** @type {Response} */
    let reply;
    /** @type {any} */
    let data;
    try {
      reply = await send(path, { ...init, signal, credentials: "same-origin", cache: "no-store" });
      data = await reply.json().catch(() => undefined);
    } catch {
      if (signal?.aborted) throw signal.reason;
      return { refusal: null, isTemporary: true, isUndone: false, retry_after_s: 0 };
    }
    if (reply.ok && data !== undefined) return { data };
    const error = data?.error;
    const refusal = error
      ? new Refused(error.code ?? `http_${reply.status}`, error.message ?? "", error.id ?? "", error.keys)
      : null;
    const isUndone = BUSY.includes(reply.status); // the server says that it did nothing
    const isTemporary = isUndone || GATEWAY.includes(reply.status) || !refusal;
    return { refusal, isTemporary, isUndone, retry_after_s: Number(reply.headers.get("Retry-After")) || 0 };
  }

  /**
   * @param {string} path
   * @param {Options} [options]
   */
  function get(path, options = {}) {
    return request(path, {}, { again: true, ...options });
  }

  /**
   * @param {string} path
   * @param {object} [data]
   * @param {Options} [options]
   */
  async function post(path, data = {}, options = {}) {
    const body = JSON.stringify(data);
    const headers = { "Content-Type": "application/json", ...(await digestHeader(body)) };
    return request(path, { method: "POST", body, headers }, options);
  }

  /**
   * Follow a job until it has ended; return it in its final state, whichever that is.
   * @param {string} id
   * @param {(job: Job) => void} onJob
   * @param {AbortSignal} [signal]
   * @returns {Promise<Job>}
   */
  async function job(id, onJob, signal) {
    for (let wait_ms = POLL_MS; ; wait_ms = Math.min(1.2 * wait_ms, LONGEST_POLL_MS)) {
      /** @type {Job} */
      const now = await get(`/api/jobs/${encodeURIComponent(id)}`, { signal });
      onJob(now);
      if (FINAL.includes(now.state)) return now;
      await pause(wait_ms, signal);
    }
  }

  return { get, post, job, send };
}

/**
 * @typedef {ReturnType<typeof makeConsoleApi>} Api
 * @typedef {{refusal: Refused | null, isTemporary: boolean, isUndone: boolean, retry_after_s: number}}
 *   Failure
 */

/** @param {boolean} again */
function unreached(again) {
  return new Unreached(
    again
      ? "The server cannot be reached. Check the connection, then try again."
      : "The connection broke before the reply. Load this page again to see whether it was done, before " +
          "you try again.",
  );
}

/**
 * Wait for `ms`; reject at once if the signal aborts.
 * @param {number} ms
 * @param {AbortSignal} [signal]
 */
export function waited(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", stop, { once: true });
    function done() {
      signal?.removeEventListener("abort", stop);
      resolve(undefined);
    }
    function stop() {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    if (signal?.aborted) stop();
  });
}

/**
 * Send a part of an upload. By XMLHttpRequest, which unlike fetch tells how much was sent, and so whether it
 * goes on.
 * @param {string} url
 * @param {Record<string, string>} headers
 * @param {Blob} body
 * @param {(bytes: number) => void} onSent
 * @param {AbortSignal} signal
 * @returns {Promise<import("./upload.js").Reply>} status 0 if the server was not reached
 */
export function putPart(url, headers, body, onSent, signal) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    /** @type {ReturnType<typeof setTimeout>} */
    let timer;
    const isMoving = () => {
      clearTimeout(timer);
      timer = setTimeout(() => request.abort(), STALLED_MS);
    };
    const stop = () => request.abort();
    request.upload.addEventListener("progress", ({ loaded }) => {
      isMoving();
      onSent(Math.min(loaded, body.size));
    });
    request.addEventListener("loadend", () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve({ status: request.status, ...refusalIn(request.responseText) });
    });
    signal.addEventListener("abort", stop, { once: true });
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    isMoving();
    request.send(body);
  });
}

/** @param {string} text */
function refusalIn(text) {
  try {
    const { code = "", message = "" } = JSON.parse(text).error ?? {};
    return { code, message };
  } catch {
    return { code: "", message: "" }; // not our server's
  }
}

/**
 * Wait for `ms`, or until the browser says that the network is back.
 * @param {number} ms
 * @param {AbortSignal} signal
 */
export function waitedOrOnline(ms, signal) {
  const sooner = new AbortController();
  const wake = () => sooner.abort();
  addEventListener("online", wake);
  return waited(ms, AbortSignal.any([signal, sooner.signal]))
    .catch(() => signal.throwIfAborted())
    .finally(() => removeEventListener("online", wake));
}
