// @ts-check
/** The first step to a new study: its name and its method. */

import { addressOf } from "../shared/base_path.js";
import { deleteDraft, keepDraft, newDraftName, openDraft, steps } from "./draft.js";
import { actionButton, actionRow, details, el, field, textInput } from "./elements.js";
import { isConfirmed } from "./forms.js";
import { METHODS, methodOf, ordered } from "./methods.js";
import { pathTo } from "./paths.js";

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const title = () => "New study";

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters
 * @param {import("./main.js").Context} context
 */
export async function show(main, parameters, { api, go, signal }) {
  const draft = parameters.draft ? await openDraft(api, parameters.draft) : null;
  const { studies } = await api.get("/api/studies", { signal });
  const taken = new Set(studies.map((/** @type {{study: string}} */ { study }) => study));
  const value = draft?.body.name ?? "";
  const input = textInput({ id: "name", autocapitalize: "off", maxlength: "63", value });
  const name = field(
    "Name",
    input,
    "It is part of the link that evaluators get, so it should not give away what the study is about. " +
      "Lower-case letters, digits and hyphens, such as faces-2.",
  );
  const method = methodChoice(methodOf(draft?.body ?? {}));

  input.addEventListener("input", () => name.fail(""));
  input.addEventListener("change", () => {
    input.value = asName(input.value);
    name.fail(input.value ? problemOf(input.value, taken) : "");
    draft?.change({ name: input.value });
  });
  method.element.addEventListener("change", () => draft?.change(ordered(method.value())));

  const onward = async () => {
    input.value = asName(input.value);
    const problem = problemOf(input.value, taken);
    name.fail(problem);
    if (problem) return input.focus();
    const stored = draft ?? keepDraft(api, newDraftName(), null);
    stored.change({ name: input.value, ...ordered(method.value()) });
    await stored.flush();
    // going back leads to it, not to a second one
    if (!draft && !signal.aborted)
      history.replaceState(null, "", addressOf(pathTo`/console/new/${stored.id}`));
    go(pathTo`/console/new/${stored.id}/pictures`);
  };
  const form = el("form", { class: "questions" }, name.element, method.element);
  const onwardButton = actionButton("Continue to the pictures", onward, { primary: true });
  const remove = draft ? [actionButton("Delete this draft", () => removed(api, draft.id, go))] : [];
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    onwardButton.click();
  });
  main.append(steps(0, draft), form, actionRow(onwardButton, ...remove), ...(draft ? [draft.state] : []));
}

/**
 * @param {import("./api.js").Api} api
 * @param {string} id
 * @param {(path: string) => void} go
 */
async function removed(api, id, go) {
  const words =
    "Its name, settings and the list of its pictures are deleted. Pictures that were sent are " +
    "deleted by the server after a week.";
  if (!(await isConfirmed("Delete this draft?", words, "Delete the draft"))) return;
  await deleteDraft(api, id);
  go("/console");
}

/** @param {import("./methods.js").Method} chosen */
function methodChoice(chosen) {
  const options = (/** @type {boolean} */ isCommon) =>
    METHODS.filter((each) => each.is_common === isCommon).map((each) => option(each, each === chosen));
  const others = details("Other methods, and qualifications", ...options(false));
  if (!chosen.is_common) others.setAttribute("open", "");
  const element = el(
    "fieldset",
    { class: "field methods" },
    el("legend", {}, "Method"),
    ...options(true),
    others,
  );
  return {
    element,
    value: () => /** @type {HTMLInputElement} */ (element.querySelector("input:checked")).value,
  };
}

/**
 * @param {import("./methods.js").Method} method
 * @param {boolean} isChosen
 */
function option({ method, title: name, about }, isChosen) {
  const input = el("input", {
    type: "radio",
    name: "method",
    value: method,
    id: `method-${method}`,
    "aria-describedby": `about-${method}`,
    ...(isChosen ? { checked: "" } : {}),
  });
  return el(
    "div",
    { class: "option-box" },
    el("label", { class: "option" }, input, el("span", {}, name)),
    el("p", { class: "quiet", id: `about-${method}` }, about),
  );
}

/** @param {string} text */
function asName(text) {
  return text
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, "-");
}

/**
 * @param {string} name
 * @param {Set<string>} taken
 */
function problemOf(name, taken) {
  if (!name) return "Give the study a name.";
  if (!NAME.test(name))
    return "Use lower-case letters, digits and hyphens, beginning with a letter or digit.";
  return taken.has(name) ? "A study of this name exists. Choose another." : "";
}
