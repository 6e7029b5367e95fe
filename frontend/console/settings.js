// @ts-check
/** The last step to a new study: its settings, with the plan beside them, and its making. */

import { Refused, waited } from "./api.js";
import { defaultIn } from "./default_texts.js";
import { deleteDraft, openDraft, steps } from "./draft.js";
import {
  actionButton,
  actionRow,
  alertLine,
  el,
  explained,
  field,
  isAbort,
  link,
  progress,
  quiet,
  showJob,
  withCode,
} from "./elements.js";
import { sentence } from "./format.js";
import { methodOf } from "./methods.js";
import { checkedOf, hasPictures, orderOf } from "./order.js";
import { pathTo } from "./paths.js";
import { planPanel, planWish } from "./plan.js";
import { previewButton } from "./preview.js";
import { questionnaire, withoutPlace } from "./questionnaire.js";
import {
  arranged,
  asSettings,
  asTyped,
  inShort,
  panelOf,
  problemOf,
  optionsOf,
  settingAt,
  valueWords,
} from "./setting_groups.js";

/** @typedef {import("./setting_groups.js").Setting} Setting */
/** @typedef {ReturnType<typeof field>} Field */

const PLAN_AFTER_MS = 400;

/** @type {Map<string, string>} the job that makes the study of a draft */
const making = new Map();

export const title = () => "Settings and plan";

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters
 * @param {import("./main.js").Context} context
 */
export async function show(main, parameters, { api, go, signal }) {
  const draft = await openDraft(api, parameters.draft);
  const chosen = methodOf(draft.body);
  const { method } = chosen;
  const { settings } = /** @type {{settings: Setting[]}} */ (
    await api.get(pathTo`/api/settings/${method}`, { signal })
  );
  const { studies } = /** @type {{studies: import("../../types/api.js").StudyListed[]}} */ (
    await api.get("/api/studies", { signal })
  );
  const pilots = studies
    .filter((study) => study.method === method && study.kind === "study" && study.begun)
    .map(({ study }) => study);
  const { common, groups } = arranged(settings);
  const given = draft.body.settings ?? {};
  /** @type {Map<string, Field>} */
  const fields = new Map();
  /** @type {Map<string, string>} default texts, which are not stored */
  const usual = new Map();
  /** @type {Set<Field>} those that show why the server refused the settings */
  const refused = new Set();
  const order = () => orderOf(draft.body, settings);
  const models = Math.max(1, order().models?.length ?? order().items?.length ?? 0);
  const plan = planPanel(chosen, () => void replan(PLAN_AFTER_MS), setEvaluators, pilots);
  const failure = alertLine();
  const asked = questionnaire(draft.body, (change) => draft.change(change));
  let planning = new AbortController();

  const fieldsOf = (/** @type {Setting[]} */ some) =>
    some.map((setting) => {
      const made = settingField(setting, asTyped(given[setting.name]), (text) => {
        made.fail(problemOf(setting, text));
        const own = text === usual.get(setting.name) ? "" : text;
        draft.change(({ settings: others = {} }) => ({
          settings: { ...without(others, setting.name), ...asSettings({ [setting.name]: own }, settings) },
        }));
        if (setting.name === "language") void showUsual();
        void replan(PLAN_AFTER_MS);
      });
      fields.set(setting.name, made);
      return made.element;
    });

  /** Have long texts stand in their fields as they are by default, where nothing else was written. */
  async function showUsual() {
    const language = fields.get("language")?.input.value ?? "";
    for (const { name, default: english } of settings.filter(({ kind }) => kind === "long_text")) {
      const text = await defaultIn(`${english ?? ""}`, language);
      const input = fields.get(name)?.input;
      if (!input || language !== fields.get("language")?.input.value) return;
      if (input.value === (usual.get(name) ?? "")) input.value = text;
      usual.set(name, text);
    }
  }

  /**
   * Show the error of a refused request at the field that it is about; return whether there is one.
   * @param {unknown} error
   */
  function failAtField(error) {
    if (!(error instanceof Refused)) return false;
    if (asked.fail(error)) return true;
    const about = fields.get(settingAt(error.keys));
    if (!about) return false;
    about.fail(sentence(withoutPlace(error)));
    refused.add(about);
    about.element.closest("details")?.setAttribute("open", "");
    return true;
  }

  /**
   * Forget why settings were refused before: it may have been about two fields, of which the other one was
   * changed.
   */
  function forgive() {
    for (const { fail } of refused) fail("");
    refused.clear();
  }

  /**
   * Ask for the plan of what is typed, once typing rests.
   * @param {number} after_ms
   */
  async function replan(after_ms) {
    planning.abort();
    planning = new AbortController();
    const now = AbortSignal.any([signal, planning.signal]);
    try {
      await waited(after_ms, now);
      const ordered = order();
      const pictured = hasPictures(ordered) ? checkedOf(ordered) : null;
      const wish = planWish(chosen, models, ordered.settings ?? {}, plan.aim(), pictured);
      const made = await api.post("/api/plan", wish, { again: true, signal: now });
      forgive();
      plan.show(made);
    } catch (error) {
      if (isAbort(error)) return;
      if (error instanceof Refused) forgive();
      plan.fail(failAtField(error) ? "A setting cannot be so: see its field." : explained(error));
    }
  }

  /** @param {number} evaluators */
  function setEvaluators(evaluators) {
    const input = fields.get("evaluators")?.input;
    if (!input) return;
    input.value = `${evaluators}`;
    input.dispatchEvent(new Event("input"));
    input.focus();
  }

  async function make() {
    failure.textContent = "";
    if (!panel.isValid()) {
      panel.element.setAttribute("open", "");
      return panel.input.focus();
    }
    await draft.flush();
    /** @type {string} */
    let job;
    try {
      // the same order again is the same job
      ({ job } = await api.post("/api/studies", order(), { again: true, signal }));
    } catch (error) {
      if (!failAtField(error)) throw error;
      main.querySelector("[aria-invalid]")?.scrollIntoView({ block: "center" });
      /** @type {HTMLElement | null} */ (main.querySelector("[aria-invalid]"))?.focus();
      return;
    }
    await followed(job);
  }

  async function ordered() {
    failure.textContent = "";
    await draft.flush();
    return order();
  }

  /** @param {unknown} error */
  function failAtFieldOrBelow(error) {
    failAtField(error);
    failure.textContent = explained(error);
  }

  /** @param {string} job */
  async function followed(job) {
    const bar = progress("Making the study");
    const telling = el(
      "p",
      { role: "status", tabindex: "-1" },
      "The study is being made. You can go to other pages of the console; it goes on.",
    );
    const name = draft.body.name ?? "";
    making.set(draft.id, job);
    actions.after(telling, bar.element);
    telling.focus();
    actions.hidden = true;
    /** @type {import("./api.js").Job} */
    let done;
    try {
      // also when the screen is left: the draft goes once its study is there
      done = await api.job(job, (now) => showJob(bar, now));
      if (done.state === "done") {
        await deleteDraft(api, draft.id);
        return go(pathTo`/console/studies/${name}`);
      }
    } finally {
      actions.hidden = false;
      if (document.activeElement === telling) actions.querySelector("button")?.focus();
      telling.remove();
      bar.element.remove();
    }
    making.delete(draft.id);
    failure.textContent =
      done.state === "cancelled"
        ? "It was cancelled."
        : `The study was not made. ${sentence(done.reason ?? "")}`;
    failAtField(new Refused("", done.reason ?? "", "", done.result?.keys));
  }

  const panel = ownPanel(draft);
  const more = groups.map(({ heading, settings: some }) =>
    el(
      "details",
      folded(some.some(({ name }) => name in given)),
      el("summary", {}, `${heading} (${some.length})`),
      el("div", { class: "questions" }, ...fieldsOf(some)),
    ),
  );
  const actions = actionRow(
    actionButton("Make the study", make, {
      primary: true,
      onError: (error) => (failure.textContent = explained(error)),
    }),
    previewButton({ api, signal }, "/api/previews", { order: ordered, onError: failAtFieldOrBelow }),
    link(pathTo`/console/new/${draft.id}/check`, "Back to the check", { class: "button" }),
  );
  const form = el(
    "form",
    { class: "settings", novalidate: "" },
    el("div", { class: "questions" }, ...fieldsOf(common)),
    el("h2", {}, "All other settings"),
    quiet("What is left empty keeps its default, which is the paper’s where the paper has one."),
    ...more,
    panel.element,
    el("h2", {}, "Pages and questions of your own"),
    ...asked.elements,
  );
  form.addEventListener("submit", (event) => event.preventDefault());
  main.append(
    steps(3, draft),
    el("div", { class: "settings-and-plan" }, form, plan.element),
    actions,
    failure,
    draft.state,
  );
  void showUsual();
  void replan(0);
  const job = making.get(draft.id);
  if (job) await followed(job);
}

/**
 * Return the attributes of a group that is folded unless something was given in it.
 * @param {boolean} isGiven
 * @returns {Record<string, string>}
 */
function folded(isGiven) {
  return { class: "group", ...(isGiven ? { open: "" } : {}) };
}

/**
 * @param {Record<string, unknown>} settings
 * @param {string} name
 */
function without({ ...settings }, name) {
  delete settings[name];
  return settings;
}

/**
 * @param {Setting} setting
 * @param {string} value as typed; "" for the default
 * @param {(text: string) => void} onChange
 */
function settingField(setting, value, onChange) {
  const input = inputOf(setting, value);
  input.value = value;
  input.addEventListener("input", () => onChange(input.value));
  const hint = el("span", {}, ...withCode(sentence(setting.doc)), ` ${inShort(setting)}`);
  return field(setting.label, input, hint);
}

/**
 * Return the field of a panel that is none of the built-in ones.
 * @param {import("./draft.js").Draft} draft
 */
function ownPanel(draft) {
  const input = el("textarea", {
    rows: "6",
    spellcheck: "false",
    placeholder: '{"name": "campus", "evaluator": "person", "submission": "visit"}',
  });
  const { panel } = draft.body;
  input.value = panel ? (typeof panel === "string" ? panel : JSON.stringify(panel, null, 2)) : "";
  const { element, fail } = field(
    "Its record, as JSON",
    input,
    "Which parameters its link carries, and how people return to it. It replaces the panel " +
      "that is chosen above.",
  );
  input.addEventListener("input", () => {
    fail("");
    try {
      draft.change({ panel: input.value.trim() ? panelOf(input.value) : undefined });
    } catch (error) {
      fail(explained(error));
    }
  });
  return {
    element: el("details", folded(input.value !== ""), el("summary", {}, "A panel of your own"), element),
    input,
    isValid: () => !input.matches("[aria-invalid]"),
  };
}

/**
 * @param {Setting} setting
 * @param {string} value at present
 * @returns {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement}
 */
function inputOf(setting, value) {
  const { name, kind, written } = setting;
  const id = `setting-${name}`;
  if (kind === "long_text" || kind === "table") {
    return el("textarea", {
      id,
      rows: kind === "table" ? "4" : "12",
      placeholder: kind === "table" ? "key = text, one on each line" : "",
    });
  }
  const options = optionsOf(setting, value);
  if (options.length) {
    const usual = valueWords(setting, written);
    return el(
      "select",
      { id },
      ...[["", usual ? `Default (${usual})` : "Default"], ...options].map(([value, words]) =>
        el("option", { value }, words),
      ),
    );
  }
  const keys = { whole: "numeric", number: "decimal" }[/** @type {string} */ (kind)] ?? "text";
  return el("input", {
    id,
    type: "text",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: written,
    inputmode: keys,
  });
}
