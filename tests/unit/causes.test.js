/** Why a display cannot show flashes: each cause has its own words in every language, and stands alone. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { unfitness } from "../../frontend/task/display.js";
import { measureRefresh, refreshOf } from "../../frontend/task/frames.js";
import { LANGUAGES } from "../../frontend/texts/languages.js";
import { text, useLanguage } from "../../frontend/texts/texts.js";
import { randomFrom } from "./display.js";
import { atFrames } from "./frame_clock.js";

const LIMITS = [50, 240];
const COMPUTER = { width: 1280, height: 800, has_pointer_or_keys: true, is_large: true, is_hidden: false };
const HIDDEN = { ...COMPUTER, is_hidden: true };
const SMALL_WINDOW = { ...COMPUTER, width: 420 };
const PHONE = { ...COMPUTER, width: 390, height: 844, has_pointer_or_keys: false, is_large: false };
const RATES = [60, 75, 90, 120, 144, 240];

const even = (hz, count = 121) => Array.from({ length: count }, (_, i) => 1234.5 + (1000 * i) / hz);
const down = (times, step) => times.map((at) => Math.floor(at / step + 1e-9) * step);
/** When callbacks run: a little after their frame. */
const read = (times) => times.map((at, i) => at + 0.3 + 0.37 * ((i * 7) % 5));

function uneven(shortest_ms, longest_ms, seed = 3) {
  const random = randomFrom(seed);
  let at = 0;
  return Array.from({ length: 121 }, () => (at += shortest_ms + (longest_ms - shortest_ms) * random()));
}

function missing(share, seed = 4) {
  const random = randomFrom(seed);
  return even(60, 2000)
    .filter(() => random() > share)
    .slice(0, 121);
}

/** Cases: what was measured, and the key of the words for it, with their values; null for a fit display. */
const CASES = [
  ...RATES.map((hz) => [`even ${hz} Hz`, refreshOf(even(hz), read(even(hz))), null]),
  ...RATES.map((hz) => [`${hz} Hz, clock in ms`, refreshOf(even(hz), down(read(even(hz)), 1)), null]),
  ...[20, 24, 30, 40, 49.9].map((hz) => [
    `even ${hz} Hz`,
    refreshOf(even(hz), read(even(hz))),
    ["display.too_slow", { hz: Math.floor(hz), needed: 50 }],
  ]),
  ["even 240.4 Hz", refreshOf(even(240.4)), ["display.too_fast", { hz: 241, needed: 240 }]],
  ...[1, 2, 3].map((seed) => ["frames of 20 to 80 ms", refreshOf(uneven(20, 80, seed)), ["display.busy"]]),
  ...[0.6, 0.7, 0.8].map((share) => [
    `${share} of frames missing`,
    refreshOf(missing(share)),
    ["display.busy"],
  ]),
  ["frames of 7 to 20 ms", refreshOf(uneven(7, 20)), ["display.varies"]],
  ...RATES.flatMap((hz) =>
    [16.667, 20, 50, 100].flatMap((step) => [
      // Firefox 153: privacy.resistFingerprinting rounds both, in steps of 16.667 ms where not set otherwise
      [`${hz} Hz, both in ${step} ms`, refreshOf(down(even(hz), step), down(read(even(hz)), step))],
      // and privacy.reduceTimerPrecision, set to 100 ms, the clock alone (on pages without https)
      [`${hz} Hz, clock in ${step} ms`, refreshOf(even(hz), down(read(even(hz)), step))],
    ]),
  ).map(([name, refresh]) => [name, refresh, ["display.clock"]]),
  [
    "a clock that stands still",
    refreshOf(
      even(60),
      even(60).map(() => 5),
    ),
    ["display.clock"],
  ],
  ["frames that stand still", refreshOf(even(60).map(() => 5)), ["display.clock"]],
].map(([name, refresh, key]) => [name, refresh, COMPUTER, key]);

const fit = refreshOf(even(60));

async function all() {
  const none = await atFrames([], () => measureRefresh(60));
  return [
    ...CASES,
    ["no frames", none, COMPUTER, ["refused.no_frames_help"]],
    ["no frames, hidden", none, HIDDEN, ["display.hidden"]],
    ["a small window", fit, SMALL_WINDOW, ["display.small_window"]],
    ["a phone", fit, PHONE, ["display.needs_computer"]],
  ];
}

test("of each cause its own words are told, and no others, in every language", async () => {
  for (const language of Object.keys(LANGUAGES)) {
    await useLanguage(language);
    for (const [name, refresh, screen, key] of await all())
      assert.deepEqual(unfitness(refresh, screen, LIMITS), key ? [text(...key)] : [], `${language}: ${name}`);
  }
  await useLanguage("en");
});

test("no two causes have the same words, and no two languages", async () => {
  const words = [];
  const keys = new Map((await all()).flatMap(([, , , key]) => (key ? [[key[0], key]] : [])));
  for (const language of Object.keys(LANGUAGES)) {
    await useLanguage(language);
    words.push(...[...keys.values()].map((key) => text(...key)));
  }
  await useLanguage("en");

  assert.equal(keys.size, 9);
  assert.equal(new Set(words).size, 9 * Object.keys(LANGUAGES).length);
});

test("whether enough frames came is known soon, whatever comes", async () => {
  for (const [name, gap_ms, has_frames] of [
    ["60 Hz", 1000 / 60, true],
    ["an even 30 Hz", 1000 / 30, true],
    ["an even 10 Hz", 100, true],
    ["two a second", 500, false],
    ["one a second", 1000, false],
    ["one a minute", 60000, false],
  ]) {
    const times = Array.from({ length: 200 }, (_, i) => (i + 1) * gap_ms);
    const refresh = await atFrames(times, () => measureRefresh(120), 6100);
    assert.equal(refresh.has_frames, has_frames, name);
    if (has_frames) assert.ok(Math.abs(refresh.frame_ms / gap_ms - 1) < 0.01, name);
  }
});
