// @ts-check
/**
 * The one home of fetch. Answers count once however often they are sent, so that everything is sent again
 * until it is confirmed; only what the server refuses for good is not. Where sending again does not help,
 * the person is asked before it continues: nothing is discarded, and what was to be sent is retained.
 */

/**
 * What was received instead of a successful reply.
 *
 * - `offline`: no reply, and the browser says that it has no network;
 * - `unreached`: no reply, or one that broke off, though there is a network;
 * - `slow`: none so far, and it is still waited for;
 * - `silent`: none in time, by our clock or a gateway's;
 * - `busy`: the server asks to come back later;
 * - `fault`: the server failed, does not have a picture, or its reply cannot be read;
 * - `portal`: a page of another kind, such as the one to sign in to a hotel's network.
 * @typedef {"offline" | "unreached" | "slow" | "silent" | "busy" | "fault" | "portal"} Kind
 * @typedef {{kind: Kind, path: string, id: string, pause_ms: number}} Trouble `id` as in the server's log, or ""
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

/** What was tried long enough while nobody waited for it. */
export class Unreached extends Error {}

const IDLE_MS = 20000; // nothing was received for this long
const SLOW_MS = 4000;
const SHORTEST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 8000;
const LONGEST_BUSY_PAUSE_MS = 120000;
const TRIES = 6; // with the pauses between them about ten seconds
const PATIENT_MS = 300000; // of pauses in all, while the server is busy or cannot be reached
const GATEWAY_TIMEOUTS = [408, 502, 504];
const BUSY = [429, 503];
const TOO_MANY = 429;
const NOT_IMPLEMENTED = 501; // a part of the server is not installed
const REDIRECTED = 0; // nothing of ours redirects
const SIGN_IN_FIRST = 511;

/**
 * @param {object} options
 * @param {(trouble: Trouble | null) => void} options.onTrouble called with what the person is waiting for; null when the wait is over
 * @param {(trouble: Trouble) => Promise<unknown>} options.onStuck asks the person; ends when it is to be tried again
 * @param {() => number} options.random
 * @param {(path: string, init: RequestInit) => Promise<Response>} [options.send]
 * @param {(ms: number) => Promise<unknown>} [options.pause]
 * @param {() => boolean} [options.isOffline]
 */
export function makeApi({ onTrouble, onStuck, random, send = (path, init) => fetch(path, init), pause = untilOnline, isOffline = hasNoNetwork }) {
  /** @type {Map<object, Trouble>} of the calls that are waited for, those in trouble */
  const troubles = new Map();

  /**
   * @param {object} call
   * @param {Trouble | null} trouble
   */
  function tell(call, trouble) {
    if (!trouble && !troubles.has(call)) return;
    troubles.delete(call);
    if (trouble) troubles.set(call, trouble);
    onTrouble([...troubles.values()].pop() ?? null);
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   * @param {Wanted} wanted
   * @param {() => boolean} isAwaited whether somebody waits for it now
   * @returns {Promise<Reply>}
   */
  async function persistently(path, init, wanted, isAwaited) {
    const call = {};
    let tries = 0;
    let waited_ms = 0;
    for (;;) {
      const slow = setTimeout(() => isAwaited() && tell(call, { kind: "slow", path, id: "", pause_ms: 0 }), SLOW_MS);
      const found = await attempt(path, init, wanted).finally(() => clearTimeout(slow));
      if (!("kind" in found)) {
        tell(call, null);
        return found;
      }
      tries += 1;
      const backoff_ms = Math.min(SHORTEST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS) * (0.5 + random());
      const asked_ms = Math.min(1000 * found.retry_after_s, LONGEST_BUSY_PAUSE_MS) * (1 + random() / 5);
      const trouble = { kind: found.kind, path, id: found.id, pause_ms: Math.max(backoff_ms, asked_ms) };
      waited_ms += trouble.pause_ms;
      if (isHopeless(found.kind, tries, waited_ms, isAwaited())) {
        tell(call, null);
        if (!isAwaited()) throw new Unreached(`${path}: ${found.kind}`);
        await onStuck(trouble);
        tries = waited_ms = 0;
        continue;
      }
      if (isAwaited() && (tries > 1 || asked_ms > 0)) tell(call, trouble);
      await pause(trouble.pause_ms);
    }
  }

  /**
   * Send once.
   * @param {string} path
   * @param {RequestInit} init
   * @param {Wanted} wanted
   * @returns {Promise<Reply | Failure>}
   */
  async function attempt(path, init, wanted) {
    const stop = new AbortController();
    let isIdle = false;
    let timer = setTimeout(giveUp, IDLE_MS);
    function giveUp() {
      isIdle = true;
      stop.abort();
    }
    try {
      const reply = await send(path, { ...init, signal: stop.signal, credentials: "omit", redirect: "manual" });
      const body = await wholeBody(reply, () => {
        clearTimeout(timer);
        timer = setTimeout(giveUp, IDLE_MS);
      });
      const found = await judged(reply, body, wanted);
      const isGood = "kind" in found || !found.ok || !wanted.accept || (await wanted.accept(body).then(always, never));
      return isGood ? found : failure("fault");
    } catch {
      return failure(isIdle ? "silent" : isOffline() ? "offline" : "unreached");
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   * @param {() => boolean} [isAwaited]
   * @returns {Promise<unknown>}
   */
  async function json(path, init, isAwaited = always) {
    const headers = { ...init.headers, ...(typeof init.body === "string" ? await digestHeader(init.body) : {}) };
    init = { ...init, headers };
    const { ok, status, data } = await persistently(path, init, { type: "application/json", isOurs: true }, isAwaited);
    if (ok) return data;
    const error = errorIn(data) ?? {};
    throw new Refused(error.code ?? `http_${status}`, error.message ?? "", error.id ?? "");
  }

  return {
    /**
     * @template {string} Path
     * @param {Path} path
     * @param {string | null} token
     * @param {() => boolean} [isAwaited]
     * @returns {Promise<ReplyTo<"get", Path>>}
     */
    get: (path, token = null, isAwaited = always) =>
      /** @type {Promise<ReplyTo<"get", Path>>} */ (json(path, { headers: tokenHeader(token) }, isAwaited)),
    /**
     * @template {string} Path
     * @param {Path} path
     * @param {object} body
     * @param {string | null} token
     * @param {() => boolean} [isAwaited]
     * @returns {Promise<ReplyTo<"post", Path>>}
     */
    post: (path, body, token = null, isAwaited = always) =>
      /** @type {Promise<ReplyTo<"post", Path>>} */ (
        json(
          path,
          {
            method: "POST",
            body: JSON.stringify(body),
            headers: { "Content-Type": "application/json", ...tokenHeader(token) },
          },
          isAwaited,
        )
      ),
    /**
     * A picture, as it was sent.
     * @param {string} url
     * @param {() => boolean} [isAwaited] false while it is fetched in advance: no trouble is reported then
     * @param {(picture: Blob) => Promise<unknown>} [accept] fails where the picture is broken; it is then fetched
     *   anew, past the browser's cache
     * @returns {Promise<Blob>}
     */
    async picture(url, isAwaited = always, accept) {
      const { body } = await persistently(url, accept ? { cache: "reload" } : {}, { type: "image/", isOurs: false, accept }, isAwaited);
      return body;
    },
  };
}

/**
 * The evaluator's token in a header of its own: CloudFront signs its requests to the functions in `Authorization`.
 * @param {string | null} token
 * @returns {Record<string, string>}
 */
function tokenHeader(token) {
  return token ? { "X-Openhype-Token": token } : {};
}

/**
 * The digest of a body, which CloudFront's signature includes. Other servers ignore it, and a page without a secure
 * context, which cannot compute it, is not served by CloudFront.
 * @param {string} body
 * @returns {Promise<Record<string, string>>}
 */
async function digestHeader(body) {
  if (!globalThis.crypto?.subtle) return {};
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  return { "X-Amz-Content-Sha256": Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/**
 * @typedef {{type: string, isOurs: boolean, accept?: (body: Blob) => Promise<unknown>}} Wanted `isOurs`: whether a
 *   refusal of the server's own (4xx) is an answer
 * @typedef {{ok: boolean, status: number, data: unknown, body: Blob}} Reply `data` of JSON
 * @typedef {{kind: Kind, id: string, retry_after_s: number}} Failure
 */

/** @typedef {import("../types/api.js").paths} Routes of the API; parts such as `{study}` match any text */

/**
 * @template {string} Route
 * @typedef {Route extends `${infer Before}{${string}}${infer After}` ? `${Before}${string}${PathsOf<After>}` : Route} PathsOf
 */

/**
 * @template Responses by status
 * @typedef {Responses[keyof Responses & (200 | 201)] extends {content: {"application/json": infer Data}} ? Data : never} GoodReply
 */

/**
 * @template {string} Verb
 * @template {string} Path
 * @typedef {{
 *   [Route in keyof Routes]: Path extends PathsOf<Route>
 *     ? Routes[Route] extends Record<Verb, {responses: infer Responses}> ? GoodReply<Responses> : never
 *     : never
 * }[keyof Routes]} DeclaredReply
 */

/**
 * What a good reply tells: as it is declared, and nothing known where the path is no route of the API.
 * @template {string} Verb
 * @template {string} Path
 * @typedef {[DeclaredReply<Verb, Path>] extends [never] ? unknown : DeclaredReply<Verb, Path>} ReplyTo
 */

/**
 * The error that a refusal tells of, if it is one.
 * @param {unknown} data
 */
function errorIn(data) {
  return /** @type {{error?: Partial<import("../types/api.js").Error>} | null | undefined} */ (data)?.error;
}

/**
 * Classify a complete reply: a success, a refusal by our server, or a failure.
 * @param {Response} reply
 * @param {Blob} body
 * @param {Wanted} wanted
 * @returns {Promise<Reply | Failure>}
 */
async function judged({ ok, status, headers }, body, { type, isOurs }) {
  const sent = headers.get("Content-Type") ?? "";
  const isJson = sent.startsWith("application/json");
  /** @type {unknown} */
  const data = isJson ? await body.text().then(JSON.parse).catch(() => undefined) : undefined;
  const error = errorIn(data);
  const id = error?.id ?? "";
  if (status === REDIRECTED || status === SIGN_IN_FIRST || (ok && !sent.startsWith(type))) return failure("portal", id);
  if (ok) return isJson && data === undefined ? failure("fault") : { ok, status, data, body };
  const retry_after_s = Number(headers.get("Retry-After")) || 0;
  // What is asked to come back so late need not be waited for.
  if (status === TOO_MANY && isOurs && error && 1000 * retry_after_s > PATIENT_MS) return { ok, status, data, body };
  if (BUSY.includes(status)) return failure("busy", id, retry_after_s);
  if (GATEWAY_TIMEOUTS.includes(status)) return failure("silent", id);
  const isLasting = (status >= 400 && status < 500) || (status === NOT_IMPLEMENTED && error !== undefined);
  const isRefusal = isOurs && isLasting && data !== undefined;
  return isRefusal ? { ok, status, data, body } : failure("fault", id);
}

/**
 * @param {Kind} kind
 * @param {string} [id]
 * @param {number} [retry_after_s]
 * @returns {Failure}
 */
function failure(kind, id = "", retry_after_s = 0) {
  return { kind, id, retry_after_s: Math.max(0, retry_after_s) };
}

/**
 * Whether sending again by itself is of no more use. A lost network comes back, so that there is no end to
 * that while somebody waits; a server that is busy or not there is waited for some minutes.
 * @param {Kind} kind
 * @param {number} tries
 * @param {number} waited_ms
 * @param {boolean} isAwaited
 */
function isHopeless(kind, tries, waited_ms, isAwaited) {
  if (kind === "offline" && isAwaited) return false;
  if ((kind === "busy" || kind === "unreached") && isAwaited) return waited_ms > PATIENT_MS;
  return tries >= TRIES;
}

/** Whether the browser knows that there is no network; one that does not reach the internet counts. */
function hasNoNetwork() {
  return !navigator.onLine;
}

/**
 * The complete body; `onPart` is called as parts of it arrive.
 * @param {Response} reply
 * @param {() => void} onPart
 */
async function wholeBody(reply, onPart) {
  const type = reply.headers.get("Content-Type") ?? "";
  const reader = reply.body?.getReader();
  /** @type {BlobPart[]} */
  const parts = [];
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    onPart();
    parts.push(/** @type {BlobPart} */ (part.value));
  }
  return new Blob(parts, { type });
}

function always() {
  return true;
}

function never() {
  return false;
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
