import assert from "node:assert/strict";
import { test } from "node:test";

import { judgmentOf } from "../../frontend/task/judgment.js";
import { countSameAnswers } from "../../frontend/task/same_answers.js";
import { choiceOf } from "../../frontend/task/screens.js";
import { stageSize } from "../../frontend/task/stage.js";
import { useLanguage } from "../../frontend/texts/texts.js";

const ANSWERS = { real_or_fake: ["real", "fake"], which_is_real: ["left", "right"] };
const LANGUAGES = ["en", "de", "es", "fr", "pt", "ja", "zh", "ar"];

for (const [judgment, own] of Object.entries(ANSWERS)) {
  test(`${judgment} has a third answer only where the study allows it`, async () => {
    await useLanguage("en");
    const without = await judgmentOf({ judgment, answers: own });
    const doubting = await judgmentOf({ judgment, answers: [...own, "not_sure"] });

    assert.equal(without.choices.length, 2);
    assert.deepEqual(doubting.choices[2], { answer: "not_sure", label: "Not sure", keys: ["g"] });
    assert.deepEqual(doubting.choices.slice(0, 2), without.choices);
    assert.equal(doubting.heading, without.heading);
    assert.equal(doubting.pictures, without.pictures);
    assert.match(doubting.tap(), /tap “\W?Not sure\W?”: that counts as half a right answer\.$/);
  });

  for (const language of LANGUAGES) {
    test(`in ${language} no answer to ${judgment} has its key; it is told what was right`, async () => {
      await useLanguage(language);
      const { choices, verdict, repeated } = await judgmentOf({ judgment, answers: [...own, "not_sure"] });

      assert.equal(choiceOf(choices, "g", "g"), 2);
      assert.ok(choices.slice(0, 2).every(({ keys }) => !keys.includes("g")));
      const told = own.map((right) => verdict("not_sure", false, right));
      assert.notEqual(told[0], told[1]);
      assert.ok(told.every((words) => words && !/[✓✗]/.test(words)));
      assert.ok(verdict(own[0], true).includes("✓") && verdict(own[0], false).includes("✗"));
      assert.notEqual(repeated("not_sure", 20), repeated(own[0], 20));
    });
  }
}

test("somebody who is never sure gets the notice of equal answers", () => {
  const isDue = countSameAnswers(3);

  assert.deepEqual(["not_sure", "not_sure", "not_sure", "not_sure"].map(isDue), [false, false, true, false]);
});

test("pictures leave room for its button", () => {
  const display = { width: 1280, height: 600, pixel_ratio: 1 };

  const [plain, lower] = [false, true].map((hasThirdAnswer) =>
    stageSize(500, 512, display, { hasThirdAnswer }),
  );

  assert.equal(plain.css - lower.css, 420 - 364); // 600 - 180, and the 44 px of a button with 12 above it
});
