/** The texts of the page: which is shown, how values stand in it, and that none is written into code. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import ts from "typescript";

import { answerKeys } from "../../frontend/task/answer_keys.js";
import { LANGUAGES, preferredOf } from "../../frontend/texts/languages.js";
import { texts as more } from "../../frontend/texts/more_en.js";
import { texts as catalogue } from "../../frontend/texts/text_en.js";
import {
  addTexts,
  counted,
  currentLanguage,
  loadTexts,
  money,
  number,
  percent,
  sentences,
  text,
  textNodes,
  useLanguage,
} from "../../frontend/texts/texts.js";

const FRONTEND = new URL("../../frontend/", import.meta.url);
/** Modules that evaluators never see the texts of: the researcher's pages, and the demo. */
const RESEARCHERS = ["demo", "evidence", "histogram", "start", "timing", "first", "preview"];
const isResearchers = (name) =>
  name.startsWith("console/") || RESEARCHERS.some((researchers) => name === `task/${researchers}.js`);
/** Catalogues, and the names of languages. */
const isText = (name) => name.startsWith("texts/") && name !== "texts/texts.js";
/** Calls whose texts go to programs or to the console. */
const UNSEEN = [
  /^console\.\w+$/,
  /^.*\.(querySelector(All)?|closest)$/,
  /^(matchMedia|CSS\.supports|\w*Error|Refused|Unreached|text|textNodes|RegExp)$/,
];
/** Where styles are written. */
const STYLED = {
  property: /^"?(class|style|rel|inset|cssText)"?$/,
  assigned: /\.(className|font)$|\.style\./,
};
/** A phrase of two words or more, or a single word as a label begins. */
const SEEN = [/\p{L}{2,},? \p{L}+/u, /^\p{Lu}\p{Ll}+[.!?…:]?$/u];
/** Names of keys and headers, and markup. */
const NAMES = [
  "Enter",
  "Space",
  "Escape",
  "Authorization",
  "Accept",
  "Digest",
  "Range",
  "Retry-After",
  "Content-Type",
];
const MARKUP = /^\s*<!doctype/i;

/**
 * Return the texts of a module that a page may show: phrases and labels, and whatever `el` is given as
 * content.
 * @param {string} code
 */
function writtenTexts(code) {
  /** @type {string[]} */
  const found = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || isStyle(node)) return;
    if ((ts.isCallExpression(node) || ts.isNewExpression(node)) && isUnseen(node.expression)) {
      // Values of placeholders may be texts all the same.
      for (const part of node.arguments ?? []) if (wordsOf(part).length === 0) visit(part);
      return;
    }
    const words = wordsOf(node);
    const whole = words.join(" ");
    const isSeen =
      words.some((part) => SEEN.some((shape) => shape.test(part))) ||
      (isContent(node) && /\p{L}/u.test(whole));
    if (isSeen && !MARKUP.test(whole) && !NAMES.includes(whole)) found.push(whole);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("module.js", code, ts.ScriptTarget.Latest, true));
  return found;
}

/** @param {ts.Expression} called */
function isUnseen(called) {
  return UNSEEN.some((shape) => shape.test(called.getText()));
}

/** @param {ts.Node} node */
function wordsOf(node) {
  if (ts.isStringLiteralLike(node)) return [node.text];
  return ts.isTemplateExpression(node)
    ? [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)]
    : [];
}

/** @param {ts.Node} node */
function isStyle(node) {
  if (ts.isPropertyAssignment(node)) return STYLED.property.test(node.name.getText());
  return ts.isBinaryExpression(node) && STYLED.assigned.test(node.left.getText());
}

/**
 * Return whether a text is the content of an element or the label of a button.
 * @param {ts.Node} node
 */
function isContent({ parent, ...node }) {
  if (!parent) return false;
  if (ts.isPropertyAssignment(parent)) return parent.name.getText() === "label";
  return (
    ts.isCallExpression(parent) &&
    parent.expression.getText() === "el" &&
    parent.arguments.findIndex((each) => each.pos === node.pos) >= 2
  );
}

test("the search for texts in code finds phrases, labels and parts of templates", () => {
  const code = `
    el("p", { class: "one two" }, "Nothing was recorded.", "or");
    ask("done", "Thanks", [], [{ label: \`Picture \${n} of them all\` }, { label: "on" }]);
    pen.font = "1px some font";
    throw new Error("for the console");
    text("a.b", { x: "two words" });`;

  assert.deepEqual(writtenTexts(code), [
    "Nothing was recorded.",
    "or",
    "Thanks",
    "Picture   of them all",
    "on",
    "two words",
  ]);
});

const scripts = readdirSync(FRONTEND, { recursive: true }).filter((name) => name.endsWith(".js"));
const modules = scripts.filter((name) => !isText(name) && !isResearchers(name));

for (const name of modules) {
  test(`no text for evaluators is written into ${name}`, () => {
    assert.deepEqual(writtenTexts(readFileSync(new URL(name, FRONTEND), "utf8")), []);
  });
}

test("values stand where a text names them, and markup in them is text", async () => {
  await useLanguage("en");

  assert.equal(text("picture.progress", { n: 3, total: 10 }), "Picture 3 of 10");
  assert.equal(text("offer.before_test", { study: "<b>{n}</b>" }).includes("“<b>{n}</b>”"), true);
});

test("a key or value that is missing is an error, not a hole in a sentence", () => {
  assert.throws(() => text("nothing.here"), /no text nothing\.here/);
  assert.throws(() => text("picture.progress", { n: 1 }), /needs a value for \{total\}/);
});

test("nodes stand among the words as they are", () => {
  const link = { nodeName: "A" };

  assert.deepEqual(textNodes("contact.questions", { contact: link }), [
    "Questions? You can write to ",
    link,
    ".",
  ]);
});

test("the researcher's texts come first, and go with the next language", async () => {
  await useLanguage("de", { "answer.fake": "KI" });
  assert.deepEqual([text("answer.fake"), text("answer.real")], ["KI", "Echt"]);

  await useLanguage("en");
  assert.deepEqual([text("answer.fake"), text("answer.real"), currentLanguage()], ["Fake", "Real", "en"]);
});

test("of two languages asked for at once the last one stays, whichever is loaded first", async () => {
  await Promise.all([useLanguage("ja"), useLanguage("en")]);
  assert.equal(currentLanguage(), "en");

  await Promise.all([useLanguage("ja"), useLanguage("fr")]);
  assert.equal(currentLanguage(), "fr");
});

test("texts that a module adds are there in English at once, and then in the language in use", async () => {
  await useLanguage("de", { "wait.pay": "Lohn: {money}" });
  addTexts(more);
  assert.equal(text("wait.title"), "Wait to be called");

  await loadTexts();
  assert.deepEqual(
    [text("wait.title"), text("wait.pay", { money: 1 })],
    ["Warten, bis es losgeht", "Lohn: 1"],
  );
});

test("in Arabic, a value keeps its own direction", async () => {
  await useLanguage("ar");

  assert.equal(text("picture.progress", { n: 3, total: 10 }), "الصورة \u20683\u2069 من \u206810\u2069");
});

// Plural forms and units of Unicode's CLDR:
// https://www.unicode.org/cldr/charts/latest/supplemental/language_plural_rules.html
const MINUTES = {
  en: ["1 minute", "2 minutes", "10 minutes"],
  de: ["1 Minute", "2 Minuten", "10 Minuten"],
  ja: ["1 分", "2 分", "10 分"],
  zh: ["1分钟", "2分钟", "10分钟"],
  ar: ["دقيقة", "دقيقتان", "10 دقائق"],
};
for (const [language, expected] of Object.entries(MINUTES)) {
  test(`minutes have their plural forms in ${language}`, async () => {
    await useLanguage(language);

    assert.deepEqual(
      [1, 2, 10].map((count) => counted(count, "minute")),
      expected,
    );
  });
}

test("English money, percent and numbers are as before there were languages", async () => {
  await useLanguage("en");

  assert.deepEqual(
    [money(123, "USD"), money(5, "GBP"), money(100000, "USD")],
    ["$1.23", "£0.05", "$1,000.00"],
  );
  assert.deepEqual(
    [percent(0.625), percent(0.5066, 1), percent(0.5, 1), number(1234)],
    ["63%", "50.7%", "50.0%", "1234"],
  );
});

test("sentences are joined as the language joins them", async () => {
  await useLanguage("en");
  assert.equal(sentences("One.", "", "Two."), "One. Two.");

  await useLanguage("ja");
  assert.equal(sentences("一。", "二。"), "一。二。");
});

test("a browser's first known language is taken", () => {
  assert.equal(preferredOf(["nl", "pt-BR", "en"]), "pt");
  assert.equal(preferredOf(["zh-Hans-CN"]), "zh");
  assert.equal(preferredOf(["nl", "toString"]), "en");
  assert.equal(preferredOf([]), "en");
});

/** What readers of a language read: BCP 47 tags, with the region or script that decides. */
const READERS = [
  [["zh-TW", "en"], "en"],
  [["zh-Hant", "de"], "de"],
  [["zh-HK", "fr-CA"], "fr"],
  [["zh-MO"], "en"],
  [["zh-Hans-TW"], "zh"],
  [["zh-Hant-CN", "pt-PT"], "pt"],
  [["zh", "en"], "zh"],
  [["zh-SG"], "zh"],
  [["zh-cmn-Hans-CN"], "zh"],
  [["cmn-Hans"], "zh"],
  [["zh-yue-HK", "ja-JP"], "ja"],
  [["yue", "es-419"], "es"],
  [["sr-Latn-RS", "sr-Cyrl", "de-CH-1996"], "de"],
  [["ja-Latn", "es"], "es"],
  [["ar-Latn-EG", "fr"], "fr"],
  [["ar-EG"], "ar"],
  [["en-Shaw", "de-AT"], "de"],
  [["de-Latn-DE"], "de"],
  [["en-GB-oed", "de"], "en"],
  [["en-u-ca-gregory", "de"], "en"],
  [["de-u-co-phonebk-x-tw"], "de"],
  [["pt_BR"], "pt"],
  [["PT-br"], "pt"],
  [["", "x-private", "nl", "ja"], "ja"],
];
const early = readFileSync(new URL("task/first.js", FRONTEND), "utf-8");
const earlyRule = /function catalogueOf\(tag\) \{.*?\n {2}\}\n/s.exec(early)?.[0] ?? "";
/** @type {(tag: string) => string} */
const earlyCatalogueOf = new Function(`${earlyRule} return catalogueOf;`)();

for (const [preferred, language] of READERS) {
  test(`a browser of ${preferred.join(", ")} gets ${language}, from the first line on`, () => {
    const first = preferred.map((tag) => earlyCatalogueOf(tag.toLowerCase()));

    assert.equal(preferredOf(preferred), language);
    assert.equal(first.find((name) => Object.hasOwn(LANGUAGES, name)) ?? "en", language);
  });
}

for (const language of Object.keys(LANGUAGES)) {
  test(`f means fake, j and r mean real in ${language}, beside the language's own keys`, async () => {
    await useLanguage(language);
    const { fake, real } = answerKeys();

    assert.ok(fake.includes("f") && real.includes("j") && real.includes("r"));
    assert.deepEqual(
      fake.filter((key) => real.includes(key)),
      [],
    );
    assert.equal(fake[0], text("answer.fake_key").toLowerCase());
  });
}

for (const name of scripts.filter((file) => /\/judgment_\w+\.js$/.test(file))) {
  test(`the texts of ${name} follow a language that is chosen after it was loaded`, async () => {
    await useLanguage("en");
    const { judgment } = await import(new URL(name, FRONTEND).href);
    const said = () => [
      judgment.heading,
      ...judgment.choices.map(({ label }) => label),
      judgment.progress(1, 2),
    ];
    const english = said();
    await useLanguage("ja");
    const japanese = said();

    for (const [i, words] of japanese.entries()) assert.notEqual(words, english[i]);
  });
}

test("no translator of pages may alter a key or a code", () => {
  const written = modules.flatMap(
    (name) => readFileSync(new URL(name, FRONTEND), "utf8").match(/el\(\s*"(kbd|output|code)"[^}]*/g) ?? [],
  );

  assert.ok(written.length >= 6);
  assert.deepEqual(
    written.filter((each) => !each.includes('translate: "no"')),
    [],
  );
});

test("keys and ids stand in texts as elements, which may be protected, and not as words", () => {
  const spelled = modules.flatMap((name) => {
    const source = readFileSync(new URL(name, FRONTEND), "utf8");
    return [...source.matchAll(/\btext\(\s*(?:[^()]*\?\s*)?"([\w.]+)"/g)].map(([, key]) => key);
  });
  const isOfKeys = (key) => /\{(?:\w+_)?(?:key|id|code)\}/.test({ ...catalogue, ...more }[key] ?? "");

  assert.deepEqual(spelled.filter(isOfKeys), []);
});
