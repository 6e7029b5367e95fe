// @ts-check
/** Jobs of a study: what the server works on, how far it is, what came of it. Rows are updated in place. */

import { actionButton, el, isAbort, progress, showJob, sideBySide } from "./elements.js";
import { jobName, moment, sentence } from "./format.js";
import { pathTo } from "./paths.js";
import { watch } from "./watch.js";

/** @typedef {import("./api.js").Job} Job */

const STATES = /** @type {Record<Job["state"], string>} */ ({
  queued: "waiting",
  running: "under way",
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
});
const ENDED = /** @type {Record<string, string>} */ ({
  joined: "done: the model joined",
  refused: "the submission was refused: see Models",
  withdrawn: "the submission was withdrawn",
});
const OPEN = ["queued", "running"];
const MOST_SHOWN = 8;

/**
 * Show the newest jobs of a study for as long as the screen is shown.
 * @param {string | null} study null for jobs of any, and of none
 * @param {import("./main.js").Context} context
 * @param {object} [options]
 * @param {string[]} [options.kinds] the kinds of jobs to show; by default all
 * @param {(job: Job) => void} [options.onEnd] called when a job ended while this was shown
 */
export function jobList(study, context, { kinds, onEnd = () => {} } = {}) {
  const list = el("ul", { class: "jobs" });
  const told = el("p", { class: "unseen", role: "status" });
  const empty = el("p", { class: "quiet", hidden: "" }, "Nothing was asked of the server yet.");
  /** @type {Map<string, ReturnType<typeof jobRow>>} */
  const rows = new Map();
  let isFirst = true;
  void watch(
    jobsOf(study),
    (/** @type {{jobs: Job[]}} */ { jobs }) => {
      const shown = jobs.filter(({ kind }) => !kinds || kinds.includes(kind)).slice(0, MOST_SHOWN);
      empty.hidden = shown.length > 0 || kinds !== undefined;
      for (const job of [...shown].reverse()) {
        const before = rows.get(job.job);
        const row = before ?? jobRow(job, context);
        if (!before) {
          rows.set(job.job, row);
          list.prepend(row.element);
        }
        // a short one may have ended before it was seen
        const isNews = row.update(job) || (!before && !isFirst);
        if (isNews && !OPEN.includes(job.state)) {
          void outcomeOf(job, context.api).then((words) => {
            told.textContent = `${jobName(job.kind)}: ${words}`;
          });
          onEnd(job);
        }
      }
      isFirst = false;
    },
    context,
  ).catch((error) => isAbort(error) || console.warn("jobs are no longer watched:", error));
  return el("div", {}, empty, list, told);
}

/** @param {string | null} study */
function jobsOf(study) {
  return study === null ? "/api/jobs" : `/api/jobs?study=${encodeURIComponent(study)}`;
}

/**
 * Return where the latest result of a kind of job is shown, and the jobs of this kind.
 * @param {string | null} study
 * @param {import("./main.js").Context} context
 * @param {string} kind
 * @param {(result: any) => Node[] | null} view returns null for a result that does not belong here
 */
export function jobResult(study, context, kind, view) {
  const { api, signal } = context;
  const found = el("div", { class: "result" });
  const show = async (/** @type {string} */ id) => {
    const parts = view((await api.get(pathTo`/api/jobs/${id}`, { signal })).result);
    if (parts) found.replaceChildren(...parts);
    return parts !== null;
  };
  const list = jobList(study, context, {
    kinds: [kind],
    onEnd: ({ job, state }) => void (state === "done" && show(job)),
  });
  const showLast = async () => {
    const { jobs } = await api.get(jobsOf(study), { signal });
    for (const each of jobs)
      if (each.kind === kind && each.state === "done" && (await show(each.job))) return;
  };
  void showLast().catch(() => {}); // the list says what is wrong
  return { found, list };
}

/**
 * Say how a job ended, once it has, where it was said that it is under way.
 * @param {string} id
 * @param {HTMLElement} told the line that said so
 * @param {string} done what is said if it is done
 * @param {import("./main.js").Context} context
 */
export async function tellEnd(id, told, done, { api, signal }) {
  try {
    const { state } = await api.job(id, () => {}, signal);
    const otherwise = `It ${state === "failed" ? "failed: see below" : "was cancelled"}.`;
    told.textContent = state === "done" ? done : otherwise;
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}

/**
 * Return how a job ended: that of a submission is done when it is refused too.
 * @param {Job} job
 * @param {import("./main.js").Context["api"]} api
 * @returns {Promise<string>}
 */
async function outcomeOf({ job, kind, state }, api) {
  if (kind !== "join" || state !== "done") return STATES[state];
  const { result } = await api.get(pathTo`/api/jobs/${job}`).catch(() => ({ result: null }));
  return ENDED[result?.ended] ?? "ended";
}

/**
 * @param {Job} first
 * @param {import("./main.js").Context} context
 */
function jobRow(first, { api }) {
  const name = jobName(first.kind);
  const bar = progress(name);
  const state = el("span", { class: "quiet" });
  const reason = el("p", { class: "error" });
  const cancel = actionButton("Cancel", () => api.post(pathTo`/api/jobs/${first.job}/cancel`), {
    className: "plain",
    name: `Cancel: ${name}`,
  });
  const element = el(
    "li",
    {},
    sideBySide(el("span", { class: "model" }, name), state, cancel),
    bar.element,
    reason,
  );
  let shown = "";
  return {
    element,
    /**
     * Show the job; return whether its state changed while it was watched.
     * @param {Job} job
     */
    update(job) {
      const hasChanged = shown !== "" && shown !== job.state;
      const isOpen = OPEN.includes(job.state);
      shown = job.state;
      const about = ` · ${moment(job.updated_at)} · ${job.member}`;
      if (hasChanged || isOpen || !state.textContent)
        void outcomeOf(job, api).then((words) => {
          if (shown === job.state) state.textContent = words + about;
        });
      if (!isOpen && document.activeElement === cancel) focusOn(element);
      cancel.hidden = bar.element.hidden = !isOpen;
      if (isOpen) showJob(bar, job);
      reason.textContent = job.reason ? sentence(job.reason) : "";
      return hasChanged;
    },
  };
}

/** @param {HTMLElement} element */
function focusOn(element) {
  element.tabIndex = -1;
  element.focus();
}
