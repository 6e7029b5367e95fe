// @ts-check
/** The console's first screen: studies, drafts, jobs under way, and what to do first on an empty server. */

import { sessionBar } from "./charts.js";
import { deleteDraft } from "./draft.js";
import { actionButton, el, link, progress, quiet, section, showJob } from "./elements.js";
import { jobName, moment } from "./format.js";
import { isConfirmed } from "./forms.js";
import { methodOf } from "./methods.js";
import { pathTo } from "./paths.js";
import { findField } from "./history_position.js";
import { watch } from "./watch.js";
import { broken, inWords, methodName } from "./study_format.js";

const MANY = 12; // studies from which on one is looked for by its name

/** @typedef {import("../../types/api.js").StudyListed} StudyListed */
/** @typedef {{draft: string, updated_at: string, body: import("./draft.js").StudyDraft}} DraftLine */
/** @typedef {{studies: StudyListed[], drafts: DraftLine[], jobs: import("./api.js").Job[]}} Shown */

export const title = () => "Studies";

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} _parameters
 * @param {import("./main.js").Context} context
 */
export async function show(main, _parameters, context) {
  const { api, me, go } = context;
  if (me.role === "submitter") return go("/console/submissions", { replace: true });
  const [first, running, unfinished, steps] = Array.from({ length: 4 }, () => ({
    element: el("div"),
    shown: "",
  }));
  const cards = { element: el("ul", { class: "studies" }), shown: "" };
  const { element: finding, wanted: wantedName } = findField("Find a study", find);
  const none = el("p", { class: "quiet", role: "status" });
  const all = section("All studies", finding, none, cards.element);
  const opinions = link("/console/opinion-scores", "Metrics against opinion scores of others");
  const others = el("section", {}, quiet(opinions));
  /** @type {Partial<Shown>} */
  const known = {};
  await Promise.all(
    ["/api/studies", "/api/drafts", "/api/jobs?state=open"].map((path) => watch(path, seen, context)),
  );

  /** @param {Partial<Shown>} data */
  function seen(data) {
    const { studies, drafts, jobs } = Object.assign(known, data);
    if (!studies || !drafts || !jobs) return; // all at once, so that nothing moves
    if (!first.shown)
      main.append(first.element, running.element, unfinished.element, all, steps.element, others);
    const isEmpty = !studies.length && !drafts.length;
    update(first, isEmpty, () => [
      el(
        "div",
        { class: "actions first" },
        link("/console/new", isEmpty ? "Make the first study" : "New study", {
          class: "button primary",
          "data-key": "new",
        }),
      ),
    ]);
    update(running, jobs, () =>
      jobs.length ? [section("Under way", el("ul", { class: "lines" }, ...jobs.map(jobLine)))] : [],
    );
    update(unfinished, drafts, () =>
      drafts.length ? [section("Drafts", el("ul", { class: "lines" }, ...drafts.map(draftLine)))] : [],
    );
    update(cards, studies, () => studies.map(studyCard));
    update(steps, isEmpty, () => (isEmpty ? [firstSteps()] : []));
    all.hidden = !studies.length;
    finding.hidden = studies.length < MANY && !wantedName();
    find();
  }

  /** Show only studies whose names have what is typed. */
  function find() {
    const wanted = wantedName();
    const each = /** @type {HTMLElement[]} */ ([...cards.element.children]);
    for (const card of each)
      card.hidden = !card.querySelector("h3")?.textContent?.toLowerCase().includes(wanted);
    none.textContent = wanted && each.every(({ hidden }) => hidden) ? "No study has that in its name." : "";
  }

  /** @param {DraftLine} stored */
  function draftLine({ draft, updated_at, body }) {
    const name = body.name || "Without a name";
    const path = pathTo`/console/new/${draft}`;
    const isStarted = Boolean(body.real || body.models?.length || body.items?.length);
    const remove = actionButton(
      "Delete",
      async () => {
        const words = "No study is touched by it.";
        if (!(await isConfirmed(`Delete the draft ${name}?`, words, "Delete the draft"))) return;
        await deleteDraft(api, draft);
        go("/console", { replace: true });
      },
      { className: "plain" },
    );
    remove.dataset.key = `delete ${draft}`;
    remove.append(el("span", { class: "unseen" }, ` ${name}`));
    const about = `${methodOf(body).title} · changed ${moment(updated_at)}`;
    return el(
      "li",
      {},
      el("div", {}, link(isStarted ? `${path}/pictures` : path, name, { "data-key": draft }), quiet(about)),
      remove,
    );
  }
}

/**
 * Show a part anew if its data have changed: a press on a card outlasts the progress of a job above it.
 * @param {{element: HTMLElement, shown: string}} place
 * @param {unknown} data
 * @param {() => Node[]} content
 */
function update(place, data, content) {
  const now = JSON.stringify(data);
  if (now === place.shown) return;
  place.shown = now;
  const { element } = place;
  const focused = /** @type {HTMLElement | null} */ (
    element.contains(document.activeElement) ? document.activeElement : null
  )?.dataset.key;
  element.replaceChildren(...content());
  if (focused)
    /** @type {HTMLElement | null} */ (element.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
}

/** @param {import("./api.js").Job} job */
function jobLine(job) {
  const what = jobName(job.kind);
  const bar = progress(what);
  showJob(bar, job);
  return el(
    "li",
    {},
    el("div", { class: "job" }, el("strong", {}, job.study ? `${what}: ${job.study}` : what), bar.element),
  );
}

/** @param {StudyListed} study */
function studyCard(study) {
  const sum = (/** @type {(row: StudyListed["models"][0]) => number} */ of) =>
    study.models.reduce((total, row) => total + of(row), 0);
  const wanted = sum((one) => one.wanted);
  const row = {
    finished: sum((one) => one.finished),
    active: sum((one) => one.active),
    ended: sum(broken),
    abandoned: 0,
  };
  const { svg, update } = sessionBar();
  update([row.finished, row.active, row.ended], wanted);
  const state = [
    ...(study.paused ? ["Paused"] : []),
    inWords(row, wanted),
    ...(study.simulated ? [`${study.simulated} simulated`] : []),
  ].join(" · ");
  const name = link(pathTo`/console/studies/${study.study}`, study.study, {
    "data-key": `study ${study.study}`,
  });
  return el(
    "li",
    {},
    el("h3", {}, name),
    quiet(methodName(study)),
    svg,
    el("span", { class: "quiet" }, state),
  );
}

function firstSteps() {
  const steps = [
    [
      "Gather the pictures",
      "one folder of real ones, and one for each model, 50 pictures or more in each. Nothing has to be " +
        "resized or renamed.",
    ],
    [
      "Make a study",
      "the console checks the pictures, says what evaluators could tell the sides apart by, and what " +
        "the study will cost.",
    ],
    [
      "Try it",
      "look at it in a preview, which records nothing, and let simulated evaluators answer, which count " +
        "in no score.",
    ],
    ["Invite evaluators", "by a link, or from a panel that pays them. The score appears while they answer."],
  ];
  return section(
    "What to do first",
    el(
      "ol",
      { class: "first-steps" },
      ...steps.map(([what, how]) => el("li", {}, el("strong", {}, `${what}: `), how)),
    ),
  );
}
