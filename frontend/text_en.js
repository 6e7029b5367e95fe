// @ts-check
/** The texts that evaluators see, in English: the catalogue that every other language follows. */

/** @type {Record<string, string>} */
export const texts = {
  "answer.fake": "Fake",
  "answer.real": "Real",
  "check.instruction": "For this one, please press “{answer}”, whatever the picture shows.",
  "check.right": "✓ Right: that was the answer asked for",
  "check.wrong": "✗ That was not the answer asked for",
  "practice.done.paid": "From here on, each right answer is paid.",
  "practice.done.start": "Start",
  "practice.done.text": "The practice is over. From here on, your answers count.",
  "practice.done.title": "Now it counts",
  "practice.intro": "You begin with practice. Pictures: {n}. After each answer you are told whether it was right.",
  "practice.offer": "Practice",
  "practice.offer.count": "{n} pictures before the first part, which do not count",
  "practice.progress": "Practice: {n} of {total}",
  "practice.ready": "Ready to practise?",
  "practice.title": "Practice first",
  "practice.unpaid": "Practice answers do not count, and right ones are not paid.",
  "practice.unscored": "Practice answers do not count.",
};
