// @ts-check
/** A study's own pages of instructions and its questions to evaluators, as lists of small forms. */

import { actionButton, alertLine, details, el, field, quiet, select, textInput } from "./elements.js";
import { sentence } from "./format.js";

/**
 * @typedef {Record<string, any>} Entry a page or a question, as in a file that declares a study
 * @typedef {object} Part one entry of it
 * @property {string} name
 * @property {string} label
 * @property {string} [hint]
 * @property {"line" | "text" | "lines" | "number" | "tick"} [type]
 * @property {[string, string][]} [choices]
 * @property {string[]} [kinds] the kinds of questions that have it
 * @property {boolean} [isRare]
 */

/** @type {Part[]} */
const PAGE = [
  { name: "title", label: "Heading" },
  { name: "text", label: "Text", type: "text", hint: "Empty lines separate paragraphs." },
];
/** @type {Part[]} */
const QUESTION = [
  { name: "text", label: "Question" },
  { name: "name", label: "Name in the data", hint: "Lower-case letters, digits and _." },
  {
    name: "when",
    label: "When",
    choices: [
      ["before", "before the task"],
      ["after", "after the task"],
    ],
  },
  {
    name: "kind",
    label: "Kind",
    choices: [
      ["choice", "one of a list"],
      ["choices", "some of a list"],
      ["number", "a number"],
      ["text", "a text"],
      ["scale", "a scale"],
    ],
  },
  {
    name: "choices",
    label: "Answers",
    type: "lines",
    hint: "One on each line.",
    kinds: ["choice", "choices"],
  },
  { name: "min", label: "Smallest", type: "number", kinds: ["number"] },
  { name: "max", label: "Largest", type: "number", kinds: ["number"] },
  {
    name: "step",
    label: "Step",
    type: "number",
    hint: "1 unless it is set; 0 for any number.",
    kinds: ["number"],
  },
  { name: "points", label: "Points", type: "number", hint: "2 to 11; 5 unless it is set.", kinds: ["scale"] },
  { name: "low", label: "The first point means", kinds: ["scale"] },
  { name: "high", label: "The last point means", kinds: ["scale"] },
  {
    name: "max_length",
    label: "Characters at most",
    type: "number",
    hint: "500 unless it is set.",
    kinds: ["text"],
  },
  { name: "required", label: "It has to be answered", type: "tick" },
  {
    name: "page",
    label: "Heading of its page",
    hint: "Neighbours with the same one share a page.",
    isRare: true,
  },
  {
    name: "if.question",
    label: "Show it only after the question",
    hint: "Its name in the data.",
    isRare: true,
  },
  { name: "if.is", label: "if the answer is one of", type: "lines", hint: "One on each line.", isRare: true },
];

/** What a new entry has. */
const NEW = /** @type {Record<string, Entry>} */ ({
  pages: { title: "", text: "" },
  questions: { name: "", when: "after", kind: "choice", text: "" },
});

/**
 * Return editors of a draft's pages and questions.
 * @param {import("./draft.js").StudyDraft} body
 * @param {(change: {pages?: Entry[], questions?: Entry[]}) => void} onChange
 */
export function questionnaire(body, onChange) {
  const pages = entryList("pages", "page", PAGE, body.pages ?? [], (entries) => onChange({ pages: entries }));
  const questions = entryList("questions", "question", QUESTION, body.questions ?? [], (entries) =>
    onChange({ questions: entries }),
  );
  const lists = { pages, questions };
  return {
    elements: [
      el(
        "details",
        { class: "group" },
        el("summary", {}, "Pages of instructions"),
        quiet("Shown after consent, before the built-in instructions."),
        pages.element,
      ),
      el(
        "details",
        { class: "group" },
        el("summary", {}, "Questions to evaluators"),
        quiet("Asked before the task or after it. Answers are in the data set and in the report."),
        questions.element,
      ),
    ],
    /**
     * Show the server's error at the field that it is about; return whether there is one.
     * @param {Problem} error
     */
    fail(error) {
      const place = placeOf(error);
      return place ? lists[place.list].fail(place.number, place.part, place.words) : false;
    },
  };
}

/** @typedef {{keys: (string | number)[], message: string, code: string}} Problem */

/**
 * Return which entry of which page or question an error of the server is about; null for other errors.
 * @param {Problem} error
 * @returns {{list: "pages" | "questions", number: number, part: string, words: string} | null}
 */
export function placeOf(error) {
  const [list, number, ...parts] = error.keys;
  if ((list !== "pages" && list !== "questions") || typeof number !== "number") return null;
  const part = parts.filter((key) => typeof key === "string").join(".");
  const words = error.code === "missing_entry" ? "This is needed." : sentence(withoutPlace(error));
  return { list, number, part, words };
}

/**
 * Return an error's message without the name of the table that its entry is in, as `questions 2: `.
 * @param {Problem} error
 */
export function withoutPlace({ keys, message }) {
  const table = keys.slice(0, -1).map((key) => (typeof key === "number" ? key + 1 : key));
  const prefix = `${table.join(" ")}: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

/**
 * @param {string} list
 * @param {string} noun
 * @param {Part[]} parts
 * @param {Entry[]} first
 * @param {(entries: Entry[]) => void} onChange
 */
function entryList(list, noun, parts, first, onChange) {
  const element = el("ol", { class: "entries" });
  /** @type {ReturnType<typeof entryForm>[]} */
  let forms = [];
  const tell = () => onChange(forms.map(({ entry }) => entry()));
  const arrange = () => {
    element.replaceChildren(...forms.map((form) => form.element));
    for (const [i, form] of forms.entries()) form.number(i + 1, i > 0);
  };
  const made = (/** @type {Entry} */ entry) => {
    const form = entryForm(noun, parts, entry, tell, {
      remove() {
        const i = forms.indexOf(form);
        forms = forms.filter((other) => other !== form);
        arrange();
        tell();
        (forms[Math.min(i, forms.length - 1)]?.element ?? add).focus();
      },
      up() {
        const i = forms.indexOf(form);
        [forms[i - 1], forms[i]] = [forms[i], forms[i - 1]];
        arrange();
        tell();
        form.element.focus();
      },
    });
    return form;
  };
  const add = actionButton(`Add a ${noun}`, () => {
    forms = [...forms, made(NEW[list])];
    arrange();
    tell();
    forms[forms.length - 1].focus();
  });
  forms = first.map(made);
  arrange();
  return {
    element: el("div", {}, element, add),
    /**
     * @param {number} number from 0
     * @param {string} part
     * @param {string} words
     */
    fail(number, part, words) {
      const form = forms[number];
      form?.fail(part, words);
      return form !== undefined;
    },
  };
}

/**
 * @param {string} noun
 * @param {Part[]} parts
 * @param {Entry} first
 * @param {() => void} onChange
 * @param {{remove: () => void, up: () => void}} actions
 */
function entryForm(noun, parts, first, onChange, { remove, up }) {
  const fields = parts.map((part) => ({ part, ...partField(part, valueIn(first, part.name), changed) }));
  const heading = el("h3", {});
  const removing = actionButton("Remove", remove, { className: "plain" });
  const moving = actionButton("Move up", up, { className: "plain" });
  const common = fields.filter(({ part }) => !part.isRare).map(({ element }) => element);
  const rare = fields.filter(({ part }) => part.isRare).map(({ element }) => element);
  const more = rare.length ? [details("Page and condition", ...rare)] : [];
  const element = el(
    "li",
    { tabindex: "-1" },
    el("div", { class: "slot-head" }, heading, el("div", { class: "slot-buttons" }, moving, removing)),
    ...common,
    ...more,
  );

  function changed() {
    for (const { fail } of fields) fail("");
    showParts();
    onChange();
  }

  function showParts() {
    const kind = fields.find(({ part }) => part.name === "kind")?.value();
    for (const { part, element: shown } of fields)
      shown.hidden = part.kinds !== undefined && !part.kinds.includes(`${kind}`);
  }

  showParts();
  return {
    element,
    focus: () => fields[0].input.focus(),
    /** Return the entry as it is typed, with what it had besides. */
    entry() {
      /** @type {Entry} */
      const entry = Object.fromEntries(
        Object.entries(first).filter(([name]) => !parts.some((part) => part.name.split(".")[0] === name)),
      );
      for (const { part, value, element: shown } of fields) {
        const given = value();
        if (shown.hidden || given === undefined) continue;
        const [name, inner] = part.name.split(".");
        entry[name] = inner ? { ...entry[name], [inner]: given } : given;
      }
      return entry;
    },
    /**
     * @param {number} number
     * @param {boolean} canMove
     */
    number(number, canMove) {
      const name = `${sentence(noun).replace(".", "")} ${number}`;
      heading.textContent = name;
      moving.setAttribute("aria-label", `Move up: ${name}`);
      removing.setAttribute("aria-label", `Remove: ${name}`);
      moving.hidden = !canMove;
    },
    /**
     * @param {string} part
     * @param {string} words
     */
    fail(part, words) {
      const about =
        fields.find((one) => one.part.name === part || one.part.name.split(".")[0] === part) ?? fields[0];
      for (let place = about.element.parentElement; place; place = place.parentElement)
        if (place instanceof HTMLDetailsElement) place.open = true;
      about.fail(words);
    },
  };
}

/**
 * @param {Entry} entry
 * @param {string} name
 */
function valueIn(entry, name) {
  const [outer, inner] = name.split(".");
  return inner ? entry[outer]?.[inner] : entry[outer];
}

/**
 * Return the field of one part; its value is undefined where nothing is typed.
 * @param {Part} part
 * @param {any} value
 * @param {() => void} onChange
 */
function partField({ label, hint = "", type = "line", choices }, value, onChange) {
  if (type === "tick") return tickField(label, value !== false, onChange);
  const input = /** @type {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} */ (
    choices
      ? select(choices)
      : type === "text" || type === "lines"
        ? el("textarea", { rows: "3" })
        : textInput({ spellcheck: "true", ...(type === "number" ? { inputmode: "decimal" } : {}) })
  );
  const typed = Array.isArray(value) ? value.join("\n") : `${value ?? ""}`;
  input.value = typed || (choices ? choices[0][0] : "");
  input.addEventListener("input", onChange);
  const { element, fail } = field(label, input, hint);
  return { element, fail, input, value: () => read(type, input.value) };
}

/**
 * @param {string} label
 * @param {boolean} isTicked
 * @param {() => void} onChange
 */
function tickField(label, isTicked, onChange) {
  const input = el("input", { type: "checkbox" });
  input.checked = isTicked;
  input.addEventListener("input", onChange);
  const problem = alertLine();
  const fail = (/** @type {string} */ words) => {
    problem.textContent = words;
  };
  return {
    element: el("div", { class: "field" }, el("label", { class: "option" }, input, label), problem),
    fail,
    input,
    value: () => input.checked,
  };
}

/**
 * Return what was typed as a study's file has it; undefined if nothing was.
 * @param {string} type
 * @param {string} typed
 */
function read(type, typed) {
  if (type === "lines") {
    const lines = typed.split("\n").flatMap((line) => line.trim() || []);
    return lines.length ? lines : undefined;
  }
  if (!typed.trim()) return undefined;
  if (type !== "number") return typed;
  return Number.isFinite(Number(typed)) ? Number(typed) : typed;
}
