// @ts-check
/**
 * One upload: a folder (as one stream) or a zip, read for its checksums and sent in parts. The upload's name
 * follows from its content, so that the same folder chosen again continues where it stopped. Memory stays
 * flat: a part is read for its checksum, and again when it is sent.
 */

import { Unreached } from "./api.js";
import { crc32Hex } from "./crc32.js";
import { progress } from "./elements.js";

const PART_BYTES = 5 * 1024 * 1024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSENDABLE = /[\x00-\x1f\x7f\\]|\p{Surrogate}/u;
const AT_ONCE = 3; // parts in flight
const URLS = 9; // asked for at a time, so that presigned ones do not expire before they are used
const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15000;
const TRIES = 8; // failures in a row that are not the network's
const RECENT_MS = 20000;
const LOST = "The connection is lost. It goes on by itself once the server can be reached.";
const BUSY = "The server takes no pictures at the moment. It goes on by itself once it does.";
const RETRIED = [0, 408, 425, 429, 500, 502, 503, 504];

/**
 * What is sent; the bytes of its files are not read before they are asked for.
 * @typedef {{format: "files" | "zip", content: Blob}} Source
 *
 * @typedef {object} UploadState as the server describes an upload
 * @property {string} upload
 * @property {"receiving" | "complete"} state
 * @property {number[]} missing numbers of parts, from 0
 *
 * @typedef {object} Reply
 * @property {number} status 0 if the server was not reached
 * @property {string} code of a refusal, or ""
 * @property {string} message of a refusal, or ""
 *
 * @typedef {"ready" | "reading" | "sending" | "waiting" | "paused" | "complete" | "failed"} Stage
 *
 * @typedef {object} Progress
 * @property {Stage} stage
 * @property {number} done bytes read or sent
 * @property {number} total
 * @property {number | null} left_s seconds that sending still takes
 * @property {string} problem why it failed, or waits
 */

/**
 * Return a folder as it is sent: a list with a line `BYTES PATH` for each file, an empty line, and their
 * contents in this order. It follows from paths and contents alone, as of `backend/client/file_stream.py`;
 * both are held together by tests/unit/file_streams.json.
 * @param {import("./files.js").Item[]} items
 * @returns {Source}
 */
export function folderSource(items) {
  if (!items.length) throw new Error("there are no files to send");
  const ordered = [...items].sort((one, other) => (one.path < other.path ? -1 : 1)); // by UTF-16 code units
  const lines = ordered.map(({ path, file }, i) => {
    if (UNSENDABLE.test(path))
      throw new Error(
        `${path} cannot be sent: its name has a control character, a backslash, or no valid text`,
      );
    if (path === ordered[i - 1]?.path) throw new Error(`${path} stands twice among the files`);
    return `${file.size} ${path}\n`;
  });
  return { format: "files", content: new Blob([...lines, "\n", ...ordered.map(({ file }) => file)]) };
}

/**
 * @param {File} file
 * @returns {Source}
 */
export function zipSource(file) {
  return { format: "zip", content: file };
}

/**
 * @param {object} world
 * @param {Source} world.source
 * @param {Pick<import("./api.js").Api, "get" | "post">} world.api
 * @param {(url: string, headers: Record<string, string>, body: Blob, onSent: (bytes: number) => void, signal:
 *   AbortSignal) => Promise<Reply>} world.put
 * @param {(ms: number, signal: AbortSignal) => Promise<unknown>} world.pause ends early when the network is
 *   back
 * @param {(progress: Progress) => void} world.onProgress
 * @param {(upload: string) => unknown} world.onBegun called with the upload's name before the first part is
 *   sent
 * @param {() => number} [world.now] ms
 * @param {() => number} [world.random]
 */
export function makeUpload({
  source: { format, content },
  api,
  put,
  pause,
  onProgress,
  onBegun,
  now = () => performance.now(),
  random = Math.random,
}) {
  const total = content.size;
  const count = Math.ceil(total / PART_BYTES);
  const blobOf = (/** @type {number} */ part) => content.slice(part * PART_BYTES, (part + 1) * PART_BYTES);
  /** @type {string[]} */
  const checksums = [];
  /** @type {Progress} */
  let progress = { stage: "ready", done: 0, total, left_s: null, problem: "" };
  /** @type {Map<number, number>} bytes on their way, by part */
  const inFlight = new Map();
  let stored = 0;
  let stop = new AbortController();
  /** @type {{at: number, bytes: number}[]} */
  let recent = [];
  /** @type {Promise<string | null> | null} */
  let running = null;

  /** @param {Partial<Progress>} change */
  function tell(change) {
    progress = { ...progress, ...change };
    onProgress(progress);
  }

  /**
   * Read, send and complete; return the upload's name once the server has it all, or null if it was paused or
   * failed. Called again, it goes on.
   */
  function run() {
    running ??= work().finally(() => (running = null));
    return running;
  }

  async function work() {
    stop = new AbortController();
    const { signal } = stop;
    try {
      await read(signal);
      const upload = await send(signal);
      tell({ stage: "complete", done: total, left_s: null, problem: "" });
      return upload;
    } catch (error) {
      stop.abort(); // the other parts on their way
      if (signal.reason === "paused") tell({ stage: "paused", left_s: null, problem: "" });
      else tell({ stage: "failed", left_s: null, problem: problemOf(error) });
      return null;
    }
  }

  /** @param {AbortSignal} signal */
  async function read(signal) {
    while (checksums.length < count) {
      signal.throwIfAborted();
      tell({ stage: "reading", done: checksums.length * PART_BYTES });
      checksums.push(crc32Hex(new Uint8Array(await blobOf(checksums.length).arrayBuffer())));
    }
  }

  /** @param {AbortSignal} signal */
  async function send(signal) {
    /** @type {UploadState} */
    let state = await asked("/api/uploads", { format, bytes: total, parts: checksums }, signal);
    await onBegun(state.upload);
    const path = `/api/uploads/${encodeURIComponent(state.upload)}`;
    while (state.state !== "complete") {
      await sendParts(path, state.missing, signal);
      state = await asked(`${path}/complete`, {}, signal).catch(async (error) => {
        if (error.code !== "parts_missing") throw error;
        return asked(path, null, signal);
      });
    }
    return state.upload;
  }

  /**
   * Ask the API, however long the network is away.
   * @param {string} path
   * @param {object | null} body null to read
   * @param {AbortSignal} signal
   */
  async function asked(path, body, signal) {
    for (let failures = 0; ; failures += 1) {
      try {
        return await (body ? api.post(path, body, { again: true, signal }) : api.get(path, { signal }));
      } catch (error) {
        if (!(error instanceof Unreached)) throw error;
        await wait(failures, signal);
      }
    }
  }

  /**
   * @param {string} path
   * @param {number[]} missing
   * @param {AbortSignal} signal
   */
  async function sendParts(path, missing, signal) {
    stored = total - missing.reduce((sum, part) => sum + blobOf(part).size, 0);
    recent = [];
    inFlight.clear();
    tellSent();
    const left = [...missing];
    /** @type {{part: number, url: string, headers: Record<string, string>}[]} */
    const urls = [];
    /** @type {Promise<unknown> | null} */
    let asking = null;
    const next = async () => {
      while (!urls.length && (left.length || asking)) {
        asking ??= asked(`${path}/urls`, { parts: left.splice(0, URLS) }, signal).then((reply) => {
          urls.push(...reply.urls);
          asking = null;
        });
        await asking;
      }
      return urls.shift();
    };
    const worker = async () => {
      for (let place = await next(); place; place = await next()) await sendPart(path, place, signal);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
  }

  /**
   * @param {string} path
   * @param {{part: number, url: string, headers: Record<string, string>}} place
   * @param {AbortSignal} signal
   */
  async function sendPart(path, place, signal) {
    const { part } = place;
    let { url, headers } = place;
    for (let failures = 0; ; failures += 1) {
      signal.throwIfAborted();
      const body = blobOf(part);
      const onSent = (/** @type {number} */ bytes) => {
        inFlight.set(part, bytes);
        tellSent();
      };
      const { status, code, message } = await put(url, headers, body, onSent, signal);
      inFlight.delete(part);
      signal.throwIfAborted();
      if (status >= 200 && status < 300) {
        stored += body.size;
        return tellSent();
      }
      if (code === "wrong_part")
        throw new Error("a picture was changed while it was being sent; choose the folder again");
      // browsers send no file that has changed, as if the connection were lost; this says so
      if (status === 0) await body.arrayBuffer();
      if (status !== 403 && !RETRIED.includes(status))
        throw new Error(message || `the server refused a part of the pictures (status ${status})`);
      if (status !== 0 && failures >= TRIES)
        throw new Error(
          message ||
            "the server did not take the pictures although it was asked several times; try again later",
        );
      await wait(failures, signal, status ? BUSY : LOST);
      // signed out, or the address has expired: a new one comes with a valid sign-in
      if (status !== 403) continue;
      [{ url, headers }] = (await asked(`${path}/urls`, { parts: [part] }, signal)).urls;
    }
  }

  /**
   * @param {number} failures
   * @param {AbortSignal} signal
   * @param {string} [problem]
   */
  async function wait(failures, signal, problem = LOST) {
    tell({ stage: "waiting", left_s: null, problem });
    await pause(Math.min(SHORTEST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (0.5 + random()), signal);
    signal.throwIfAborted();
  }

  function tellSent() {
    const done = stored + [...inFlight.values()].reduce((sum, bytes) => sum + bytes, 0);
    const at = now();
    recent = [...recent.filter((before) => at - before.at < RECENT_MS), { at, bytes: done }];
    const [first] = recent;
    const rate = at - first.at > 500 ? (done - first.bytes) / (at - first.at) : 0;
    tell({
      stage: "sending",
      done,
      left_s: rate > 0 ? (total - done) / rate / 1000 : null,
      problem: "",
    });
  }

  return {
    run,
    /** Stop sending; `run` goes on. */
    pause: () => stop.abort("paused"),
    get progress() {
      return progress;
    },
  };
}

/** @typedef {ReturnType<typeof makeUpload>} Upload */

/** @param {unknown} error */
function problemOf(error) {
  if (error instanceof DOMException && ["NotReadableError", "NotFoundError"].includes(error.name)) {
    return (
      "a file can no longer be read: it was changed, moved or deleted after it was chosen; choose the " +
      "folder again"
    );
  }
  return error instanceof Error ? error.message : "something went wrong here; try again";
}
