// @ts-check
/** The models of a study, and one that a researcher adds to it, also while evaluators answer. */

import { details, el, quiet, section } from "./elements.js";
import { tickField, valuesOf } from "./fields.js";
import { sentence } from "./format.js";
import { jobList } from "./jobs.js";
import { pathTo } from "./paths.js";
import { modelForm } from "./sending.js";

/**
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
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
    const { models } = await context.api.get(pathTo`/api/studies/${study}/record`, {
      signal: context.signal,
    });
    names.replaceChildren(...models.map((name) => el("li", {}, name)));
  };
  const adding = join_problem
    ? quiet(sentence(`no model can be added: the study ${join_problem}`))
    : details("Add a model", joinForm(study, context));
  const what = record.has_items ? "Sets" : "Models";
  return section(what, names, adding, jobList(study, context, { kinds: ["join_model"], onEnd: renew }));
}

/**
 * @param {string} study
 * @param {Context} context
 */
function joinForm(study, { api }) {
  const skipsBad = tickField("Leave out files that cannot be used");
  const form = modelForm("Add the model", "", async (model, handed, sending) => {
    const wish = valuesOf({ skip_bad: skipsBad });
    const upload = await sending.send(handed, api);
    await api.post(pathTo`/api/studies/${study}/models`, { model, upload, ...wish }, { again: true });
    return `${model} was sent; the server checks its pictures now.`;
  });
  const words =
    "Its pictures are checked like the others and go through the same losses; it gets evaluators of " +
    "its own, or joins the sessions of a tournament. Scores of the other models stay as they are.";
  return el(
    "div",
    { class: "submit" },
    quiet(words),
    ...form.pictures,
    form.name,
    skipsBad.element,
    ...form.sending,
  );
}
