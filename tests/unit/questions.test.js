// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  problemOf,
  shownQuestions,
  storable,
  twoReadings,
  typedNumber,
} from "../../frontend/task/question_rules.js";
import { texts } from "../../frontend/texts/more_en.js";

const vectors = JSON.parse(readFileSync(new URL("question_vectors.json", import.meta.url), "utf-8"));
const questions = vectors.questions.map((/** @type {any} */ { if: shown_if = null, ...own }) => ({
  required: true,
  choices: [],
  min: null,
  max: null,
  step: 1,
  points: 5,
  low: "",
  high: "",
  max_length: 500,
  text: "?",
  shown_if,
  ...own,
}));
const named = (/** @type {string} */ name) => questions.find((/** @type {any} */ each) => each.name === name);

test("questions are shown as on the server", () => {
  for (const [answers, names] of vectors.shown) {
    assert.deepEqual(
      shownQuestions(questions, answers, {}).map(({ name }) => name),
      names,
      JSON.stringify(answers),
    );
  }
});

test("a condition may be on an answer stored before", () => {
  const [later] = questions.slice(1);
  assert.deepEqual(shownQuestions([later], {}, { one: "yes" }), [later]);
  assert.deepEqual(shownQuestions([later], {}, { one: "no" }), []);
});

test("answers are valid where the server takes them", () => {
  for (const [name, answer] of vectors.valid)
    assert.equal(problemOf(named(name), answer), null, `${name} ${JSON.stringify(answer)}`);
});

test("answers are refused where the server refuses them, with a text of the catalogue", () => {
  for (const [name, answer] of vectors.invalid) {
    const problem = problemOf(named(name), answer);
    assert.ok(problem && texts[problem.key], `${name} ${JSON.stringify(answer)}`);
  }
});

test("numbers are read in the digits and signs that people type", () => {
  const read = {
    12: 12,
    " 1.5 ": 1.5,
    "1,5": 1.5,
    "−3": -3,
    "-.5": -0.5,
    "３４": 34,
    "٣٫٥": 3.5,
    "۱۲": 12,
    "५": 5,
    "7.": 7,
  };
  for (const [typed, number] of Object.entries(read)) assert.equal(typedNumber(typed), number, typed);
  for (const typed of [
    "",
    "-",
    ".",
    "1e5",
    "1.2.3",
    "1,000,000",
    "0x10",
    "twelve",
    "1 2",
    "NaN",
    "Infinity",
    "--1",
  ]) {
    assert.ok(Number.isNaN(typedNumber(typed)), typed);
  }
});

test("a separator and three digits is read in two ways, each of which can then be typed", () => {
  for (const [typed, whole, decimal] of [
    ["1,500", "1500", "1.5"],
    ["1.500", "1500", "1.5"],
    ["-12,345", "-12345", "-12.3450"],
    ["٣٫٥٠٠", "3500", "3.5"],
    ["１．２５０", "1250", "1.25"],
    ["2,000", "2000", "2"],
  ]) {
    assert.ok(Number.isNaN(typedNumber(typed)), typed);
    assert.deepEqual(twoReadings(typed), { whole, decimal });
    assert.equal(typedNumber(whole), Number(whole));
    assert.equal(typedNumber(decimal), Number(decimal));
  }
  for (const typed of ["0,125", "0.500", "1500", "1.5", "12.34", "1234,567", ".500"])
    assert.equal(twoReadings(typed), null, typed);
});

test("texts are cleaned of what cannot be stored", () => {
  assert.equal(storable("  a\r\nb\rc\u0000d\ud800e\tf\u0085 "), "a\nb\nc d\ufffde f");
  assert.equal(storable("👩‍🔬 é"), "👩‍🔬 é");
});
