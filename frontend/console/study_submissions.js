// @ts-check
/**
 * Models of a study. A leaderboard study: how others join it, its public page if it is a competition, and
 * what was submitted.
 */

import { edited } from "./edits.js";
import { el, field, link, quiet, section } from "./elements.js";
import { choiceField, elementsOf, numberField, textField, valuesOf } from "./fields.js";
import { counted, moment } from "./format.js";
import { commandForm } from "./forms.js";
import { pathTo } from "./paths.js";
import { modelsSection } from "./study_models.js";
import { submissionList } from "./submission_list.js";
import { watch } from "./watch.js";

/**
 * @typedef {import("../../types/api.js").TermsFacts} Competition
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 */

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export async function showSubmissions(main, record, context) {
  const competition = record.is_competition
    ? /** @type {Competition} */ (
        await context.api.get(pathTo`/api/studies/${record.study}/competition`, { signal: context.signal })
      )
    : null;
  const list = submissionList(context, { isOwn: false });
  const settings = el("div");
  const submitted = section("What was submitted", list.element);
  submitted.hidden = !competition;
  main.append(modelsSection(record, context));
  if (record.join_problem && !competition) return;
  main.append(settings, submitted);
  const open = () => {
    submitted.hidden = false;
    return watch(
      pathTo`/api/studies/${record.study}/submissions`,
      (/** @type {{submissions: any[]}} */ { submissions }) => list.update(submissions),
      context,
    );
  };
  settings.append(termsForm(record, competition, context, () => submitted.hidden && void open()));
  if (competition) await open();
}

/**
 * @param {Study} record
 * @param {Competition | null} competition
 * @param {Context} context
 * @param {() => void} onStored
 */
function termsForm({ study }, competition, { api, go }, onStored) {
  let shown = competition && termsOf(competition);
  const time = (/** @type {string} */ label, /** @type {string | null | undefined} */ at, hint = "") => {
    const typed = textField(label, { type: "datetime-local", value: localTime(at) }, hint);
    return { ...typed, value: () => stored(typed.input.value, at) };
  };
  const about = el("textarea", { rows: "4" }, competition?.about ?? "");
  const limit = competition?.limit;
  const counts = choiceField("Which of a member’s models counts", [
    ["best", "the best one"],
    ["last", "the last one"],
  ]);
  counts.input.value = competition?.counts ?? "best";
  const submitters = textField(
    "Who may submit",
    {
      placeholder: "everybody with a token",
      value: Array.isArray(competition?.submitters) ? competition.submitters.join(", ") : "",
    },
    "Names of members, separated by commas. Empty: everybody with a token.",
  );
  const published = choiceField("Public", [
    ["no", "no: submitters see their own results only"],
    ["yes", "yes: anybody may see the table"],
  ]);
  published.input.value = competition?.published ? "yes" : "no";
  const page = link(pathTo`/competitions/${study}`, "Its public page", { target: "_blank", rel: "noopener" });
  page.hidden = !competition?.published;
  const asked = {
    title: textField("Title", { required: "", maxlength: "200", value: competition?.title ?? study }),
    about: {
      ...field("What it is about", about, "Shown on its public page."),
      value: () => about.value,
    },
    opens_at: time("Opens", competition?.opens_at, "In your time zone. Empty: at once."),
    closes_at: time("Closes", competition?.closes_at, "Empty: never."),
    embargo_until: time(
      "Scores are shown from",
      competition?.embargo_until,
      "Empty: as soon as there are any.",
    ),
    most: numberField(
      "Submissions of one member",
      { min: "1", value: `${limit?.count ?? ""}` },
      "Empty: as many as they like. Refused ones do not count.",
    ),
    days: numberField("Within how many days", { min: "1", value: `${limit?.days ?? ""}` }),
    counts,
    submitters: {
      ...submitters,
      value: () => {
        const names = submitters.input.value.split(",").flatMap((name) => name.trim() || []);
        return names.length ? names : "all";
      },
    },
    published: { ...published, value: () => published.value() === "yes" },
  };
  const form = commandForm(
    elementsOf(asked),
    competition ? "Save" : "Let models join",
    async () => {
      const { most, days = 1, ...terms } = valuesOf(asked);
      const path = pathTo`/api/studies/${study}/competition`;
      const wanted = { ...terms, limit: most ? { count: most, days } : null };
      const choice = await edited(shown ?? {}, wanted, {
        label: (name) =>
          asked[/** @type {keyof typeof asked} */ (name)]?.label ?? "Submissions of one member",
        inWords: termInWords,
        current: async () => (shown = termsOf(await api.get(path))),
        async send(changes) {
          const wish = { ...wanted, ...shown, ...changes, replaces: shown ?? "none" };
          shown = termsOf(await api.post(path, wish, { again: true }));
        },
      });
      if (choice === "theirs") return go(pathTo`/console/studies/${study}/submissions`, { replace: true });
      if (!choice) return "Nothing was saved.";
      page.hidden = !asked.published.value();
      onStored();
      return "Saved.";
    },
    { isInline: false },
  );
  const intro = quiet(
    "In a leaderboard study new models can join at any time, judged against the same reals under the same " +
      "protocol. Members with the role of submitter send them by themselves, from this console or from a " +
      "program. Published, it is a competition. ",
    page,
  );
  const whole = el(
    "details",
    { class: "competition" },
    el("summary", {}, competition ? "Change it" : "Make it a leaderboard study"),
    form,
  );
  return section(competition ? `Leaderboard study: ${competition.title}` : "Leaderboard study", intro, whole);
}

/**
 * Return what a form sets of a leaderboard study.
 * @param {Competition} facts
 */
function termsOf({ title, about, opens_at, closes_at, embargo_until, limit, counts, submitters, published }) {
  return { title, about, opens_at, closes_at, embargo_until, limit, counts, submitters, published };
}

/**
 * @param {string} name of a term
 * @param {any} value
 */
function termInWords(name, value) {
  if (name === "limit")
    return value ? `${value.count} in ${counted(value.days, "day")}` : "as many as they like";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.join(", ");
  return (/_(at|until)$/.test(name) && value ? moment(value) : value) || "–";
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
