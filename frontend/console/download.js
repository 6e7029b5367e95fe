// @ts-check
/** A button that downloads a file which the server may have to make first, with how far it is. */

import { OTHER_MEMBER, Refused, SIGN_IN_CODES, waited } from "./api.js";
import { actionButton, el, progress, showJob } from "./elements.js";
import { pathTo } from "./paths.js";

const TEMPORARY = [429, 502, 503, 504];
const WAIT_S = 2; // how often the server says how far it is
const PAUSE_MS = 300;
const LONGEST_PAUSE_MS = 8000;
const TRIES = 6;
const KEPT_MS = 60000; // browsers read what is saved after the click
/** What another request sees to: it asks for a token, or has the tab start afresh. */
const OF_ALL = [OTHER_MEMBER, ...SIGN_IN_CODES];

/** @typedef {Pick<import("./main.js").Context, "api" | "signal">} Context */

/**
 * Return the button, and the place where progress is shown.
 * @param {string} label
 * @param {string} name of the file
 * @param {() => string} pathNow
 * @param {Context} context
 */
export function downloadButton(label, name, pathNow, context) {
  const place = el("div", { class: "making" });
  const button = actionButton(label, async () => {
    try {
      save(name, await fetched(pathNow(), jobLine(place, label, context), context));
    } finally {
      place.replaceChildren();
    }
  });
  return [button, place];
}

/**
 * @param {string} name
 * @param {Blob} file
 */
function save(name, file) {
  const href = URL.createObjectURL(file);
  Object.assign(document.createElement("a"), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), KEPT_MS);
}

/**
 * Return a file once the server has made it.
 * @param {string} path
 * @param {(job: string) => Promise<void>} showProgress
 * @param {Context} context
 * @param {(ms: number, signal?: AbortSignal) => Promise<unknown>} [pause]
 */
export async function fetched(path, showProgress, { api, signal }, pause = waited) {
  for (let failures = 0; ; ) {
    const reply = await attempt(path, { api, signal });
    if (reply instanceof Blob) return reply;
    const { error, status, retry_after_s } = reply;
    if (error && OF_ALL.includes(error.code)) await api.get("/api/me", { signal });
    else if (error?.keys && status === 503) {
      failures = 0;
      await showProgress(error.keys[0]);
    } else {
      if (error && !TEMPORARY.includes(status)) throw new Refused(error.code, error.message, error.id);
      failures += 1;
      if (failures >= TRIES) throw new Error(error?.message ?? "the file could not be fetched; try again");
      const backoff_ms = Math.min(PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
      await pause(Math.max(backoff_ms, 1000 * retry_after_s), signal);
      continue;
    }
    await pause(PAUSE_MS, signal);
  }
}

/**
 * Return a file, or why it is not there: no `error` if another server than ours says so, or none.
 * @param {string} path
 * @param {Context} context
 */
async function attempt(path, { api, signal }) {
  const headers = { Prefer: `wait=${WAIT_S}` };
  /** @type {Response | null} */
  let reply = null;
  try {
    reply = await api.send(path, { signal, headers, cache: "no-store" });
    if (reply.ok) return await reply.blob();
  } catch {
    signal.throwIfAborted(); // else the server was not reached, or not to the end of the file
  }
  const { error = null } = (await reply?.json().catch(() => null)) ?? {};
  return { error, status: reply?.status ?? 0, retry_after_s: Number(reply?.headers.get("Retry-After")) };
}

/**
 * Return what shows a job, with a button to cancel it.
 * @param {HTMLElement} place
 * @param {string} label
 * @param {Context} context
 * @returns {(id: string) => Promise<void>} rejects once the job was cancelled
 */
function jobLine(place, label, { api, signal }) {
  const bar = progress(label);
  return async (id) => {
    const job = await api.get(pathTo`/api/jobs/${id}`, { signal });
    if (job.state === "cancelled") throw new Error("the download was cancelled");
    showJob(bar, job);
    if (place.firstChild) return;
    const cancel = () => api.post(pathTo`/api/jobs/${id}/cancel`, {}, { again: true, signal });
    place.append(
      bar.element,
      actionButton("Cancel", cancel, { className: "plain", name: `Cancel: ${label}` }),
    );
  };
}
