// @ts-check
/** A member's own submissions: what became of each, and a form that submits another model. */

import { dropZone } from "./drop_zone.js";
import { alertLine, el, explained, field, paragraph, quiet, section, select } from "./elements.js";
import { counted, moment } from "./format.js";
import { pathTo } from "./paths.js";
import { modelForm, sendingView } from "./sending.js";
import { submissionList } from "./submission_list.js";
import { watch } from "./watch.js";

/**
 * @typedef {import("./files.js").Handed} Handed
 * @typedef {import("./submission_list.js").Submission} Submission
 * @typedef {import("./main.js").Context} Context
 * @typedef {import("../../types/api.js").OpenStudy} Open
 * @typedef {import("../../types/api.js").OwnSubmissions} Own
 */

export const title = () => "Submissions";

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} _parameters
 * @param {Context} context
 */
export async function show(main, _parameters, context) {
  const { api, signal } = context;
  /** @type {Own} */
  const { studies, submissions } = await api.get("/api/submissions", { signal });
  const list = submissionList(context, { isOwn: true, extra: (submission) => [sender(submission, context)] });
  const form = studies.length
    ? submitForm(studies, context)
    : paragraph("No study on this server takes models of yours at present. Ask whoever gave you the token.");
  main.append(form, section("Your submissions", list.element));
  list.update(submissions);
  await watch("/api/submissions", (/** @type {Own} */ own) => list.update(own.submissions), context);
}

/**
 * @param {Open[]} studies
 * @param {Context} context
 */
function submitForm(studies, context) {
  const chosen = select(
    studies.map(({ study, title }) => [study, title === study ? study : `${title} (${study})`]),
  );
  const wanted = new URLSearchParams(location.search).get("study");
  if (studies.some(({ study }) => study === wanted)) chosen.value = wanted ?? "";
  const terms = quiet();
  const form = modelForm(
    "Submit",
    "A name is taken once: another set of pictures needs another name, such as gan@4000.",
    async (model, handed, sending) => {
      const path = pathTo`/api/studies/${chosen.value}/submissions`;
      await submitted(sending, handed, context, (digest) =>
        context.api.post(path, { model, digest }, { again: true }),
      );
      return `${model} is submitted: its state stands below.`;
    },
  );
  const tell = () => {
    const study = studies.find((one) => one.study === chosen.value);
    terms.textContent = study ? termsOf(study) : "";
  };
  chosen.addEventListener("change", tell);
  tell();
  return el(
    "section",
    { class: "submit" },
    el("h2", {}, "Submit a model"),
    field("Study", chosen).element,
    terms,
    form.name,
    ...form.pictures,
    ...form.sending,
  );
}

/**
 * Send pictures for a submission, which is made before the first part is sent.
 * @param {ReturnType<typeof sendingView>} sending
 * @param {Handed} handed
 * @param {Context} context
 * @param {(digest: string) => Promise<Submission>} begin
 */
async function submitted(sending, handed, { api }, begin) {
  /** @type {Submission | null} */
  let submission = null;
  const upload = await sending.send(handed, api, async (digest) => (submission = await begin(digest)));
  const { submission: id, needs_pictures } = /** @type {Submission} */ (/** @type {unknown} */ (submission));
  if (needs_pictures) await api.post(pathTo`/api/submissions/${id}/pictures`, { upload }, { again: true });
}

/** @param {Open} study */
function termsOf({ about, opens_at, closes_at, limit }) {
  const times = [
    opens_at && Date.parse(opens_at) > Date.now() ? `Opens ${moment(opens_at)}.` : "",
    closes_at ? `Closes ${moment(closes_at)}.` : "",
  ];
  const next = limit?.next_at ? ` The next one is free on ${moment(limit.next_at)}.` : "";
  const most = limit
    ? `Tries left: ${limit.left} of ${limit.count} in ${counted(limit.days, "day")}; refused ones do not ` +
      `count.${next}`
    : "";
  return [about, ...times, most].filter((words) => words).join(" ");
}

/**
 * Return a form that sends the pictures of a submission which waits for them, as after a reload.
 * @param {Submission} submission
 * @param {Context} context
 */
function sender(submission, context) {
  const sending = sendingView();
  const failure = alertLine();
  const zone = dropZone(`Pictures of ${submission.model}`, false, async ([handed]) => {
    failure.textContent = "";
    try {
      if (handed?.items.length)
        await submitted(sending, handed, context, async (digest) => checkedSame(submission, digest));
    } catch (error) {
      failure.textContent = explained(error);
    }
  });
  return el(
    "div",
    {},
    paragraph(
      "Its pictures are not on the server yet. Choose the same folder or zip again; what was sent " +
        "before is not sent twice.",
    ),
    zone.element,
    sending.element,
    failure,
  );
}

/**
 * @param {Submission} submission
 * @param {string} digest
 */
function checkedSame(submission, digest) {
  if (digest !== submission.digest)
    throw new Error(
      `these are not the pictures that ${submission.model} was submitted with; submit them under ` +
        "another name",
    );
  return submission;
}
