// @ts-check
/** Recruiting evaluators at a panel: what it costs, confirmed twice, and how it stands. */

import {
  actionButton,
  details,
  el,
  link,
  paragraph,
  quiet,
  section,
  sentences,
  sideBySide,
  statusLine,
} from "./elements.js";
import {
  centsField,
  choiceField,
  elementsOf,
  numberField,
  percentField,
  textField,
  tickField,
  valuesOf,
} from "./fields.js";
import { count, counted } from "./format.js";
import { amount, commandForm, isConfirmed, isConfirmedTwice, isDone } from "./forms.js";
import { pathTo } from "./paths.js";
import { labelOf } from "./setting_names.js";
import { facts } from "../shared/elements.js";

/**
 * @typedef {import("../../types/api.js").RecruitmentState} State
 * @typedef {import("../../types/api.js").RecruitPlan} Plan
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 */

const STATES = /** @type {{[state: string]: string}} */ ({
  decided: "decided, not yet published",
  published: "open at the panel",
  paused: "paused at the panel",
  full: "full: every slot is taken",
  stopped: "stopped for good",
});

const NO_TOKEN =
  "This server has no token for Prolific. Whoever runs it can give it one; then recruit from here.";
const BY_LINK = "The people of this study come by its link, which you send them yourself: see Overview.";

/**
 * Return how a study gets another panel.
 * @param {Study} record
 */
function panelLater({ study, begun }) {
  const setting = `“${labelOf("panel")}”`;
  if (begun)
    return [
      "Somebody has begun, so that this stays. To recruit at Prolific, duplicate the study on its " +
        `Overview, and choose Prolific at ${setting}.`,
    ];
  return [
    "Until somebody begins, that can be changed: to recruit at Prolific from here, choose it at ",
    link(pathTo`/console/studies/${study}/settings`, setting),
    " under Settings.",
  ];
}

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export async function showRecruit(main, record, context) {
  const { study, panel } = record;
  if (!panel.recruits || !panel.has_token) {
    const words = panel.recruits ? [NO_TOKEN] : [BY_LINK, " ", ...panelLater(record)];
    main.append(section(`Recruit at ${panel.recruits ? "Prolific" : "a panel"}`, paragraph(...words)));
    return;
  }
  const place = el("div");
  const told = statusLine({ tabindex: "-1" });
  main.append(place, told);

  /** @param {string} [words] */
  async function refresh(words = "") {
    /** @type {State} */
    const state = await context.api.get(pathTo`/api/studies/${study}/recruitment`, {
      signal: context.signal,
    });
    const { recruited } = state;
    const isPublished = recruited !== null && recruited.state !== "decided";
    const asked = wishes(record, state, context, refresh);
    place.replaceChildren(
      ...(recruited ? [standing(record, state, context, refresh)] : []),
      ...(recruited?.state === "stopped" ? [] : [asked.element]),
      ...(isPublished ? [] : [rehearsal(record, recruited, asked.wish, context, refresh)]),
      ...(recruited ? [webhooks(record, context, refresh)] : []),
    );
    told.textContent = words;
    if (words) told.focus();
  }

  await refresh();
}

/**
 * Return how a recruitment stands, with what changes it.
 * @param {Study} record
 * @param {State} state
 * @param {Context} context
 * @param {(words: string) => Promise<void>} refresh
 */
function standing({ study }, { recruited, at_panel, problem, warnings }, { api }, refresh) {
  const known = /** @type {NonNullable<State["recruited"]>} */ (recruited);
  const path = pathTo`/api/studies/${study}/recruitment`;
  const change =
    (/** @type {"pause" | "resume" | "stop"} */ action, /** @type {string} */ words) => async () => {
      await api.post(path, { action }, { again: true });
      await refresh(words);
    };
  const stop = async () => {
    const words = "Nobody new can join, for good. Those who have begun can finish, and are paid.";
    if (await isConfirmed(`Stop recruiting for ${study}?`, words, "Stop for good"))
      await change("stop", "Recruiting was stopped.")();
  };
  const giveUp = async () => {
    const words = "It is deleted at Prolific, with its rehearsal. You can begin another one afterwards.";
    if (await isConfirmed(`Give the draft for ${study} up?`, words, "Give it up"))
      await change("stop", "The draft was given up.")();
  };
  const buttons = {
    decided: [actionButton("Give the draft up", giveUp)],
    published: [
      actionButton("Pause recruiting", change("pause", "Recruiting is paused.")),
      actionButton("Stop for good", stop),
    ],
    paused: [
      actionButton("Resume recruiting", change("resume", "Recruiting goes on.")),
      actionButton("Stop for good", stop),
    ],
    full: [actionButton("Stop for good", stop)],
    stopped: [],
  }[known.state];
  const counts = (/** @type {{[what: string]: number} | undefined} */ of) =>
    Object.entries(of ?? {})
      .map(([what, number]) => `${count(number)} ${what.replaceAll("_", " ")}`)
      .join(", ") || "none";
  const rows = [
    ["State", STATES[known.state] ?? known.state],
    ["Participant slots", count(known.places)],
    ["Task page", known.url],
  ];
  if (at_panel) {
    const { currency } = at_panel;
    rows.push(["Taken", counts(at_panel.submissions)], ["Sessions here", counts(at_panel.sessions)]);
    rows.push(
      ["Cost so far", amount(at_panel.cost_usd_cents, currency)],
      ["Budget", at_panel.budget_usd_cents === null ? "–" : amount(at_panel.budget_usd_cents, currency)],
    );
  }
  const notes = [...warnings, ...(problem ? [problem] : [])];
  return section(
    "Recruiting at Prolific",
    facts(rows),
    ...(notes.length ? [sentences("warning", notes)] : []),
    sideBySide(...buttons),
  );
}

/**
 * Return the form of what is wished for, and the wish as it is typed; the form's button shows what that
 * costs, and asks twice.
 * @param {Study} record
 * @param {State} state
 * @param {Context} context
 * @param {(words: string) => Promise<void>} refresh
 */
function wishes({ study, links, currency, sessions_wanted }, { recruited, plan }, { api, signal }, refresh) {
  const path = pathTo`/api/studies/${study}`;
  const isDraft = recruited?.state === "decided";
  const hints = recruited
    ? { places: isDraft ? "One a person." : "The number can only grow.", budget: "What it may cost in all." }
    : { places: "One a person.", budget: "Empty: what the plan costs at most." };
  const hasSlots = recruited && plan?.slots;
  const asked = {
    places: numberField(
      "Participants",
      { min: "1", value: `${plan?.places ?? recruited?.places ?? sessions_wanted}`, required: "" },
      hints.places,
    ),
    budget_usd_cents: centsField(`Budget (${currency})`, recruited?.budget_usd_cents, hints.budget),
  };
  const percents = {
    fee_percent: percentField("Fee of the panel, in percent", plan?.fee_percent),
    vat_percent: percentField("VAT on the fee, in percent", plan?.vat_percent),
  };
  const isPublished = recruited !== null && !isDraft;
  const slots = isPublished
    ? numberField(
        "People whom the panel pays for being screened out",
        { min: "1", value: hasSlots ? `${plan.slots}` : "" },
        "The number can only grow.",
      )
    : numberField("For how many people", { min: "1", value: hasSlots ? `${plan.slots}` : "" });
  const base = (recruited?.url ?? links.evaluators).slice(0, -`/s/${study}`.length);
  const untilPublished = {
    url: textField("Address of this server, as evaluators reach it", { type: "url", value: base }),
    screen_out_usd_cents: centsField(
      `Paid for being screened out (${currency})`,
      plan?.screen_out_usd_cents,
      "By the panel itself. Empty: they are paid like everybody else.",
    ),
    slots,
    completion: choiceField("Who reports that somebody is done", [
      ["server", "this server"],
      ["code", "the person, by a code"],
    ]),
    is_signed: tickField("The panel signs links"),
  };
  if (plan && !plan.by_server) untilPublished.completion.input.value = "code";
  untilPublished.is_signed.input.checked = plan?.is_signed ?? false;
  const signed = () => ({ is_signed: untilPublished.is_signed.input.checked });
  const once = {
    workspace: textField("Workspace", {}, "Its id, if you have several."),
    project: textField("Project", {}, "Its id, if there are several."),
  };
  const terms = isPublished
    ? []
    : [...elementsOf(percents), ...elementsOf(untilPublished), ...(recruited ? [] : elementsOf(once))];
  const wish = () =>
    isPublished
      ? valuesOf({ ...asked, slots })
      : { ...valuesOf({ ...asked, ...percents, ...untilPublished, ...once }), ...signed() };

  /** Ask for what is wished for as often as something has changed by the time it is confirmed. */
  async function order() {
    const wanted = wish();
    const query = new URLSearchParams(Object.entries(wanted).map(([name, value]) => [name, `${value}`]));
    for (let isChanged = false; ; isChanged = true) {
      /** @type {State} */
      const now = await api.get(`${path}/recruitment?${query}`, { signal });
      if (!now.plan || !now.confirmation) throw new Error(now.obstacle ?? "there is nothing to recruit");
      if (isAsItIs(now))
        throw new Error("that is as it stands already: ask for more slots, or for another budget");
      if (!(await isCostConfirmed(study, now.recruited, now.plan, isChanged))) return;
      const wish = { ...wanted, confirmation: now.confirmation };
      if (await isDone(() => api.post(`${path}/recruit`, wish, { again: true })))
        return refresh(`Published: ${counted(now.plan.places, "participant slot")}.`);
    }
  }

  /** @param {State} now */
  function isAsItIs({ recruited: known, plan: made }) {
    if (!known || known.state === "decided") return false;
    return (
      made?.places === known.places &&
      made.budget_usd_cents === known.budget_usd_cents &&
      (made.slots === null || made.slots === plan?.slots)
    );
  }

  const fields = [
    ...elementsOf(asked),
    ...(isPublished && hasSlots ? [slots.element] : []),
    ...(terms.length ? [details("Fee, address and more", ...terms)] : []),
  ];
  const heading = isDraft ? "Publish it" : recruited ? "More people, another budget" : "Recruit at Prolific";
  return { wish, element: section(heading, commandForm(fields, "Show the cost", order)) };
}

/**
 * Ask twice whether a plan is to be paid for.
 * @param {string} study
 * @param {State["recruited"]} recruited
 * @param {Plan} plan
 * @param {boolean} isChanged whether something has changed since it was confirmed
 */
function isCostConfirmed(study, recruited, plan, isChanged) {
  const { places, currency } = plan;
  const total = amount(plan.total_usd_cents, currency);
  const before = recruited && recruited.state !== "decided" ? recruited.places : 0;
  const added = places - before;
  const people = counted(added, before ? "more person" : "person", before ? "more people" : "people");
  const screenedOut =
    `${counted(plan.slots ?? 0, "person", "people")} at most, ` +
    amount(plan.screen_out_usd_cents ?? 0, currency);
  const rows = [
    ["People", before ? `${count(places)} in all, ${count(added)} more than now` : count(places)],
    ["Each is paid", amount(plan.reward_usd_cents, currency)],
    ["Bonus of each, at most", amount(plan.largest_bonus_usd_cents, currency)],
    [
      "Wage",
      `${amount(plan.wage_usd_cents_an_hour, currency)} an hour for ${Math.round(plan.minutes)} minutes`,
    ],
    ...(plan.screen_out_usd_cents === null ? [] : [["Screened out by the panel", `${screenedOut} each`]]),
    ["Task page", plan.url],
    ["Fee and VAT", `${plan.fee_percent}% and ${plan.vat_percent}% of it`],
    ["All together, at most", total],
    ...(plan.budget_usd_cents === null ? [] : [["Budget", amount(plan.budget_usd_cents, currency)]]),
    ...(plan.wallet ? [["Paid from", walletWords(plan.wallet)]] : []),
  ];
  const warning = "Something has changed since you confirmed, and nothing was done. This is the cost now.";
  const changed = isChanged ? [el("p", { class: "warning" }, warning)] : [];
  const lines = details("The plan in words", sentences("notes", plan.lines));
  const first = {
    title: `Recruit for ${study}: the cost`,
    content: [...changed, facts(rows), lines],
    label: "Continue",
  };
  if (!added)
    return isConfirmedTwice(first, {
      title: "Change it?",
      words: `No slot is added. All ${count(places)} together cost ${total} at most.`,
      label: "Change it",
    });
  const all = before ? ` for all ${count(places)} together` : "";
  return isConfirmedTwice(first, {
    title: "Recruit now?",
    words:
      `Prolific offers ${study} to ${people} at once. It costs ${total} at most${all}, and what people ` +
      "have earned cannot be taken back.",
    label: `Recruit ${people} for at most ${total}${before ? " in all" : ""}`,
  });
}

/** @param {NonNullable<Plan["wallet"]>} wallet */
function walletWords({ workspace_title, available_usd_cents, currency }) {
  return `${workspace_title}, which has ${amount(available_usd_cents, currency)}`;
}

/**
 * @param {Study} record
 * @param {Context} context
 * @param {(words: string) => Promise<void>} refresh
 */
function webhooks({ study, links }, { api }, refresh) {
  const base = links.evaluators.slice(0, -`/s/${study}`.length);
  const value = base.startsWith("https:") ? base : "";
  const url = textField("Address of this server, with https", { type: "url", required: "", value });
  const path = pathTo`/api/studies/${study}/recruitment/webhooks`;
  const form = commandForm(
    [url.element],
    "Have Prolific tell it",
    async () => {
      const told = await api.post(path, { url: url.value() }, { again: true });
      await refresh(
        `Prolific tells ${told.url} of each submission that changes, once the server has been started again.`,
      );
    },
    { isPrimary: false },
  );
  return details(
    "Updates from Prolific at once",
    quiet(
      "The server asks Prolific for the submissions now and then. Prolific can report changes at once, " +
        "if it reaches the server by https.",
    ),
    form,
  );
}

/**
 * @param {Study} record
 * @param {State["recruited"]} recruited
 * @param {() => object} wish what is typed above
 * @param {Context} context
 * @param {(words: string) => Promise<void>} refresh
 */
function rehearsal({ study }, recruited, wish, { api }, refresh) {
  const label = "E-mail address of a test participant to make";
  const email = textField(label, { type: "email" }, "Empty if you have one at Prolific.");
  const form = commandForm(
    [email.element],
    "Rehearse",
    async () => {
      const wanted = { ...wish(), ...valuesOf({ email }) };
      const done = await api.post(pathTo`/api/studies/${study}/recruitment/rehearsal`, wanted);
      await refresh(
        `Log in at Prolific as the test participant, then open ${done.recruited?.rehearsal_url}. What ` +
          "is answered there counts as simulated.",
      );
    },
    { isPrimary: false },
  );
  const address = recruited?.rehearsal_url
    ? [el("p", { class: "address" }, el("code", { translate: "no" }, recruited.rehearsal_url))]
    : [];
  const decides = recruited
    ? ""
    : " What is asked for above is decided by it; all but the wallet can still be changed.";
  return section(
    recruited ? "Rehearse" : "Rehearse first",
    quiet(
      "A copy is published for test participants alone. Their sessions count as simulated: they are " +
        `neither scored nor paid.${decides}`,
    ),
    ...address,
    form,
  );
}
