// @ts-check
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { wordsOfClips } from "../../frontend/console/clip_words.js";

const VECTORS = JSON.parse(readFileSync(new URL("clip_word_vectors.json", import.meta.url), "utf8"));

test("a screen says of clips what a report on them says", () => {
  for (const [text, names, said] of VECTORS) assert.equal(wordsOfClips(names)(text), said);
});
