// @ts-check
/** A study's settings, which can be changed until somebody has begun, and what removes things for good. */

import { edited } from "./edits.js";
import {
  actionButton,
  actionRow,
  answered,
  el,
  explained,
  field,
  paragraph,
  quiet,
  section,
  select,
  sentences,
  sideBySide,
  statusLine,
  textInput,
  withCode,
} from "./elements.js";
import { counted, sentence } from "./format.js";
import { isConfirmed, isTyped } from "./forms.js";
import { pathTo } from "./paths.js";
import { findField } from "./history_position.js";
import { arranged, inShort, optionsOf, panelOf, valueWords } from "./setting_groups.js";
import { labelOf } from "./setting_names.js";

/**
 * @typedef {import("./setting_groups.js").Setting} Setting
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 * @typedef {(setting: Setting, value: string) => Promise<boolean>} Change false if nothing was decided
 */

/** Letters of a value above which it takes lines of its own. */
const LONG = 60;

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export async function showSettings(main, record, context) {
  const method = record.kind === "qualification" ? "qualification" : record.method;
  /** @type {{settings: Setting[]}} */
  const { settings } = await context.api.get(pathTo`/api/settings/${method}`, { signal: context.signal });
  const notes = record.notes.length ? [section("Notes", sentences("notes quiet", record.notes))] : [];
  main.append(settingList(record, settings, context), ...notes, removal(record, context));
}

/**
 * @param {Study} record
 * @param {Setting[]} settings
 * @param {Context} context
 */
function settingList(record, settings, { api }) {
  const path = pathTo`/api/studies/${record.study}`;
  let now = record;
  const finding = findField("Find a setting", find);
  const told = statusLine();
  const nothing = el("p", { class: "quiet", role: "status" });
  const { common, groups } = arranged(settings);
  const first = settingGroup("", common, record, change);
  const others = groups.map(({ heading, settings: some }) => settingGroup(heading, some, record, change));
  const words = record.begun
    ? "Somebody has begun, so the settings stay as they are: answers under different settings cannot be " +
      "one study."
    : "Nobody has begun: every setting can still be changed. Existing simulated sessions are then removed.";

  /** @type {Change} */
  async function change(setting, value) {
    const { name, label } = setting;
    /** @type {import("../../types/api.js").SettingsChanged} */
    let found = { changed: [], cleared: 0, notes: [] };
    const choice = await edited(
      { [name]: now.settings_typed[name] },
      { [name]: value },
      {
        label: () => label,
        inWords: (_, text) => valueWords(setting, text) || "–",
        current: async () => (await api.get(`${path}/record`)).settings_typed,
        async send(_, replaced) {
          const settings = { [name]: name === "panel" ? panelOf(value) : value };
          found = await api.post(`${path}/set`, { settings, replaces: { [name]: replaced[name] } });
        },
      },
    );
    if (!choice) return false;
    now = await api.get(`${path}/record`); // one setting can change others
    for (const group of [first, ...others]) group.update(now);
    const words = found.changed.map(({ setting: name }) => `${labelOf(name)} was changed.`);
    told.textContent = [
      ...(words.length ? words : [choice === "mine" ? `${label} has this value already.` : "It stays."]),
      ...found.notes.map(sentence),
    ].join(" ");
    return true;
  }

  function find() {
    const wanted = finding.wanted();
    const isFound = [first, ...others].map((group) => group.find(wanted)).some(Boolean);
    nothing.textContent = isFound ? "" : "No setting of this method has that in its name or description.";
  }
  if (finding.wanted()) find();
  return section(
    "Settings",
    quiet(words),
    finding.element,
    told,
    nothing,
    first.element,
    ...others.map(({ element }) => element),
  );
}

/**
 * Return settings under a heading, which are folded unless one differs from its default; without a heading
 * all are shown.
 * @param {string} heading
 * @param {Setting[]} settings
 * @param {Study} record
 * @param {Change} change
 */
function settingGroup(heading, settings, record, change) {
  const rows = settings.map((setting) => settingRow(record, setting, change));
  const list = el("dl", { class: "setting-list" }, ...rows.map(({ element }) => element));
  const isChanged = settings.some(({ name }) => record.settings_changed.includes(name));
  const element = heading
    ? el(
        "details",
        { class: "group", ...(isChanged ? { open: "" } : {}) },
        el("summary", {}, `${heading} (${settings.length})`),
        list,
      )
    : list;
  return {
    element,
    /** @param {Study} record */
    update(record) {
      for (const row of rows) row.update(record);
    },
    /**
     * Show only settings with a text in their name or description; return whether there are any.
     * @param {string} wanted
     */
    find(wanted) {
      for (const row of rows) row.element.hidden = !row.words.includes(wanted);
      const isFound = rows.some((row) => !row.element.hidden);
      element.hidden = !isFound;
      if (element instanceof HTMLDetailsElement) element.open = isFound && (wanted !== "" || isChanged);
      return isFound;
    },
  };
}

/**
 * @param {Study} record
 * @param {Setting} setting
 * @param {Change} change
 */
function settingRow(record, setting, change) {
  const { name, label } = setting;
  const meaning = sentence(setting.doc);
  const mark = el("span", { class: "mark" }, "not the default");
  let value = "";
  const shown = el("span", { class: "setting-value" });
  const button = actionButton("Change", () => askForValue(setting, value, change), {
    className: "plain",
    name: `Change: ${label}`,
  });
  const line = el("dd", {}, shown, " ", mark, ...(record.begun ? [] : [" ", button]));
  const about = el("dd", { class: "quiet" }, ...withCode(meaning));
  const element = el("div", {}, el("dt", {}, label), line, about);
  /** @param {Study} record */
  function update({ settings_typed, settings_changed }) {
    value = settings_typed[name] ?? "";
    shown.textContent = valueWords(setting, value) || "–";
    line.className = value.length > LONG ? "long" : "short";
    mark.hidden = !settings_changed.includes(name);
  }
  update(record);
  return { element, update, words: `${name} ${label} ${meaning}`.toLowerCase() };
}

/**
 * Ask for the value of a setting until the server takes it, or nothing is to be changed.
 * @param {Setting} setting
 * @param {string} value
 * @param {Change} change
 */
async function askForValue(setting, value, change) {
  const input = inputOf(setting, value);
  input.value = value;
  input.autofocus = true;
  const hint = el("span", {}, ...withCode(sentence(setting.doc)), ` ${inShort(setting)}`);
  const asked = field(setting.label, input, hint);
  const save = el("button", { class: "primary" }, "Save");
  const cancel = el("button", { type: "button" }, "Cancel");
  const form = el("form", { method: "dialog" }, asked.element, actionRow(save, cancel));
  const dialog = el("dialog", { class: "small", "aria-label": `Change: ${setting.label}` }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (save.getAttribute("aria-disabled")) return;
    save.setAttribute("aria-disabled", "true");
    asked.fail("");
    try {
      if (await change(setting, input.value)) dialog.close();
    } catch (error) {
      asked.fail(explained(error));
      input.focus();
    } finally {
      save.removeAttribute("aria-disabled");
    }
  });
  cancel.addEventListener("click", () => dialog.close());
  await answered(dialog);
}

/**
 * @param {Study} record
 * @param {Context} context
 */
function removal({ study, kind, settings }, { api, go }) {
  const told = statusLine();
  const clear = actionButton("Remove simulated sessions", async () => {
    const words = "Sessions of people stay as they are.";
    if (!(await isConfirmed(`Remove the simulated sessions of ${study}?`, words, "Remove them"))) return;
    const { cleared } = await api.post(pathTo`/api/studies/${study}/clear`);
    told.textContent = `${counted(cleared, "simulated session")} removed.`;
  });
  const remove = actionButton(
    "Delete this study",
    async () => {
      const { sessions, simulated, responses, files, obstacle } = await api.get(
        pathTo`/api/studies/${study}/contents`,
      );
      if (obstacle) throw new Error(obstacle);
      const held = paragraph(
        `${counted(sessions, "session")} with ${counted(responses, "answer")}, ` +
          `${counted(simulated, "simulated session")}, ` +
          `${counted(files, "picture or mask", "pictures and masks")}.`,
      );
      const words = paragraph(
        "All this is deleted for good. What was owed and paid stays recorded. Download the data " +
          "set before, if you may ever need it.",
      );
      if (!(await isTyped(`Delete the ${kind} ${study}?`, [held, words], study, "Delete it for good")))
        return;
      await api.post(pathTo`/api/studies/${study}/delete`, { confirm: study });
      go("/console", { replace: true });
    },
    { className: "danger" },
  );
  const forget = actionButton("Delete personal data that are old enough", async () => {
    const { due, text } = await api.get(pathTo`/api/studies/${study}/retention`);
    if (!due) {
      told.textContent = sentence(text);
      return;
    }
    if (!(await isConfirmed("Delete personal data?", sentence(text), "Delete them for good"))) return;
    const { deleted } = await api.post(pathTo`/api/studies/${study}/retention`, {}, { again: true });
    told.textContent = `Personal data were deleted: ${counted(deleted, "session")}.`;
  });
  const isRetained = settings.keep_days > 0;
  return section("Remove", sideBySide(clear, ...(isRetained ? [forget] : []), remove), told);
}

/**
 * Return the input in which a setting's value is changed.
 * @param {Setting} setting
 * @param {string} value
 * @returns {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement}
 */
function inputOf(setting, value) {
  const { kind } = setting;
  const options = optionsOf(setting, value);
  if (options.length) return select(options);
  const isLong = kind === "table" || kind === "long_text" || value.length > LONG || value.includes("\n");
  return /** @type {HTMLInputElement | HTMLTextAreaElement} */ (
    isLong ? el("textarea", { rows: "8", spellcheck: `${kind === "long_text"}` }) : textInput()
  );
}
