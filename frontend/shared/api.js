// @ts-check
/**
 * The only module that calls fetch. Responses count once however often they are sent, so every request is
 * repeated until it is confirmed, unless the server refuses it permanently. When repeating does not help,
 * the evaluator is asked before the next attempt: no request is dropped, and its data are retained.
 */

import { addressOf } from "./base_path.js";
import { NeverCame, within } from "./patience.js";

/**
 * Why there is no valid reply.
 *
 * - `offline`: no reply, and the browser says that it has no network;
 * - `unreached`: no reply, or an incomplete one, although there is a network;
 * - `slow`: no reply yet; the request is still pending;
 * - `silent`: no reply in time, by this page's timer or a gateway's;
 * - `busy`: the server asks the client to retry later;
 * - `fault`: the server failed, does not have a picture, or sent a reply that cannot be read;
 * - `portal`: an unrelated page, such as the sign-in page of a hotel's network;
 * - `undecoded`: a picture that arrived, and that the browser does not decode.
 * @typedef {"offline" | "unreached" | "slow" | "silent" | "busy" | "fault" | "portal" | "undecoded"} Kind
 * @typedef {{kind: Kind, path: string, id: string, pause_ms: number}} Trouble `id` as in the server's log, or
 *   ""
 */

/** A request that the server refused permanently. */
export class Refused extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {string} id
   * @param {(string | number)[]} [keys] of the entry of the request that is at fault
   */
  constructor(code, message, id, keys = []) {
    super(message);
    this.code = code;
    this.id = id;
    this.keys = keys;
  }
}

/** A request abandoned after the last attempt, while nobody was waiting for it. */
export class Unreached extends Error {}

const STIMULI = ["image/", "application/octet-stream"];
const IDLE_MS = 20000; // longest time without receiving data
const LOADED_MS = 60000; // for a module, of which nothing is known until it has come
const SLOW_MS = 4000;
const SHORTEST_PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 8000;
const LONGEST_BUSY_PAUSE_MS = 120000;
const TRIES = 6; // about ten seconds, including the pauses between them
const PATIENT_MS = 300000; // total of the pauses while the server is busy or cannot be reached
const GATEWAY_TIMEOUTS = [408, 502, 504];
const BUSY = [429, 503];
const TOO_MANY = 429;
const NOT_IMPLEMENTED = 501; // an optional part of the server is not installed
const REDIRECTED = 0; // our server never redirects
const SIGN_IN_FIRST = 511;

/**
 * @param {object} options
 * @param {(trouble: Trouble | null) => void} options.onTrouble receives the current trouble; null once it is
 *   over
 * @param {(trouble: Trouble) => Promise<unknown>} options.onStuck asks the evaluator; resolves when to try
 *   again
 * @param {() => number} options.random
 * @param {(path: string, init: RequestInit) => Promise<Response>} [options.send]
 * @param {(ms: number) => Promise<unknown>} [options.pause]
 * @param {() => boolean} [options.isOffline]
 * @param {() => void} [options.reload] loads the page again, for code that browsers do not ask for twice
 */
export function makeApi({
  onTrouble,
  onStuck,
  random,
  send = (path, init) => fetch(addressOf(path), init),
  pause = untilOnline,
  isOffline = () => !navigator.onLine, // a network without internet access counts as a network
  reload,
}) {
  /** @type {Map<object, Trouble>} awaited calls that are in trouble */
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
   * @template {object} T
   * @param {string} path
   * @param {() => Promise<T | Failure>} attempt
   * @param {() => boolean} isAwaited whether somebody is waiting for the reply now
   * @returns {Promise<T>}
   */
  async function persistently(path, attempt, isAwaited) {
    const call = {};
    let tries = 0;
    let waited_ms = 0;
    for (;;) {
      const slow = setTimeout(
        () => isAwaited() && tell(call, { kind: "slow", path, id: "", pause_ms: 0 }),
        SLOW_MS,
      );
      const found = await attempt().finally(() => clearTimeout(slow));
      if (!isFailure(found)) {
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
   * Send the request once.
   * @param {string} path
   * @param {RequestInit} init
   * @param {Wanted} wanted
   * @returns {Promise<Reply | Failure>}
   */
  async function sendOnce(path, init, wanted) {
    const stop = new AbortController();
    let isIdle = false;
    let timer = setTimeout(giveUp, IDLE_MS);
    function giveUp() {
      isIdle = true;
      stop.abort();
    }
    try {
      const reply = await send(path, {
        ...init,
        signal: stop.signal,
        credentials: "omit",
        redirect: "manual",
      });
      const body = await wholeBody(reply, () => {
        clearTimeout(timer);
        timer = setTimeout(giveUp, IDLE_MS);
      });
      const found = await judged(reply, body, wanted);
      if (isFailure(found) || !found.ok || !wanted.accept) return found;
      return await wanted.accept(body).then(
        () => found,
        (error) => failure(error instanceof NeverCame ? "undecoded" : "fault"),
      );
    } catch {
      return failure(isIdle ? "silent" : isOffline() ? "offline" : "unreached");
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Import a module once.
   * @template {object} T
   * @param {() => Promise<T>} imported
   * @returns {Promise<T | Failure>}
   */
  async function importOnce(imported) {
    try {
      return await within(LOADED_MS, imported());
    } catch (error) {
      if (error instanceof NeverCame) return failure("silent");
      if (!(error instanceof TypeError)) throw error; // not the network's: what was loaded is at fault
      return failure(isOffline() ? "offline" : "unreached");
    }
  }

  /**
   * Load the page again if the server can be reached: Firefox remembers for the life of a page what could not
   * be imported, and a new version of the service has other files.
   */
  async function reloadIfReached() {
    const reply = await within(IDLE_MS, send(import.meta.url, { cache: "no-store" })).catch(() => null);
    if (reply?.ok) reload?.();
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   * @param {() => boolean} [isAwaited]
   * @returns {Promise<unknown>}
   */
  async function json(path, init, isAwaited = always) {
    const headers = {
      ...init.headers,
      ...(typeof init.body === "string" ? await digestHeader(init.body) : {}),
    };
    init = { ...init, headers };
    const { ok, status, data } = await persistently(
      path,
      () => sendOnce(path, init, { types: ["application/json"], isOurs: true }),
      isAwaited,
    );
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
     * Return a picture or clip, byte for byte.
     * @param {string} url
     * @param {() => boolean} [isAwaited] false during prefetching: trouble is then not reported
     * @param {(picture: Blob) => Promise<unknown>} [accept] rejects if the picture is corrupt; it is then
     *   fetched again; with `accept`, the browser's cache is bypassed
     * @returns {Promise<Blob>}
     */
    async picture(url, isAwaited = always, accept) {
      const { body } = await persistently(
        url,
        () => sendOnce(url, accept ? { cache: "reload" } : {}, { types: STIMULI, isOurs: false, accept }),
        isAwaited,
      );
      return body;
    },
    /**
     * Return a module of the page. What `import()` could not load is asked for again, by another visit of the
     * page if need be.
     * @template {object} T
     * @param {() => Promise<T>} imported
     * @param {() => boolean} [isAwaited] false during preloading: trouble is then not reported
     * @returns {Promise<T>}
     */
    load(imported, isAwaited = always) {
      let failures = 0;
      const attempt = async () => {
        const found = await importOnce(imported);
        failures += isFailure(found) && isAwaited() ? 1 : 0;
        if (failures > 1 && isFailure(found)) await reloadIfReached();
        return found;
      };
      return persistently("", attempt, isAwaited);
    },
  };
}

/**
 * The evaluator's token in a header of its own: CloudFront signs its requests to the functions in
 * `Authorization`.
 * @param {string | null} token
 * @returns {Record<string, string>}
 */
function tokenHeader(token) {
  return token ? { "X-Openhype-Token": token } : {};
}

/**
 * The digest of a body, which CloudFront's signature includes. Other servers ignore it, and a page without a
 * secure context, which cannot compute it, is not served by CloudFront.
 * @param {string} body
 * @returns {Promise<Record<string, string>>}
 */
export async function digestHeader(body) {
  return globalThis.crypto?.subtle ? { "X-Amz-Content-Sha256": await hexDigest(body) } : {};
}

/**
 * Return the SHA-256 of a text; only in a secure context.
 * @param {string} body
 */
export async function hexDigest(body) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @typedef {{types: string[], isOurs: boolean, accept?: (body: Blob) => Promise<unknown>}} Wanted `isOurs`:
 *   whether a refusal by our server (4xx) is a valid reply
 * @typedef {{ok: boolean, status: number, data: unknown, body: Blob}} Reply `data`: the parsed JSON
 * @typedef {{kind: Kind, id: string, retry_after_s: number}} Failure
 */

/**
 * @typedef {import("../../types/api.js").paths} Routes of the API; in their names, `{study}` and other
 *   placeholders match any text
 */

/**
 * @template {string} Route
 * @typedef {Route extends `${infer Before}{${string}}${infer After}` ? `${Before}${string}${PathsOf<After>}`
 *   : Route} PathsOf
 */

/**
 * @template Responses by status
 * @typedef {Responses[keyof Responses & (200 | 201)] extends {content: {"application/json": infer Data}} ?
 *   Data : never} GoodReply
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
 * Data of a successful reply: as declared, or unknown if the path is not a route of the API.
 * @template {string} Verb
 * @template {string} Path
 * @typedef {[DeclaredReply<Verb, Path>] extends [never] ? unknown : DeclaredReply<Verb, Path>} ReplyTo
 */

/**
 * Return the error that a refusal reports, if `data` is a refusal.
 * @param {unknown} data
 */
function errorIn(data) {
  return /** @type {{error?: Partial<import("../../types/api.js").Error>} | null | undefined} */ (data)
    ?.error;
}

/**
 * Classify a complete reply: success, a refusal by our server, or a failure.
 * @param {Response} reply
 * @param {Blob} body
 * @param {Wanted} wanted
 * @returns {Promise<Reply | Failure>}
 */
async function judged({ ok, status, headers }, body, { types, isOurs }) {
  const sent = headers.get("Content-Type") ?? "";
  const isJson = sent.startsWith("application/json");
  /** @type {unknown} */
  const data = isJson
    ? await body
        .text()
        .then(JSON.parse)
        .catch(() => undefined)
    : undefined;
  const error = errorIn(data);
  const id = error?.id ?? "";
  if (
    status === REDIRECTED ||
    status === SIGN_IN_FIRST ||
    (ok && !types.some((type) => sent.startsWith(type)))
  )
    return failure("portal", id);
  if (ok) return isJson && data === undefined ? failure("fault") : { ok, status, data, body };
  const retry_after_s = Number(headers.get("Retry-After")) || 0;
  // Do not wait if the server asks for a delay longer than the limit.
  if (status === TOO_MANY && isOurs && error && 1000 * retry_after_s > PATIENT_MS)
    return { ok, status, data, body };
  if (BUSY.includes(status)) return failure("busy", id, retry_after_s);
  if (GATEWAY_TIMEOUTS.includes(status)) return failure("silent", id);
  const isLasting = (status >= 400 && status < 500) || (status === NOT_IMPLEMENTED && error !== undefined);
  const isRefusal = isOurs && isLasting && data !== undefined;
  return isRefusal ? { ok, status, data, body } : failure("fault", id);
}

/**
 * @template {object} T
 * @param {T | Failure} found
 * @returns {found is Failure}
 */
function isFailure(found) {
  return "kind" in found && "retry_after_s" in found;
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
 * Return whether automatic retries should stop. A lost network returns eventually, so retries continue
 * while somebody waits; a busy or unreachable server is retried for at most `PATIENT_MS`.
 * @param {Kind} kind
 * @param {number} tries
 * @param {number} waited_ms
 * @param {boolean} isAwaited
 */
function isHopeless(kind, tries, waited_ms, isAwaited) {
  if (kind === "undecoded") return true; // it was tried before, and will hardly go faster
  if (kind === "offline" && isAwaited) return false;
  if ((kind === "busy" || kind === "unreached") && isAwaited) return waited_ms > PATIENT_MS;
  return tries >= TRIES;
}

/**
 * Return the complete body; `onPart` is called whenever a part of it arrives.
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

/**
 * Wait for `ms`, or until the network is back if that is sooner.
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
