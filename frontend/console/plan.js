// @ts-check
/** The plan beside the settings, as the server computes it: evaluators, pay, time, intervals, and power. */

import { alertLine, el, select, sentences } from "./elements.js";
import { count, counted, sentence } from "./format.js";
import { money } from "../texts/texts.js";

/** Whose evaluators a plan takes as an example without a pilot. */
const WITHOUT_PILOT = { papers: "the papers’", simulated: "simulated ones", "": "(choose a study)" };
const UNITS = { percent: "percentage points", ms: "ms", "log-odds": "log-odds" };
const DIGITS = { percent: 1, ms: 0, "log-odds": 2 };
const SOURCES = {
  papers: "the papers’ evaluators",
  pilot: "the pilot’s evaluators",
  simulated: "simulated evaluators",
};

/** @typedef {import("../../types/api.js").PlanMade} PlanMade */
/** @typedef {import("./methods.js").Method} Method */

/**
 * Return what to ask the server for.
 * @param {Pick<Method, "method" | "difference">} method
 * @param {number} models
 * @param {Record<string, unknown>} settings
 * @param {{difference: string, power: string, pilot?: string}} aim as typed; `pilot`: the study that tells
 *   how evaluators differ
 * @param {import("./draft.js").StudyDraft | null} order with all its pictures, or null
 */
export function planWish(method, models, settings, { difference, power, pilot }, order = null) {
  const wanted = Number(difference);
  return {
    method: method.method,
    models,
    settings,
    ...(method.difference && wanted > 0 ? { difference: wanted, power: Number(power) / 100 } : {}),
    ...(pilot ? { pilot } : {}),
    ...(order ? { order } : {}),
  };
}

/**
 * Return what a study takes and tells, as names and texts.
 * @param {PlanMade} plan
 * @returns {[string, string][]}
 */
export function factsOf({ models, study, precision, why_none: why }) {
  const facts = study.sessions ? takes(study, models) : takesEach(study);
  if (!precision) return why ? [...facts, ["Interval and power", sentence(`not known: ${why}`)]] : facts;
  const widths = precision.rows.flatMap(({ width }) => (width === null ? [] : [width]));
  const powers = precision.rows.flatMap(({ power }) => (power === null ? [] : [power]));
  const unit = UNITS[precision.unit];
  const reasons = new Set(precision.rows.flatMap(({ why_none: reason }) => reason || []));
  if (!widths.length && reasons.size) facts.push(["Interval of a score", sentence([...reasons].join("; "))]);
  if (widths.length)
    facts.push([
      "Interval of a score",
      `at most ${span(widths, (width) => width.toFixed(DIGITS[precision.unit]))} ${unit} wide ` +
        `in ${percent(precision.assurance)} of studies, by the spread of ${SOURCES[precision.source]}`,
    ]);
  if (powers.length)
    facts.push([
      "Power",
      `${span(powers, percent)} to find a difference of ${precision.difference} ${unit} between two models`,
    ]);
  return facts;
}

/**
 * @param {PlanMade["study"]} study
 * @param {number} models
 * @returns {[string, string][]}
 */
function takes(
  {
    sessions,
    evaluators_a_model,
    looks,
    trials_a_session,
    hours,
    total_usd_cents,
    fees_usd_cents,
    session_usd_cents,
    currency,
  },
  models,
) {
  const fees = fees_usd_cents ? `, of which ${money(fees_usd_cents, currency)} are the panel’s fee` : "";
  return [
    [
      "Evaluators",
      models > 1 && sessions !== evaluators_a_model
        ? `${count(sessions)} in all, ${count(evaluators_a_model)} for each of ${models} models`
        : count(sessions),
    ],
    ...firstLook(
      looks,
      Math.ceil((sessions * (looks[0] ?? 0)) / evaluators_a_model),
      session_usd_cents,
      currency,
    ),
    ["Answers", count(sessions * trials_a_session)],
    [
      "Cost",
      total_usd_cents
        ? `at most ${money(total_usd_cents, currency)}${fees}; ${money(session_usd_cents, currency)} for ` +
          "each evaluator"
        : "nobody is paid",
    ],
    ["Working time", `${inHours(hours)} of all evaluators together`],
  ];
}

/**
 * @param {number[]} looks planned ones
 * @param {number} sessions until the first
 * @param {number} session_usd_cents
 * @param {string} currency
 * @returns {[string, string][]}
 */
function firstLook(looks, sessions, session_usd_cents, currency) {
  const cost = session_usd_cents ? `, for at most ${money(sessions * session_usd_cents, currency)}` : "";
  return looks.length
    ? [
        [
          "Planned looks",
          `at ${looks.join(", ")} evaluators of each model; to stop at the first takes ` +
            `${count(sessions)}${cost}`,
        ],
      ]
    : [];
}

/**
 * @param {PlanMade["study"]} study one that as many people take part in as come
 * @returns {[string, string][]}
 */
function takesEach({ trials_a_session, session_usd_cents, currency }) {
  return [
    ["Evaluators", "as many as come"],
    ["Answers", `${count(trials_a_session)} of each`],
    [
      "Cost",
      session_usd_cents
        ? `at most ${money(session_usd_cents, currency)} for each evaluator`
        : "nobody is paid",
    ],
  ];
}

/**
 * Return how many evaluators of each model the aim needs, by the model whose evaluators differ the least and
 * the most of those that can reach it; null if none can, or the server cannot tell.
 * @param {PlanMade} plan
 * @returns {{least: number, most: number} | null}
 */
export function needed({ aim }) {
  const evaluators = rowsOf(aim).flatMap((row) => (row.evaluators === null ? [] : [row.evaluators]));
  return evaluators.length ? { least: Math.min(...evaluators), most: Math.max(...evaluators) } : null;
}

/**
 * Return why some models cannot reach the aim, a sentence for each.
 * @param {PlanMade} plan
 */
export function unreached({ aim }) {
  return rowsOf(aim).flatMap(({ model, why_none: why }) => (why ? [sentence(`${model}: ${why}`)] : []));
}

/**
 * @param {PlanMade["aim"]} aim
 * @returns {{model: string, evaluators: number | null, why_none: string | null}[]}
 */
function rowsOf(aim) {
  return aim?.rows ?? [];
}

/**
 * Return the plan's panel.
 * @param {Method} method
 * @param {() => void} onAim called when another aim is typed
 * @param {(evaluators: number) => void} onChosen called with a number of evaluators to set
 * @param {string[]} [pilots] studies that can tell how evaluators differ
 */
export function planPanel(method, onAim, onChosen, pilots = []) {
  const { difference: usual, without_pilot: source } = method;
  const facts = el("dl", { class: "plan-facts" });
  const warnings = el("ul", { class: "warning", hidden: "" });
  const problem = alertLine();
  const difference = el("input", {
    id: "aim-difference",
    type: "text",
    inputmode: "decimal",
    value: `${usual ?? ""}`,
  });
  const powers = ["80", "90", "95"].map((share) => [share, `${share}%`]);
  const power = select(powers, { id: "aim-power" });
  const isByPilot = !source;
  const spreads = [["", WITHOUT_PILOT[source]], ...pilots.map((name) => [name, name])];
  const pilot = select(spreads, { id: "aim-pilot" });
  const differAs = isByPilot ? "Evaluators differ as those of" : "Evaluators differ as";
  const bySpread = pilots.length ? [el("label", { for: "aim-pilot" }, differAs), pilot] : [];
  const answer = el("p", { role: "status" });
  const choose = el("button", { type: "button", class: "plain", hidden: "" });
  const assumptions = el("ul");
  const more = el("details", { hidden: "" }, el("summary", {}, "What this assumes"), assumptions);
  const wanted = [
    el("label", { for: "aim-difference" }, `of so many ${UNITS[method.unit]}`),
    difference,
    el("label", { for: "aim-power" }, "with power"),
    power,
  ];
  const canBeAsked = usual && (!isByPilot || pilots.length > 0);
  const aims = canBeAsked
    ? [
        el("h3", {}, "To find a difference between two models"),
        el("div", { class: "aims" }, ...wanted, ...bySpread),
        answer,
        choose,
        more,
      ]
    : pilots.length && !usual
      ? [el("div", { class: "aims" }, ...bySpread)]
      : [];
  for (const input of [difference, power, pilot]) input.addEventListener("input", onAim);
  choose.addEventListener("click", () => onChosen(Number(choose.dataset.evaluators)));

  return {
    element: el(
      "aside",
      { class: "plan", "aria-labelledby": "plan-title" },
      el("h2", { id: "plan-title" }, "Plan"),
      problem,
      facts,
      warnings,
      ...aims,
    ),
    aim: () => ({ difference: difference.value, power: power.value, pilot: pilot.value }),
    /** @param {PlanMade} plan */
    show(plan) {
      problem.textContent = "";
      facts.replaceChildren(
        ...factsOf(plan).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]),
      );
      warnings.replaceChildren(...plan.warnings.map((words) => el("li", {}, sentence(words))));
      warnings.hidden = !plan.warnings.length;
      const evaluators = usual ? needed(plan) : null;
      const judgeAll = plan.models > 1 && plan.study.sessions === plan.study.evaluators_a_model;
      const ofWhom = judgeAll ? "who judge all models" : "for each model";
      answer.textContent = [
        ...(evaluators ? [`${span(Object.values(evaluators), count)} evaluators ${ofWhom} are needed.`] : []),
        ...unreached(plan),
      ].join(" ");
      choose.hidden = !evaluators || evaluators.most === plan.study.evaluators_a_model;
      choose.dataset.evaluators = `${evaluators?.most ?? ""}`;
      choose.textContent = `Set ${counted(evaluators?.most ?? 0, "evaluator")}`;
      more.querySelector("ul")?.replaceWith(sentences("", plan.aim?.assumptions ?? []));
      more.hidden = !plan.aim;
    },
    /** @param {string} words */
    fail(words) {
      problem.textContent = words;
    },
  };
}

/** @param {number} share */
function percent(share) {
  return share > 0.99 ? "over 99%" : `${Math.round(100 * share)}%`;
}

/** @param {number} hours */
function inHours(hours) {
  return hours < 1
    ? counted(Math.ceil(60 * hours), "minute")
    : counted(hours < 10 ? Math.round(10 * hours) / 10 : Math.round(hours), "hour");
}

/**
 * Return the least and the most of numbers as texts, or the one text that both have.
 * @param {number[]} numbers
 * @param {(number: number) => string} asText
 */
function span(numbers, asText) {
  const ends = new Set([Math.min(...numbers), Math.max(...numbers)].map(asText));
  return [...ends].join(" to ");
}
