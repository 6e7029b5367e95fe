// @ts-check
/** Submissions to a leaderboard study, with their state and its reason. Rows are updated in place. */

import { actionButton, el, quiet, sideBySide } from "./elements.js";
import { moment, sentence } from "./format.js";
import { isConfirmed } from "./forms.js";
import { pathTo } from "./paths.js";
import { interval, scored } from "./study_format.js";

/**
 * @typedef {import("../../types/api.js").SubmissionFacts} Submission
 */

const STATES = /** @type {Record<Submission["state"], string>} */ ({
  awaiting_pictures: "waits for its pictures",
  queued: "waits for its turn to be checked",
  checking: "its pictures are being checked",
  refused: "refused",
  collecting: "evaluators judge it",
  scored: "scored",
  withdrawn: "withdrawn",
});
/** States in which a submission can no longer be withdrawn. */
const CLOSED = ["refused", "scored", "withdrawn"];
const DIGITS_SHOWN = 12;

/**
 * @param {import("./main.js").Context} context
 * @param {object} options
 * @param {boolean} options.isOwn whether the reader submitted them all
 * @param {(submission: Submission) => Node[]} [options.extra] what else belongs to a row
 */
export function submissionList({ api }, { isOwn, extra = () => [] }) {
  const list = el("ul", { class: "submissions" });
  const empty = quiet(isOwn ? "You have submitted nothing yet." : "Nobody has submitted a model yet.");
  const told = el("p", { class: "unseen", role: "status" });
  /** @type {Map<string, ReturnType<typeof submissionRow>>} */
  const rows = new Map();
  return {
    element: el("div", {}, empty, list, told),
    /** @param {Submission[]} submissions */
    update(submissions) {
      empty.hidden = submissions.length > 0;
      const latest = [...submissions].sort((one, other) => other.created_at.localeCompare(one.created_at));
      for (const [i, submission] of latest.entries()) {
        let row = rows.get(submission.submission);
        if (!row) {
          row = submissionRow(submission, isOwn, () => withdraw(submission), extra(submission));
          rows.set(submission.submission, row);
        }
        if (list.children[i] !== row.element) list.insertBefore(row.element, list.children[i] ?? null);
        if (row.update(submission)) told.textContent = `${submission.model}: ${STATES[submission.state]}`;
      }
    },
  };

  /** @param {Submission} submission */
  async function withdraw({ submission, model }) {
    const words = isOwn
      ? "It leaves the study’s table. Its try is not given back."
      : "It leaves the study’s table.";
    if (!(await isConfirmed(`Withdraw ${model}?`, words, "Withdraw it"))) return;
    const now = await api.post(pathTo`/api/submissions/${submission}/withdraw`, {}, { again: true });
    const row = rows.get(submission);
    row?.update(now);
    row?.element.focus();
    told.textContent = `${model} was withdrawn.`;
  }
}

/**
 * @param {Submission} first
 * @param {boolean} isOwn
 * @param {() => Promise<void>} withdraw
 * @param {Node[]} others
 */
function submissionRow(first, isOwn, withdraw, others) {
  const state = el("p", { class: "state" });
  const reason = el("p", { class: "error" });
  const result = el("p");
  const facts = quiet();
  const more = el("div", {}, ...others);
  const button = actionButton("Withdraw", withdraw, { className: "plain", name: `Withdraw ${first.model}` });
  const name = isOwn ? first.model : `${first.model} of ${first.member}`;
  const element = el(
    "li",
    { tabindex: "-1" },
    sideBySide(el("h3", {}, name), button),
    state,
    reason,
    result,
    facts,
    more,
  );
  let shown = "";
  return {
    element,
    /**
     * Show the submission; return whether its state changed while it was watched.
     * @param {Submission} submission
     */
    update(submission) {
      const hasChanged = shown !== "" && shown !== submission.state;
      shown = submission.state;
      state.textContent =
        `${sentence(STATES[submission.state] ?? submission.state).replace(/\.$/, "")}, since ` +
        `${moment(submission.state_at)}`;
      // the result says it with its numbers
      reason.textContent = submission.reason && !submission.result ? sentence(submission.reason) : "";
      reason.className = submission.state === "refused" ? "error" : "quiet";
      result.textContent = resultOf(submission);
      const tries = submission.try === null ? "" : ` · try ${submission.try}`;
      facts.textContent =
        `${submission.study} · submitted ${moment(submission.created_at)}${tries} · digest ` +
        `${submission.digest.slice(0, DIGITS_SHOWN)}…`;
      more.hidden = !submission.needs_pictures;
      button.hidden = CLOSED.includes(submission.state);
      return hasChanged;
    },
  };
}

/** @param {Submission} submission */
function resultOf({ result }) {
  if (!result) return "";
  const { score, ci, unit, evaluators, wanted } = result;
  const finished = `Evaluators: ${evaluators} of ${wanted}`;
  return score === null
    ? `${finished}. The score is shown once all have finished.`
    : `Score ${scored(score, unit)}, ${interval(ci, unit)}. ${finished}`;
}
