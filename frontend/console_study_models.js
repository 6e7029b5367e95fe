// @ts-check
/** The models of a study, and one that a researcher adds to it, also while evaluators answer. */

import { dropZone } from "./console_drop_zone.js";
import { actionButton, alertLine, el, explained, field } from "./console_elements.js";
import { modelName } from "./console_files.js";
import { sentence } from "./console_format.js";
import { jobList } from "./console_jobs.js";
import { pathTo } from "./console_paths.js";
import { inShort, sendingView } from "./console_sending.js";

/**
 * @typedef {import("./console_files.js").Handed} Handed
 * @typedef {import("./console_study.js").Study} Study
 * @typedef {import("./console_study.js").Context} Context
 */

/**
 * @param {Study} record
 * @param {Context} context
 */
export function modelsSection(record, context) {
  const { study, join_problem } = record;
  const names = el("ul", { class: "names" }, ...record.models.map((name) => el("li", {}, name)));
  const renew = async () => {
    /** @type {Study} */
    const { models } = await context.api.get(pathTo`/api/studies/${study}/record`, { signal: context.signal });
    names.replaceChildren(...models.map((name) => el("li", {}, name)));
  };
  const adding = join_problem
    ? el("p", { class: "quiet" }, sentence(`no model can be added: the study ${join_problem}`))
    : el("details", {}, el("summary", {}, "Add a model"), joinForm(study, context));
  const what = record.method === "2afc" || record.method === "jnd" ? "Sets" : "Models";
  return el("section", {}, el("h2", {}, what), names, adding, jobList(study, context, { kinds: ["join_model"], onEnd: renew }));
}

/**
 * @param {string} study
 * @param {Context} context
 */
function joinForm(study, { api }) {
  const name = /** @type {HTMLInputElement} */ (el("input", { type: "text", maxlength: "100", autocomplete: "off", spellcheck: "false" }));
  const model = field("Name of the model", name);
  const skipsBad = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox" }));
  const chosen = el("p", { class: "quiet", role: "status" });
  const failure = alertLine();
  const sending = sendingView();
  /** @type {Handed | null} */
  let handed = null;
  const zone = dropZone("Pictures of the model", false, ([one]) => {
    zone.fail(one?.items.length ? "" : "There are no pictures in it.");
    if (!one?.items.length) return;
    handed = one;
    if (!name.value) name.value = modelName(one.name);
    chosen.textContent = inShort(one);
  });
  const add = actionButton("Add the model", async () => {
    failure.textContent = "";
    model.fail(name.value.trim() ? "" : "Give the model a name.");
    if (!name.value.trim()) return name.focus();
    if (!handed) return void (failure.textContent = "Choose the pictures first.");
    const upload = await sending.send(handed, api);
    await api.post(pathTo`/api/studies/${study}/models`, { model: name.value.trim(), upload, skip_bad: skipsBad.checked }, { again: true });
    chosen.textContent = `${name.value.trim()} was sent; the server checks its pictures now.`;
    handed = null;
    name.value = "";
  }, { primary: true, onError: (error) => void (failure.textContent = explained(error)) });
  const words = "Its pictures are checked like the others and go through the same losses; it gets evaluators of its own, or joins the sessions of a tournament. Scores of the other models stay as they are.";
  return el("div", { class: "submit" }, el("p", { class: "quiet" }, words), zone.element, chosen, model.element, el("label", { class: "option" }, skipsBad, "Leave out files that cannot be used"), sending.element, el("div", { class: "actions" }, add), failure);
}
