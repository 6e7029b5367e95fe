import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Unreached, makeConsoleApi } from "../../frontend/console/api.js";
import { valuesOf } from "../../frontend/console/fields.js";
import { counted, moment, remaining, sentence, size } from "../../frontend/console/format.js";
import { found, parametersOf, pathTo } from "../../frontend/console/paths.js";
import { paidRows } from "../../frontend/console/payment_list.js";
import { loadMethods, METHODS, methodOf, ordered } from "../../frontend/console/methods.js";
import { checkedOf, hasPictures, orderOf } from "../../frontend/console/order.js";
import { factsOf, needed, planWish, unreached } from "../../frontend/console/plan.js";
import { placeOf, withoutPlace } from "../../frontend/console/questionnaire.js";
import {
  arranged,
  asSettings,
  asTyped,
  inShort,
  optionsOf,
  problemOf,
  settingAt,
  valueWords,
} from "../../frontend/console/setting_groups.js";

import { callSettings } from "../../frontend/console/setting_names.js";

const lists = readFileSync(new URL("damaged_lists.json", import.meta.url), "utf-8");
const PARTS = { infinity: [], "2afc": ["ref", "p0", "p1"], time: [], qualification: [] };
const server = {
  methods: Object.entries(PARTS).map(([method, parts]) => ({
    method,
    parts,
    title: method,
    about: "",
    is_common: false,
  })),
  async get() {
    return { methods: this.methods, settings: {} };
  },
};
await loadMethods(server);

test("a path gives the parameters of its pattern, decoded", () => {
  assert.deepEqual(parametersOf("/console/studies/:study", "/console/studies/a%20b%2Fc"), { study: "a b/c" });
  assert.deepEqual(parametersOf("/console", "/console/"), {});
  assert.equal(parametersOf("/console/studies/:study", "/console/studies"), null);
  assert.equal(parametersOf("/console/studies/:study", "/console/people/x"), null);
  assert.equal(parametersOf("/console/studies/:study", "/console/studies/%E0%A4%A"), null);
});

test("the first pattern that fits is taken, and paths are escaped", () => {
  const table = [
    ["/console/new", 1],
    ["/console/:page", 2],
  ];

  assert.deepEqual(found(table, "/console/new"), { entry: 1, parameters: {} });
  assert.deepEqual(found(table, "/console/jobs"), { entry: 2, parameters: { page: "jobs" } });
  assert.equal(found(table, "/console/jobs/1"), null);
  assert.equal(pathTo`/console/studies/${"a/b?c"}/live`, "/console/studies/a%2Fb%3Fc/live");
});

test("numbers, sizes, times and messages are written for people", () => {
  assert.deepEqual([0, 999, 1000, 12345678, 5e9, 999600].map(size), [
    "0 bytes",
    "999 bytes",
    "1.0 kB",
    "12 MB",
    "5.0 GB",
    "1.0 MB",
  ]);
  assert.deepEqual(
    [1, 1500].map((n) => counted(n, "picture")),
    ["1 picture", "1,500 pictures"],
  );
  assert.equal(counted(2, "study", "studies"), "2 studies");
  assert.deepEqual([3, 41, 61, 7300].map(remaining), ["a few seconds", "50 seconds", "2 minutes", "3 hours"]);
  assert.equal(moment("2026-11-24T18:05:00Z", "UTC"), "24 Nov 2026, 18:05");
  assert.equal(moment("nonsense", "UTC"), "nonsense");
  assert.equal(sentence("the name is taken; choose another"), "The name is taken; choose another.");
  assert.equal(sentence(" "), "");
  assert.equal(
    sentence("over the budget of $5.00; raise the budget (--budget)"),
    "Over the budget of $5.00; raise the budget.",
  );
  assert.equal(
    sentence(
      "it is paused (by hand); resume it (`openhype recruit a --resume`), with more slots (--slots N)",
    ),
    "It is paused (by hand); resume it, with more slots.",
  );
});

/**
 * An API whose server gives these replies in order; null for no reply.
 * @param {(Response | null)[]} replies
 */
function served(replies) {
  const seen = { sent: [], pauses: [], signIns: [] };
  const api = makeConsoleApi({
    send: async (path, init) => {
      seen.sent.push([init.method ?? "GET", path]);
      const reply = replies.shift();
      if (!reply) throw new TypeError("no network");
      return reply;
    },
    pause: async (ms) => seen.pauses.push(ms),
    random: () => 0.5,
    signIn: async (reason) => seen.signIns.push(reason),
  });
  return { api, seen };
}

const good = (data) => Response.json(data);
const refusal = (status, code, headers = {}) =>
  Response.json({ error: { code, message: "no", id: "ab12" } }, { status, headers });

test("reading is repeated until the server is reached, and given up with what to do", async () => {
  const back = served([null, null, good({ n: 1 })]);
  const gone = served([]);

  assert.deepEqual(await back.api.get("/api/x"), { n: 1 });
  assert.deepEqual(back.seen.pauses, [300, 600]);
  await assert.rejects(gone.api.get("/api/x"), Unreached);
  assert.equal(gone.seen.sent.length, 6);
});

test("a change whose reply is lost is not sent twice unless that does no harm", async () => {
  const once = served([null, good({})]);
  const twice = served([null, good({ n: 2 })]);

  await assert.rejects(once.api.post("/api/pay"), /whether it was done/);
  assert.equal(once.seen.sent.length, 1);
  assert.deepEqual(await twice.api.post("/api/plan", {}, { again: true }), { n: 2 });
});

test("a busy server did nothing, so that the change is sent again when it asks for it", async () => {
  const { api, seen } = served([refusal(429, "too_many", { "Retry-After": "7" }), good({ n: 3 })]);

  assert.deepEqual(await api.post("/api/pay"), { n: 3 });
  assert.deepEqual(seen.pauses, [7000]);
});

test("a sign-in that has ended is asked for once, and everything that waited goes on", async () => {
  const { api, seen } = served([
    refusal(403, "expired_token"),
    refusal(403, "expired_token"),
    good({ a: 1 }),
    good({ b: 1 }),
  ]);

  const both = await Promise.all([api.get("/api/a"), api.get("/api/b")]);

  assert.deepEqual(both, [{ a: 1 }, { b: 1 }]);
  assert.deepEqual(seen.signIns, ["expired_token"]);
});

test("a wrong token at the sign-in, and what a role may not do, are refusals with their id", async () => {
  const { api, seen } = served([refusal(403, "wrong_token"), refusal(403, "not_permitted")]);

  await assert.rejects(api.post("/api/sign-in", { token: "x" }), { code: "wrong_token", id: "ab12" });
  await assert.rejects(api.get("/api/members"), { code: "not_permitted" });
  assert.deepEqual(seen.signIns, []);
});

test("requests say for whom the page was loaded, which starts afresh if that is another now", async () => {
  const sent = [];
  const replies = [good({}), good({}), refusal(403, "other_member")];
  let starts = 0;
  const api = makeConsoleApi({
    signIn: async () => {},
    member: () => "ada",
    startAfresh: () => new Promise(() => (starts += 1)),
    send: async (path, { headers }) => {
      sent.push([path, headers["X-Openhype-Member"], "Content-Type" in headers]);
      return replies.shift();
    },
  });

  await api.get("/api/studies");
  await api.send("/api/studies/faces/report.zip", {});
  void api.post("/api/studies/faces/pause");
  await new Promise((resolve) => setTimeout(resolve, 20));

  assert.deepEqual(sent, [
    ["/api/studies", "ada", false],
    ["/api/studies/faces/report.zip", "ada", false],
    ["/api/studies/faces/pause", "ada", true],
  ]);
  assert.equal(starts, 1);
});

test("a job is followed to its end", async () => {
  const job = (state) => good({ job: "j1", state, progress: null });
  const { api, seen } = served([job("queued"), job("running"), job("done")]);
  const states = [];

  const last = await api.job("j1", ({ state }) => states.push(state));

  assert.deepEqual(states, ["queued", "running", "done"]);
  assert.equal(last.state, "done");
  assert.equal(seen.sent.length, 3);
});

const setting = (name, more = {}) => ({
  name,
  doc: "",
  group: "pay",
  kind: "whole",
  default: 1,
  written: "1",
  low: 0,
  high: 9,
  choices: [],
  choice_labels: [],
  is_open: false,
  applies: true,
  label: name,
  asked: 0,
  ...more,
});

test("settings that most studies decide on stand first, others in groups, unused ones nowhere", () => {
  const all = [
    setting("keep_days"),
    setting("images", { group: "stimuli", asked: 2 }),
    setting("evaluators", { asked: 1 }),
    setting("ties", { applies: false }),
    setting("new", { group: "later" }),
  ];

  const { common, groups } = arranged(all);

  assert.deepEqual(
    common.map(({ name }) => name),
    ["evaluators", "images"],
  );
  assert.deepEqual(
    groups.map(({ heading, settings }) => [heading, ...settings.map(({ name }) => name)]),
    [
      ["Pay", "keep_days"],
      ["later", "new"],
    ],
  );
});

test("an error is shown at the setting whose keys it carries, whatever its message names", () => {
  assert.equal(settingAt(["settings", "images"]), "images");
  assert.equal(settingAt(["settings", "staircase", "start_ms"]), "staircase");
  assert.equal(settingAt(["texts", "de", "answer.fake"]), "texts");
  assert.equal(settingAt(["panel", "redirect"]), "panel");
  assert.equal(settingAt(["models", "images"]), "");
  assert.equal(settingAt(["settings"]), "");
  assert.equal(settingAt([]), "");
  assert.equal(
    withoutPlace({ keys: ["settings", "images"], message: "settings: images must be even", code: "" }),
    "images must be even",
  );
});

test("empty fields keep their defaults, tables are typed in lines and come back as such", () => {
  const settings = [setting("images"), setting("texts", { kind: "table" })];
  const typed = { images: " 40 ", title: "", texts: "a.b = One = two\n\nc=Three" };

  const posted = asSettings(typed, settings);

  assert.deepEqual(posted, { images: "40", texts: { "a.b": "One = two", c: "Three" } });
  assert.equal(asTyped(posted.texts), "a.b = One = two\nc = Three");
  assert.deepEqual([asTyped(true), asTyped([1, 2]), asTyped(null)], ["true", "1,2", ""]);
});

test("a field says its default and its limits", () => {
  assert.equal(
    inShort(setting("images", { written: "100", low: 2, high: 10000 })),
    "Default: 100. From 2 to 10000.",
  );
  assert.equal(
    inShort(setting("ties", { kind: "truth_value", written: "false", low: null })),
    "Default: no.",
  );
  assert.equal(inShort(setting("consent_text", { kind: "long_text", written: "(a text)", low: null })), "");
});

test("messages and values have the words of the console, never names of the API", () => {
  const draw = { choices: ["random", "least-seen"], choice_labels: ["at random", "those seen least"] };
  callSettings({
    sampling: { label: "How pictures are chosen", choices: { "least-seen": "those seen least" } },
    random_sampling_share: { label: "Share chosen at random", choices: {} },
    images: { label: "Pictures", choices: {} },
  });
  const refusal = "with sampling=least-seen, random_sampling_share must be above 0, such as 0.5";

  assert.equal(
    sentence(refusal),
    "With “How pictures are chosen” (those seen least), “Share chosen at random” must be above 0, " +
      "such as 0.5.",
  );
  assert.equal(sentence("images must be from 2 to 5000"), "“Pictures” must be from 2 to 5000.");
  assert.equal(
    sentence("the images must be even; `images` stay"),
    "The images must be even; “Pictures” stay.",
  );
  assert.equal(
    sentence("this message has snake_case of another kind"),
    "This message has snake_case of another kind.",
  );
  assert.equal(
    valueWords(setting("sampling", { kind: "choice", ...draw }), "least-seen"),
    "those seen least",
  );
  assert.equal(valueWords(setting("panel", draw), '{"name": "campus"}'), "campus (a panel of its own)");
  assert.deepEqual(optionsOf(setting("sampling", draw), "other").at(-1), ["other", "other"]);
});

test("the server is asked for the aim only where it knows how much evaluators differ", () => {
  const aim = { difference: "10", power: "90" };

  assert.deepEqual(planWish({ method: "infinity", difference: 10 }, 3, { images: "40" }, aim), {
    method: "infinity",
    models: 3,
    settings: { images: "40" },
    difference: 10,
    power: 0.9,
  });
  assert.deepEqual(planWish({ method: "2afc", difference: null }, 3, {}, aim, { real: "a" }), {
    method: "2afc",
    models: 3,
    settings: {},
    order: { real: "a" },
  });
  const tournament = { method: "tournament", difference: 0.5 };
  assert.deepEqual(planWish(tournament, 3, {}, { difference: "0.4", power: "80" }).difference, 0.4);
  assert.deepEqual(planWish({ method: "time", difference: 150 }, 1, {}, { difference: "x", power: "80" }), {
    method: "time",
    models: 1,
    settings: {},
  });
});

test("a plan says what a study takes and tells", () => {
  const study = {
    sessions: 90,
    evaluators_a_model: 30,
    looks: [],
    trials_a_session: 100,
    hours: 15,
    total_usd_cents: 25740,
    fees_usd_cents: 7740,
    session_usd_cents: 286,
    currency: "USD",
  };
  const precision = {
    unit: "percent",
    assurance: 0.8,
    difference: 10,
    source: "papers",
    rows: [
      { width: 4.938, power: 0.99927 },
      // biome-ignore lint/suspicious/noApproximativeNumericConstant: a power, not the logarithm of 2
      { width: 9.59, power: 0.693 },
      { width: null, power: null },
    ],
  };
  const aim = {
    rows: [
      { model: "a", evaluators: 11, why_none: null },
      { model: "b", evaluators: null, why_none: "the shared pictures alone make it wide" },
      { model: "c", evaluators: 38, why_none: null },
    ],
  };

  assert.deepEqual(factsOf({ models: 3, study, precision }), [
    ["Evaluators", "90 in all, 30 for each of 3 models"],
    ["Answers", "9,000"],
    ["Cost", "at most $257.40, of which $77.40 are the panel’s fee; $2.86 for each evaluator"],
    ["Working time", "15 hours of all evaluators together"],
    [
      "Interval of a score",
      "at most 4.9 to 9.6 percentage points wide in 80% of studies, by the spread of the papers’ evaluators",
    ],
    ["Power", "69% to over 99% to find a difference of 10 percentage points between two models"],
  ]);
  const sure = { ...precision, rows: [precision.rows[0], precision.rows[0]] };
  assert.deepEqual(factsOf({ models: 3, study, precision: sure })[5], [
    "Power",
    "over 99% to find a difference of 10 percentage points between two models",
  ]);
  assert.deepEqual(needed({ aim }), { least: 11, most: 38 });
  assert.deepEqual(unreached({ aim }), ["B: the shared pictures alone make it wide."]);
  assert.equal(needed({ aim: { rows: [aim.rows[1]] } }), null);
  assert.equal(needed({ aim: null }), null);
  assert.deepEqual(
    factsOf({
      models: 1,
      study: { ...study, total_usd_cents: 0, sessions: 30, hours: 0.4 },
      precision: null,
    }).map(([, text]) => text),
    ["30", "3,000", "nobody is paid", "24 minutes of all evaluators together"],
  );
});

test("a plan says what a study takes that stops at its first look", () => {
  const study = {
    sessions: 60,
    evaluators_a_model: 30,
    looks: [10, 20, 30],
    trials_a_session: 100,
    hours: 10,
    total_usd_cents: 17160,
    fees_usd_cents: 0,
    session_usd_cents: 286,
    currency: "USD",
  };

  const facts = factsOf({ models: 2, study, precision: null, why_none: "" });

  assert.deepEqual(facts[1], [
    "Planned looks",
    "at 10, 20, 30 evaluators of each model; to stop at the first takes 20, for at most $57.20",
  ]);
});

test("a form sends what its fields hold, without empty ones", () => {
  const holding = (value) => ({ value: () => value });

  assert.deepEqual(
    valuesOf({ seed: holding(0), title: holding(undefined), limit: holding(null), signed: holding(false) }),
    { seed: 0, limit: null, signed: false },
  );
});

test("where nothing is known of the precision, the plan says why", () => {
  const study = { sessions: 0, trials_a_session: 60, session_usd_cents: 0, currency: "USD" };
  const precision = { unit: "log-odds", assurance: 0.8, difference: 0.5, source: "simulated" };
  const row = { width: 0.4567, power: 0.8, why_none: null };
  const none = { width: null, power: null, why_none: "there are too few pictures" };

  const facts = [
    { precision: null, why_none: "a pilot does" },
    { precision: { ...precision, rows: [row] } },
    { precision: { ...precision, rows: [none, none] } },
  ].map((plan) => factsOf({ models: 1, study, ...plan })[3]);

  assert.deepEqual(facts, [
    ["Interval and power", "Not known: a pilot does."],
    [
      "Interval of a score",
      "at most 0.46 log-odds wide in 80% of studies, by the spread of simulated evaluators",
    ],
    ["Interval of a score", "There are too few pictures."],
  ]);
});

test("a plan is asked for with the order once both sides have pictures", () => {
  const models = [{ model: "gan", upload: "b" }];

  assert.deepEqual(
    [
      { real: "a", models },
      { items: [{ set: "s", upload: "c" }] },
      { real: "a", models: [] },
      { models },
      {},
    ].map(hasPictures),
    [true, true, false, false, false],
  );
});

test("what is typed is checked as far as the kind of its setting tells", () => {
  assert.equal(problemOf(setting("images"), ""), "");
  assert.equal(problemOf(setting("images"), "1.5"), "A whole number is expected here.");
  assert.equal(problemOf(setting("images"), "10"), "It must be from 0 to 9.");
  assert.equal(problemOf(setting("images", { kind: "number" }), "x"), "A number is expected here.");
  assert.equal(problemOf(setting("contact", { kind: "text" }), "x"), "");
});

test("a qualification is a kind of study, and has no number of evaluators", async () => {
  await loadMethods(server);
  const study = {
    sessions: 0,
    evaluators_a_model: 0,
    looks: [],
    trials_a_session: 100,
    hours: 0,
    total_usd_cents: 0,
    fees_usd_cents: 0,
    session_usd_cents: 100,
    currency: "USD",
  };

  assert.equal(methodOf(ordered("qualification")).method, "qualification");
  assert.deepEqual(
    METHODS.map(({ method }) => methodOf(ordered(method)).method),
    METHODS.map(({ method }) => method),
  );
  assert.deepEqual(METHODS, server.methods); // asked for once
  assert.equal(methodOf({}).method, "infinity");
  assert.deepEqual(factsOf({ models: 1, study, precision: null })[2], [
    "Cost",
    "at most $1.00 for each evaluator",
  ]);
});

test("an error is shown at the entry of the page or question whose keys it carries", () => {
  const places = [
    { keys: ["pages", 0, "text"], message: "pages 1 lacks the entry text, a text", code: "missing_entry" },
    { keys: ["pages", 1, "title"], message: "pages 2: title must be a line of text", code: "invalid" },
    { keys: ["questions", 0, "choices", 2], message: "questions 1 choices: two choices are called 'name'" },
    { keys: ["questions", 2, "if", "question"], message: "questions 3 if: no question is called 'a'" },
    { keys: ["questions", 3], message: "questions: there are too many" },
  ].map(placeOf);

  assert.deepEqual(
    places.map((place) => [place?.list, place?.number, place?.part, place?.words]),
    [
      ["pages", 0, "text", "This is needed."],
      ["pages", 1, "title", "Title must be a line of text."],
      ["questions", 0, "choices", "Two choices are called 'name'."],
      ["questions", 2, "if.question", "No question is called 'a'."],
      ["questions", 3, "", "There are too many."],
    ],
  );
  assert.equal(placeOf({ keys: ["settings", "pages"], message: "pages 1: so", code: "" }), null);
});

test("what was given for another method stays in the draft, and is not ordered", () => {
  const draft = {
    name: "faces",
    kind: "study",
    method: "2afc",
    real: "r",
    models: [{ model: "gan", upload: "g" }],
    items: [{ set: "blur", upload: "b" }],
    preprocess: ["jpeg:75"],
    flat: true,
    settings: { exposures_ms: "50", title: "T" },
    pages: [{ title: "", text: "" }],
  };
  const settings = [setting("exposures_ms", { applies: false }), setting("title")];

  const similarity = orderOf(draft, settings);
  const sides = orderOf({ ...draft, method: "infinity" }, settings);

  assert.deepEqual(JSON.parse(JSON.stringify(similarity)), {
    name: "faces",
    kind: "study",
    method: "2afc",
    items: draft.items,
    settings: { title: "T" },
    pages: draft.pages,
  });
  assert.deepEqual(Object.keys(sides).sort(), [
    "flat",
    "kind",
    "method",
    "models",
    "name",
    "pages",
    "preprocess",
    "real",
    "settings",
  ]);
  assert.deepEqual(Object.keys(checkedOf(sides)).sort(), [
    "flat",
    "kind",
    "method",
    "models",
    "preprocess",
    "real",
    "settings",
  ]);
});

test("a list of who was paid is read as the server writes it, and as spreadsheets save it", () => {
  const row = { evaluator: "e001", usd_cents: 110, completion_code: "C;1", account: "abc" };
  const header = "evaluator,completion_code,base_usd_cents,bonus_usd_cents,usd_cents,currency,account";

  assert.deepEqual(paidRows(`${header}\r\ne001,C;1,100,10,110,USD,abc\r\n`), [row]);
  assert.deepEqual(
    paidRows('\uFEFFaccount;evaluator;usd_cents;completion_code\nabc;e001;110;"C;1"\n;;;\n\n'),
    [row],
  );
  assert.deepEqual(paidRows('evaluator\tusd_cents\n"a ""b""\nc"\t7'), [
    { evaluator: 'a "b"\nc', usd_cents: 7, completion_code: "", account: "" },
  ]);
  assert.throws(() => paidRows("evaluator,usd\ne001,110\n"), /must name the columns evaluator and usd_cents/);
  assert.throws(() => paidRows(""), /must name the columns/);
  assert.throws(
    () => paidRows("evaluator,usd_cents\n\ne001,1.10\n"),
    /line 3: usd_cents must be a whole number of cents, not “1.10”/,
  );
  assert.throws(() => paidRows("evaluator,usd_cents\n,110\n"), /line 2: no evaluator/);
});

test("a damaged list of who was paid is refused with its line, as by the command", () => {
  for (const { what, text, is_read } of JSON.parse(lists)) {
    if (!is_read) assert.throws(() => paidRows(text), /^Error: line [0-9]: /, what);
    else
      assert.deepEqual(
        paidRows(text).map((row) => [row.evaluator, row.usd_cents]),
        [
          ["e001", 110],
          ["e002", 114],
        ],
        what,
      );
  }
});
