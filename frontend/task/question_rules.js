// @ts-check
/**
 * Which questions are shown, and which answers are valid; the server checks the same
 * (`backend/experiment/questionnaire.py`), held together by tests/unit/question_vectors.json.
 */

/**
 * @typedef {import("../../types/api.js").Question} Question
 * @typedef {string | number | string[] | null} Answer null for none
 * @typedef {Record<string, Answer>} Answers by the questions' names
 * @typedef {{key: string, values?: Record<string, number>}} Problem a text of the catalogue
 */

const LARGEST = 1e15;
const ROUNDING = 1e-9;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL_CHARACTERS = /[\0-\x09\x0b-\x1f\x7f-\x9f]/g;
/** The first digits of the number systems in which people of the catalogue's languages may type. */
const ZEROS = [0x660, 0x6f0, 0x966, 0xff10];

/**
 * Return the questions that are shown, given what is answered so far.
 * @param {Question[]} questions in their order
 * @param {Answers} answers
 * @param {Readonly<Record<string, unknown>>} earlier answers stored before, to other questions
 * @returns {Question[]}
 */
export function shownQuestions(questions, answers, earlier) {
  const known = /** @type {Record<string, unknown>} */ ({ ...earlier });
  return questions.filter(({ name, shown_if }) => {
    const isShown =
      !shown_if ||
      [known[shown_if.question]]
        .flat()
        .some((each) => shown_if.answers.includes(/** @type {string} */ (each)));
    if (isShown) known[name] = answers[name] ?? null;
    return isShown;
  });
}

/**
 * Return what is wrong with an answer; null if it is valid.
 * @param {Question} question
 * @param {Answer} answer
 * @returns {Problem | null}
 */
export function problemOf(question, answer) {
  const { kind, required } = question;
  if (answer === null || answer === "" || (Array.isArray(answer) && !answer.length))
    return required ? { key: NEEDED[kind] } : null;
  if (kind === "number") return numberProblem(question, answer);
  if (kind === "choice")
    return question.choices.includes(/** @type {string} */ (answer)) ? null : { key: NEEDED.choice };
  if (kind === "choices") return areChoices(question, answer) ? null : { key: NEEDED.choices };
  if (kind === "scale")
    return isWhole(answer) && answer >= 1 && answer <= question.points ? null : { key: NEEDED.scale };
  const count = typeof answer === "string" ? [...answer].length : Infinity;
  return count <= question.max_length
    ? null
    : { key: "questions.too_long", values: { max: question.max_length, count } };
}

/** @type {Record<Question["kind"], string>} */
const NEEDED = {
  choice: "questions.choose_one",
  choices: "questions.choose_some",
  number: "questions.number",
  scale: "questions.choose_one",
  text: "questions.needed",
};

/**
 * Return the number that a person typed: digits of any of several systems, with a point or a comma; NaN if it
 * is none, or can be read in two ways.
 * @param {string} typed
 */
export function typedNumber(typed) {
  const plain = plainNumber(typed);
  return /^-?(\d+\.?\d*|\.\d+)$/.test(plain) && !twoReadings(typed) ? Number(plain) : NaN;
}

/**
 * Return both readings of a separator and three digits, of thousands or of decimals, each as it can be typed
 * without doubt; null for any other text.
 * @param {string} typed
 */
export function twoReadings(typed) {
  const plain = plainNumber(typed);
  if (!/^-?[1-9]\d{0,2}\.\d{3}$/.test(plain)) return null;
  const decimal = plain.endsWith("0") ? String(Number(plain)) : `${plain}0`;
  return { whole: plain.replace(".", ""), decimal };
}

/** @param {string} typed */
function plainNumber(typed) {
  return [...typed.trim()].map(asciiSign).join("");
}

/**
 * Return a text as it can be stored: without control characters but line feeds, and without halves of
 * characters.
 * @param {string} typed
 */
export function storable(typed) {
  return typed
    .replace(/\r\n?/g, "\n")
    .replace(CONTROL_CHARACTERS, " ")
    .replace(/\p{Cs}/gu, "\ufffd")
    .trim();
}

/** @param {string} sign */
function asciiSign(sign) {
  const code = /** @type {number} */ (sign.codePointAt(0));
  const zero = ZEROS.find((first) => code >= first && code <= first + 9);
  if (zero !== undefined) return String(code - zero);
  if (",\u066b\uff0c\uff0e".includes(sign)) return ".";
  return "\u2212\uff0d".includes(sign) ? "-" : sign;
}

/**
 * @param {Question} question
 * @param {Answer} answer
 * @returns {Problem | null}
 */
function numberProblem({ min, max, step }, answer) {
  if (typeof answer !== "number" || Number.isNaN(answer)) return { key: "questions.number" };
  const isLow = answer < (min ?? -LARGEST);
  if (isLow || answer > (max ?? LARGEST)) {
    if (min !== null && max !== null) return { key: "questions.number_between", values: { min, max } };
    if (isLow) return { key: "questions.number_at_least", values: { min: min ?? -LARGEST } };
    return { key: "questions.number_at_most", values: { max: max ?? LARGEST } };
  }
  const steps = step ? (answer - (min ?? 0)) / step : 0;
  if (Math.abs(steps - Math.round(steps)) <= ROUNDING * Math.max(1, Math.abs(steps))) return null;
  if (Number.isInteger(step) && Number.isInteger(min ?? 0) && step === 1)
    return { key: "questions.number_whole" };
  return { key: "questions.number_steps", values: { step, example: (min ?? 0) + step } };
}

/**
 * @param {Question} question
 * @param {Answer} answer
 */
function areChoices({ choices }, answer) {
  return (
    Array.isArray(answer) &&
    new Set(answer).size === answer.length &&
    answer.every((each) => choices.includes(each))
  );
}

/**
 * @param {Answer} answer
 * @returns {answer is number}
 */
function isWhole(answer) {
  return Number.isInteger(answer);
}
