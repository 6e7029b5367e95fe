// @ts-check
/** The page of one study: its name and state, and its parts, each a screen of its own. */

import { el, link, paragraph } from "./elements.js";
import { pathTo } from "./paths.js";
import { previewButton } from "./preview.js";
import { showOverview } from "./study_overview.js";
import { showPay } from "./study_pay.js";
import { showRecruit } from "./study_recruit.js";
import { showRuns } from "./study_runs.js";
import { showScores } from "./study_scores.js";
import { showSessions } from "./study_sessions.js";
import { showSettings } from "./study_settings.js";
import { showSubmissions } from "./study_submissions.js";
import { methodName } from "./study_format.js";

/**
 * @typedef {import("../../types/api.js").StudyRecord} Study
 * @typedef {import("./main.js").Context} Context
 * @typedef {(into: HTMLElement, record: Study, context: Context) => Promise<unknown> | unknown} Section
 */

/** @type {Record<string, {label: string, show: Section, isFor?: (record: Study) => boolean}>} */
const SECTIONS = {
  "": { label: "Overview", show: showOverview },
  scores: { label: "Scores", show: showScores, isFor: ({ kind }) => kind === "study" },
  recruit: { label: "Recruit", show: showRecruit },
  pay: { label: "Pay", show: showPay },
  sessions: { label: "Sessions", show: showSessions },
  submissions: { label: "Models", show: showSubmissions, isFor: ({ kind }) => kind === "study" },
  runs: { label: "Runs", show: showRuns, isFor: ({ kind }) => kind === "study" },
  settings: { label: "Settings", show: showSettings },
};

/** @param {Record<string, string>} parameters */
export function title({ study, section = "" }) {
  const label = Object.hasOwn(SECTIONS, section) && section ? SECTIONS[section].label : "";
  return label ? `${study}: ${label.toLowerCase()}` : study;
}

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters
 * @param {Context} context
 */
export async function show(main, { study, section = "" }, context) {
  if (!Object.hasOwn(SECTIONS, section)) {
    main.append(
      paragraph("A study has no such page."),
      paragraph(link(pathTo`/console/studies/${study}`, study)),
    );
    return;
  }
  /** @type {Study} */
  const record = await context.api.get(pathTo`/api/studies/${study}/record`, { signal: context.signal });
  if (record.medium === "clip") {
    const { sayClips } = await import("./clip_words.js");
    sayClips(main, [...record.models, record.study], context.signal);
  }
  const preview = previewButton(context, pathTo`/api/studies/${study}/previews`);
  main.append(
    el("p", { class: "study-line" }, el("span", { class: "quiet" }, methodName(record)), preview),
    navigation(record, section),
  );
  await SECTIONS[section].show(main, record, context);
}

/**
 * @param {Study} record
 * @param {string} here
 */
function navigation(record, here) {
  const shown = Object.entries(SECTIONS).filter(([, { isFor }]) => !isFor || isFor(record));
  const items = shown.map(([section, { label }]) => {
    const path = section
      ? pathTo`/console/studies/${record.study}/${section}`
      : pathTo`/console/studies/${record.study}`;
    return el("li", {}, link(path, label, section === here ? { "aria-current": "page" } : {}));
  });
  if (record.kind === "study") items.push(el("li", {}, link(pathTo`/results/${record.study}`, "Results")));
  return el("nav", { class: "parts", "aria-label": `Pages of ${record.study}` }, el("ul", {}, ...items));
}
