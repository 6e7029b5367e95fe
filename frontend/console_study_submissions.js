// @ts-check
/**
 * Models of a study. A standing study: how others join it, its public page if it is a competition, and what
 * was submitted.
 */

import { el, field, link } from "./console_elements.js";
import { commandForm } from "./console_forms.js";
import { pathTo } from "./console_paths.js";
import { modelsSection } from "./console_study_models.js";
import { submissionList } from "./console_submission_list.js";
import { watch } from "./console_watch.js";

/**
 * @typedef {import("../types/api.js").StandingFacts} Standing
 * @typedef {import("./console_study.js").Study} Study
 * @typedef {import("./console_study.js").Context} Context
 */

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export async function showSubmissions(main, record, context) {
  const standing = record.is_standing
    ? /** @type {Standing} */ (
        await context.api.get(pathTo`/api/studies/${record.study}/standing`, { signal: context.signal })
      )
    : null;
  const list = submissionList(context, { isOwn: false });
  const settings = el("div");
  const submitted = el("section", {}, el("h2", {}, "What was submitted"), list.element);
  submitted.hidden = !standing;
  main.append(modelsSection(record, context));
  if (record.join_problem && !standing) return;
  main.append(settings, submitted);
  const open = () => {
    submitted.hidden = false;
    return watch(
      pathTo`/api/studies/${record.study}/submissions`,
      (/** @type {{submissions: any[]}} */ { submissions }) => list.update(submissions),
      context,
    );
  };
  settings.append(standingForm(record, standing, context, () => submitted.hidden && void open()));
  if (standing) await open();
}

/**
 * @param {Study} record
 * @param {Standing | null} standing
 * @param {Context} context
 * @param {() => void} onStored
 */
function standingForm({ study }, standing, { api }, onStored) {
  const line = (/** @type {string} */ value, /** @type {Record<string, string>} */ attributes = {}) => {
    const input = el("input", { type: "text", autocomplete: "off", ...attributes });
    input.value = value;
    return input;
  };
  const moment = (/** @type {string | null | undefined} */ at) =>
    line(localTime(at), { type: "datetime-local" });
  const choice = (/** @type {[string, string][]} */ options, /** @type {string} */ value) => {
    const select = el("select", {}, ...options.map(([name, words]) => el("option", { value: name }, words)));
    select.value = value;
    return select;
  };
  const title = line(standing?.title ?? study, { required: "", maxlength: "200" });
  const about = el("textarea", { rows: "4" });
  about.value = standing?.about ?? "";
  const opens = moment(standing?.opens_at);
  const closes = moment(standing?.closes_at);
  const embargo = moment(standing?.embargo_until);
  const most = line(standing?.limit ? `${standing.limit.count}` : "", {
    type: "number",
    class: "number",
    min: "1",
  });
  const days = line(standing?.limit ? `${standing.limit.days}` : "", {
    type: "number",
    class: "number",
    min: "1",
  });
  const counts = choice(
    [
      ["best", "the best one"],
      ["last", "the last one"],
    ],
    standing?.counts ?? "best",
  );
  const submitters = line(Array.isArray(standing?.submitters) ? standing.submitters.join(", ") : "", {
    placeholder: "everybody with a token",
  });
  const published = choice(
    [
      ["no", "no: submitters see their own results only"],
      ["yes", "yes: anybody may see the table"],
    ],
    standing?.published ? "yes" : "no",
  );
  const page = link(pathTo`/competitions/${study}`, "Its public page", { target: "_blank", rel: "noopener" });
  page.hidden = !standing?.published;
  const isDescribed = [field("Title", title), field("What it is about", about, "Shown on its public page.")];
  const isTimed = [
    field("Opens", opens, "In your time zone. Empty: at once."),
    field("Closes", closes, "Empty: never."),
    field("Scores are shown from", embargo, "Empty: as soon as there are any."),
  ];
  const isLimited = [
    field("Submissions of one member", most, "Empty: as many as they like. Refused ones do not count."),
    field("Within how many days", days),
    field("Which of a member’s models counts", counts),
    field(
      "Who may submit",
      submitters,
      "Names of members, separated by commas. Empty: everybody with a token.",
    ),
    field("Public", published),
  ];
  const fields = [...isDescribed, ...isTimed, ...isLimited];
  const form = commandForm(
    fields.map(({ element }) => element),
    standing ? "Save" : "Let models join",
    async () => {
      const names = submitters.value
        .split(",")
        .map((name) => name.trim())
        .filter((name) => name);
      await api.post(
        pathTo`/api/studies/${study}/standing`,
        {
          title: title.value.trim(),
          about: about.value,
          opens_at: stored(opens.value, standing?.opens_at),
          closes_at: stored(closes.value, standing?.closes_at),
          embargo_until: stored(embargo.value, standing?.embargo_until),
          limit: most.value ? { count: Number(most.value), days: Number(days.value || "1") } : null,
          counts: counts.value,
          submitters: names.length ? names : "all",
          published: published.value === "yes",
        },
        { again: true },
      );
      page.hidden = published.value !== "yes";
      onStored();
      return "Saved.";
    },
    { isInline: false },
  );
  const intro = el(
    "p",
    { class: "quiet" },
    "In a standing study new models can join at any time, judged against the same reals under the same " +
      "protocol. Members with the role of submitter send them by themselves, from this console or from a " +
      "program. Published, it is a competition. ",
    page,
  );
  const whole = el(
    "details",
    { class: "standing" },
    el("summary", {}, standing ? "Change it" : "Make it a standing study"),
    form,
  );
  return el(
    "section",
    {},
    el("h2", {}, standing ? `Standing study: ${standing.title}` : "Standing study"),
    intro,
    whole,
  );
}

/**
 * Return a stored time as a field of a form takes it, in the browser's time zone.
 * @param {string | null | undefined} at
 */
function localTime(at) {
  if (!at) return "";
  const time = new Date(at);
  return new Date(time.getTime() - 60000 * time.getTimezoneOffset()).toISOString().slice(0, 16);
}

/**
 * Return what a field has as a time to store. One that was not changed keeps its seconds, which the field
 * does not show.
 * @param {string} local
 * @param {string | null | undefined} before
 */
function stored(local, before) {
  if (before && local === localTime(before)) return before;
  return local ? new Date(local).toISOString() : null;
}
