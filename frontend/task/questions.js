// @ts-check
/**
 * The researcher's questions before or after the task: pages of a form, checked here and stored once by the
 * server.
 */

import { texts } from "../texts/more_en.js";
import { problemOf, shownQuestions, storable, twoReadings, typedNumber } from "./question_rules.js";
import { el } from "../shared/elements.js";
import { actionRow, show } from "./screens.js";
import { readDraft, writeDraft } from "./storage.js";
import { addTexts, exactly, text } from "../texts/texts.js";

addTexts(texts);

/**
 * @typedef {import("./visit.js").Visit} Visit
 * @typedef {import("./question_rules.js").Question} Question
 * @typedef {import("./question_rules.js").Answer} Answer
 * @typedef {import("./question_rules.js").Answers} Answers
 * @typedef {import("../../types/api.js").OpenQuestions} OpenQuestions
 * @typedef {object} Field one question as shown
 * @property {Question} question
 * @property {HTMLElement} element
 * @property {HTMLElement} first the control that gets the focus
 * @property {() => Answer} read
 * @property {() => string} [doubt] asks back where the answer can be read in two ways; "" where not
 * @property {(problem: string) => void} tell shows what is wrong; "" for nothing
 */

const LONGEST_LINE = 80;

/**
 * Ask the questions that are open, page by page, and store the answers.
 * @param {Visit} visit
 */
export async function askOpenQuestions(visit) {
  const open = /** @type {OpenQuestions} */ (visit.questions);
  const { session } = visit.state;
  const answers = /** @type {Answers} */ (readDraft(session, open.when));
  const keep = () => writeDraft(session, open.when, answers);
  for (let i = 0; i < open.pages.length; ) {
    if (!shownOn(open, i, answers).length) {
      i += 1;
      continue;
    }
    const action = await askPage(open, i, answers, keep);
    if (action === "decline") {
      await visit.answerQuestions({ when: open.when, answers: {}, declined: true });
      return writeDraft(session, open.when, null);
    }
    i = action === "back" ? /** @type {number} */ (pageBefore(open, i, answers)) : i + 1;
  }
  await visit.answerQuestions({ when: open.when, answers: givenOf(open, answers) });
  writeDraft(session, open.when, null);
}

/**
 * Return the questions that a page shows.
 * @param {OpenQuestions} open
 * @param {number} page
 * @param {Answers} answers
 */
function shownOn({ pages, earlier }, page, answers) {
  const shown = shownQuestions(
    pages.flatMap(({ questions }) => questions),
    answers,
    earlier,
  );
  return pages[page].questions.filter((question) => shown.includes(question));
}

/**
 * Return the last page before this one that shows a question; null if there is none.
 * @param {OpenQuestions} open
 * @param {number} page
 * @param {Answers} answers
 */
function pageBefore(open, page, answers) {
  for (let i = page - 1; i >= 0; i -= 1) if (shownOn(open, i, answers).length) return i;
  return null;
}

/**
 * Return the answers to the questions that are shown.
 * @param {OpenQuestions} open
 * @param {Answers} answers
 */
function givenOf({ pages, earlier }, answers) {
  const shown = shownQuestions(
    pages.flatMap(({ questions }) => questions),
    answers,
    earlier,
  );
  return Object.fromEntries(shown.map(({ name }) => [name, answers[name] ?? null]));
}

/**
 * Show one page until its answers are valid.
 * @param {OpenQuestions} open
 * @param {number} page
 * @param {Answers} answers changed as the evaluator answers
 * @param {() => void} keep stores them for a reload
 * @returns {Promise<string>} `on`, `back` or `decline`
 */
function askPage(open, page, answers, keep) {
  const { title, questions } = open.pages[page];
  const fields = questions.map((question, i) =>
    makeField(question, `q${page}-${i}`, answers[question.name] ?? null),
  );
  const problems = el("div", { class: "problems", role: "alert" });
  const status = el("p", { class: "unseen", role: "status" });
  const form = el("div", { class: "questions" }, ...fields.map(({ element }) => element));
  const isLast = open.when === "after";
  const actions = [
    { label: text("questions.continue"), value: "on", primary: true },
    ...(pageBefore(open, page, answers) === null ? [] : [{ label: text("questions.back"), value: "back" }]),
    ...(isLast ? [{ label: text("questions.decline"), value: "decline" }] : []),
  ];
  const note =
    isLast && pageBefore(open, page, answers) === null
      ? [el("p", { class: "quiet" }, text("questions.stored"))]
      : [];
  const read = () => {
    for (const { question, read: answerOf } of fields) answers[question.name] = answerOf();
    keep();
  };
  const update = () => {
    const shown = shownOn(open, page, answers);
    const before = fields.filter(({ element }) => !element.hidden).length;
    for (const { question, element } of fields) element.hidden = !shown.includes(question);
    return shown.length - before;
  };
  update();
  form.addEventListener("input", () => {
    read();
    const change = update();
    if (change) status.textContent = text(change > 0 ? "questions.more" : "questions.fewer");
  });
  return new Promise((resolve) => {
    const row = () =>
      actionRow(actions, (value) => {
        read();
        if (value !== "on" || tellProblems(fields, problems)) return resolve(value);
        const buttons = form.nextElementSibling;
        buttons?.replaceWith(...row()); // a button of a screen can be pressed once
      });
    show("questions", title || text(`questions.${open.when}`), [...note, problems, form, ...row(), status]);
  });
}

/**
 * Show what is wrong with the answers of a page, and move the focus there; return whether nothing is.
 * @param {Field[]} fields
 * @param {HTMLElement} summary
 */
function tellProblems(fields, summary) {
  const wrong = fields.flatMap((field) => {
    const problem = field.element.hidden ? null : problemOf(field.question, field.read());
    field.tell(problem ? field.doubt?.() || withNumbers(problem.key, problem.values) : "");
    return problem ? [field] : [];
  });
  summary.replaceChildren();
  if (!wrong.length) return true;
  const links = wrong.map(({ question, first }) => {
    const link = el("a", { href: `#${first.id}`, dir: "auto" }, question.text);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      first.focus();
    });
    return el("li", {}, link);
  });
  summary.append(el("p", {}, text("questions.problems")), el("ul", {}, ...links));
  wrong[0].first.focus();
  return false;
}

/**
 * @param {Question} question
 * @param {string} id
 * @param {Answer} answer given before
 * @returns {Field}
 */
function makeField(question, id, answer) {
  const isTyped = question.kind === "number" || question.kind === "text";
  return isTyped ? typedField(question, id, answer) : chosenField(question, id, answer);
}

/**
 * A question that is answered by choosing.
 * @param {Question} question
 * @param {string} id
 * @param {Answer} answer
 * @returns {Field}
 */
function chosenField(question, id, answer) {
  const isSeveral = question.kind === "choices";
  const isScale = question.kind === "scale";
  const values = isScale ? Array.from({ length: question.points }, (_, i) => i + 1) : question.choices;
  const given = Array.isArray(answer) ? answer : [answer];
  const inputs = values.map((value, i) => {
    const input = el("input", { type: isSeveral ? "checkbox" : "radio", name: id, id: `${id}-${i}` });
    input.checked = given.includes(/** @type {string} */ (value));
    return input;
  });
  const labels = values.map((value, i) =>
    el("label", { class: "option" }, inputs[i], el("span", { dir: "auto" }, String(value))),
  );
  const error = errorLine(id);
  const described = isScale && (question.low || question.high) ? `${id}-ends ${error.id}` : error.id;
  const group = el(
    "fieldset",
    {
      class: "field",
      "aria-describedby": described,
      ...(isSeveral ? {} : { role: "radiogroup", "aria-required": String(question.required) }),
    },
    el("legend", {}, ...titleOf(question)),
    error,
    ...(isScale ? [scale(question, id, labels)] : labels),
  );
  return {
    question,
    element: group,
    first: inputs[0],
    read: () => {
      const chosen = values.filter((_, i) => inputs[i].checked);
      return isSeveral ? /** @type {string[]} */ (chosen) : (chosen[0] ?? null);
    },
    tell: (problem) => {
      error.textContent = problem;
      if (!isSeveral) group.setAttribute("aria-invalid", String(Boolean(problem)));
    },
  };
}

/**
 * The points of a scale in a row, with the labels of its ends.
 * @param {Question} question
 * @param {string} id
 * @param {HTMLElement[]} labels
 */
function scale({ low, high }, id, labels) {
  const ends =
    low || high
      ? [
          el(
            "p",
            { class: "ends quiet", id: `${id}-ends` },
            el("span", { dir: "auto" }, low),
            el("span", { dir: "auto" }, high),
          ),
        ]
      : [];
  return el("div", { class: "scale" }, el("div", { class: "points" }, ...labels), ...ends);
}

/**
 * A question that is answered by typing.
 * @param {Question} question
 * @param {string} id
 * @param {Answer} answer
 * @returns {Field}
 */
function typedField(question, id, answer) {
  const isNumber = question.kind === "number";
  const error = errorLine(id);
  const hint = el("p", { class: "hint quiet", id: `${id}-hint` }, hintOf(question));
  const isLong = !isNumber && question.max_length > LONGEST_LINE;
  const attributes = {
    id,
    autocomplete: "off",
    "aria-describedby": `${hint.id} ${error.id}`,
    "aria-required": String(question.required),
  };
  const input = /** @type {HTMLInputElement | HTMLTextAreaElement} */ (
    isLong
      ? el("textarea", { ...attributes, rows: "4" })
      : el("input", {
          ...attributes,
          type: "text",
          ...(isNumber ? { inputmode: keyboardOf(question), class: "number" } : {}),
        })
  );
  input.value = answer === null || Number.isNaN(answer) ? "" : String(answer);
  return {
    question,
    element: el(
      "div",
      { class: "field" },
      el("label", { for: id }, ...titleOf(question)),
      hint,
      error,
      input,
    ),
    first: input,
    read: () => {
      const typed = storable(input.value);
      if (typed === "") return null;
      return isNumber ? typedNumber(typed) : typed;
    },
    doubt: () => {
      const readings = isNumber && twoReadings(storable(input.value));
      return readings ? text("questions.number_two_ways", readings) : "";
    },
    tell: (problem) => {
      error.textContent = problem;
      input.setAttribute("aria-invalid", String(Boolean(problem)));
    },
  };
}

/**
 * Return the keyboard that a phone shows for a number: those for digits alone have no minus sign.
 * @param {Question} question
 */
function keyboardOf({ min, step }) {
  if (min === null || min < 0) return "text";
  return Number.isInteger(step) && step > 0 && Number.isInteger(min) ? "numeric" : "decimal";
}

/**
 * Return a text with numbers as its language writes them.
 * @param {string} key
 * @param {Record<string, number>} [values]
 */
function withNumbers(key, values = {}) {
  return text(key, Object.fromEntries(Object.entries(values).map(([name, value]) => [name, exactly(value)])));
}

/** @param {Question} question */
function hintOf({ kind, min, max, max_length }) {
  if (kind === "text") return withNumbers("questions.at_most", { max: max_length });
  if (min !== null && max !== null) return withNumbers("questions.range", { min, max });
  if (min !== null) return withNumbers("questions.range_from", { min });
  return max === null ? "" : withNumbers("questions.range_to", { max });
}

/** @param {Question} question */
function titleOf({ text: own, required }) {
  return [
    el("span", { dir: "auto" }, own),
    ...(required ? [] : [" ", el("span", { class: "optional quiet" }, text("questions.optional"))]),
  ];
}

/** @param {string} id of the question */
function errorLine(id) {
  return el("p", { class: "error", id: `${id}-error` });
}
