// @ts-check
/** What a study can be, as a person chooses: one of the methods, or a qualification. */

/**
 * @typedef {object} Method
 * @property {string} method as the API calls it; "qualification" of a qualification
 * @property {string} title
 * @property {string} about one sentence or two: what evaluators do, and what comes out
 * @property {boolean} hasItems whether its pictures are sets of pairs or triplets, not reals and models
 * @property {string} [parts] the folders of a set
 * @property {boolean} isCommon whether most studies choose among it and its like
 */

const QUALIFICATION = "qualification";

/** @type {Method[]} */
export const METHODS = [
  {
    method: "infinity",
    title: "Real or fake, without time limit (HYPE-infinity)",
    about:
      "Evaluators see one picture at a time, as long as they like, and say whether it is real. The " +
      "score is the share of pictures judged wrong: 50% means that nobody can tell.",
    hasItems: false,
    isCommon: true,
  },
  {
    method: "time",
    title: "Real or fake, in flashes (HYPE-time)",
    about:
      "Pictures flash for a moment that grows or shrinks with each answer. The score is the time in ms " +
      "that people need to tell real from fake. Evaluators need a computer.",
    hasItems: false,
    isCommon: true,
  },
  {
    method: "pair",
    title: "Which one is real?",
    about:
      "A real picture and a generated one stand side by side, and evaluators choose the real one. The " +
      "score is the share of pairs in which they chose the generated one.",
    hasItems: false,
    isCommon: true,
  },
  {
    method: "tournament",
    title: "Tournament of models",
    about:
      "Pictures of two models stand side by side, and evaluators choose the one that looks more real. " +
      "Models are ranked by a Bradley-Terry model. It takes two models or more.",
    hasItems: false,
    isCommon: true,
  },
  {
    method: "exposures",
    title: "Real or fake, at fixed exposures",
    about:
      "Pictures are shown for several fixed times, the same for everyone. The result is a curve: how " +
      "often people are right after each time. Evaluators need a computer.",
    hasItems: false,
    isCommon: false,
  },
  {
    method: "2afc",
    title: "Which one is closer? (2AFC)",
    about:
      "Of two distorted pictures, evaluators choose the one closer to a reference. The answers measure " +
      "how well perceptual metrics agree with people.",
    hasItems: true,
    parts: "ref, p0 and p1",
    isCommon: false,
  },
  {
    method: "jnd",
    title: "Same or different? (JND)",
    about:
      "Two pictures flash one after the other, and evaluators say whether they were the same. The " +
      "result is which differences people notice.",
    hasItems: true,
    parts: "p0 and p1",
    isCommon: false,
  },
  {
    method: QUALIFICATION,
    title: "Qualification",
    about:
      "A short test of real or fake that people have to pass before they may take part in studies, " +
      "which name it in the setting qualification. It has no score.",
    hasItems: false,
    isCommon: false,
  },
];

/** @typedef {{kind?: string, method?: string}} Order what of an order says what the study is */

/**
 * Return what an order of a study asks for, among `METHODS`.
 * @param {Order} order
 */
export function methodOf({ kind, method }) {
  const name = kind === QUALIFICATION ? QUALIFICATION : method;
  return METHODS.find((each) => each.method === name) ?? METHODS[0];
}

/**
 * Return what an order says if one of `METHODS` is chosen.
 * @param {string} name
 * @returns {{kind: string, method: string}}
 */
export function ordered(name) {
  return name === QUALIFICATION
    ? { kind: QUALIFICATION, method: METHODS[0].method }
    : { kind: "study", method: name };
}
