// @ts-check
/** A button that downloads a file which the server may have to make first, with how far it is. */

import { addressOf } from "./base_path.js";
import { OTHER_MEMBER, Refused, SIGN_IN_CODES, waited } from "./console_api.js";
import { actionButton, el, progress, showJob } from "./console_elements.js";
import { pathTo } from "./console_paths.js";

const BUSY = 503;
const WAIT_S = 2; // how often the server says how far it is
const PAUSE_MS = 300;
const UNREACHED = "unreached";
/** What another request sees to: it asks for a token, waits for the server, or has the tab start afresh. */
const OF_ALL = [UNREACHED, OTHER_MEMBER, ...SIGN_IN_CODES];

/** @typedef {Pick<import("./console.js").Context, "api" | "signal">} Context */

/**
 * Return the button, and the place where progress is shown.
 * @param {string} label
 * @param {() => string} pathNow
 * @param {Context} context
 */
export function downloadButton(label, pathNow, context) {
  const place = el("div", { class: "making" });
  const button = actionButton(label, async () => {
    const path = pathNow();
    try {
      await made(path, jobLine(place, label, context), context);
    } finally {
      place.replaceChildren();
    }
    const anchor = document.createElement("a");
    anchor.href = addressOf(path);
    anchor.download = "";
    anchor.click();
  });
  return [button, place];
}

/**
 * Wait until the server has made a file; it keeps the file for some minutes.
 * @param {string} path
 * @param {(job: string) => Promise<void>} showProgress
 * @param {Context} context
 */
async function made(path, showProgress, { api, signal }) {
  for (;;) {
    const error = await refusal(path, { api, signal });
    if (!error) return;
    if (OF_ALL.includes(error.code)) await api.get("/api/me", { signal });
    else if (error.status !== BUSY) throw new Refused(error.code, error.message, error.id);
    else if (error.keys) await showProgress(error.keys[0]);
    await waited(Math.max(PAUSE_MS, error.keys ? 0 : 1000 * error.retry_after_s), signal);
  }
}

/**
 * Return why a file is not there, or null if it is.
 * @param {string} path
 * @param {Context} context
 */
async function refusal(path, { api, signal }) {
  const headers = { Prefer: `wait=${WAIT_S}` };
  const reply = await api.send(path, { signal, headers, cache: "no-store" }).catch(() => null);
  signal.throwIfAborted();
  if (reply?.ok) {
    await reply.body?.cancel();
    return null;
  }
  const data = await reply?.json().catch(() => null);
  const code = reply ? "" : UNREACHED;
  const error = data?.error ?? { code, message: "the server did not make the file; try again", id: "" };
  return { ...error, status: reply?.status, retry_after_s: Number(reply?.headers.get("Retry-After")) };
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
