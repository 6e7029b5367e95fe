// @ts-check
/** What evaluators of a study are owed, and paying it: shown first, then confirmed twice. */

import { downloadButton } from "./download.js";
import { edited } from "./edits.js";
import {
  actionButton,
  details,
  el,
  field,
  paragraph,
  quiet,
  section,
  select,
  statusLine,
  table,
} from "./elements.js";
import { centsField, elementsOf, percentField, textField, valuesOf } from "./fields.js";
import { count, counted, moment, sentence } from "./format.js";
import { amount, commandForm, isConfirmed, isConfirmedTwice, isDone, isTyped } from "./forms.js";
import { jobList } from "./jobs.js";
import { pathTo } from "./paths.js";
import { paidRows } from "./payment_list.js";
import { facts } from "../shared/elements.js";
import { money } from "../texts/texts.js";

/**
 * @typedef {import("../../types/api.js").PaymentState} Payments
 * @typedef {import("../../types/api.js").OwedLine} Account
 * @typedef {import("../../types/api.js").Explained} Explained
 * @typedef {import("./study.js").Study} Study
 * @typedef {import("./study.js").Context} Context
 */

const HEADINGS = /** @type {{[about: string]: string}} */ ({
  who: "Who",
  did: "What was done",
  owed: "Owed",
  reward: "Reward",
  bonus: "Bonus",
  "at the panel": "At the panel",
  next: "What comes next",
  "you may": "By command",
});
const LIMITS = /** @type {Record<string, string>} */ ({
  budget_usd_cents: "Budget",
  fee_percent: "Fee of the panel, in percent",
  vat_percent: "VAT on the fee, in percent",
});
const MOST_SHOWN = 200;
const MARKED_AT_ONCE = 1000;
const CHANGED =
  "Something has changed since the page showed the amounts. Nothing was paid. Look at the new ones, " +
  "then confirm those.";

/**
 * @param {HTMLElement} main
 * @param {Study} record
 * @param {Context} context
 */
export async function showPay(main, record, context) {
  const due = el("div");
  const other = el("div"); // apart, so that what is typed there outlasts a payment
  const told = statusLine({ tabindex: "-1" });
  main.append(told, due, other);

  /** @param {string} [words] */
  async function refresh(words) {
    /** @type {Payments} */
    const payments = await context.api.get(pathTo`/api/studies/${record.study}/payments`, {
      signal: context.signal,
    });
    due.replaceChildren(...dueView(record, payments, context, refresh));
    if (words === undefined) return payments;
    told.textContent = words;
    told.focus();
    return payments;
  }

  /** @param {string} [words] */
  async function refreshAll(words) {
    const payments = await refresh(words);
    other.replaceChildren(
      section(
        "Other",
        explaining(record, context),
        budget(record, payments, context, refreshAll),
        ...rareActions(record, payments, context, refreshAll),
      ),
    );
    return payments;
  }

  const { paid_by } = await refreshAll();
  if (paid_by === "prolific")
    main.append(
      jobList(record.study, context, { kinds: ["pay"], onEnd: () => void refresh().catch(() => {}) }),
    );
}

/**
 * Return what is owed, with what pays it.
 * @param {Study} record
 * @param {Payments} payments
 * @param {Context} context
 * @param {(words: string) => Promise<unknown>} refresh
 */
function dueView(record, payments, context, refresh) {
  const { currency, evaluators, paid_by, pays, problem, early_ends_exceeded, odd_dates } = payments;
  const unpaid = evaluators.filter(
    ({ reward, bonus }) => ![reward, bonus].every((state) => state === "confirmed" || state === "none"),
  );
  const rows = [
    ["To pay now", amount(payments.now_usd_cents, currency)],
    ["Fees", amount(payments.now_fees_usd_cents, currency)],
    ["Together", amount(payments.now_total_usd_cents, currency)],
    ["To", people(pays)],
    ["Paid or on its way before", amount(payments.committed_usd_cents, currency)],
    ...(payments.budget_usd_cents === null ? [] : [["Budget", amount(payments.budget_usd_cents, currency)]]),
    ...(payments.automatic ? [["Automatic payment", automaticWords(payments.automatic)]] : []),
    ["How", paid_by === "prolific" ? "by Prolific" : "by you, from a list"],
  ];
  const nothing = paragraph(
    evaluators.length
      ? "Everybody was paid in full, or their payment is under way."
      : "Nobody is owed anything yet.",
  );
  const byPanel = paid_by === "prolific";
  const paying = byPanel ? payingAtPanel : payingByHand;
  const how = pays || unpaid.length ? paying(record, payments, context, refresh) : nothing;
  const isMixed = byPanel && payments.by_hand.people > 0;
  return [
    section(
      "To pay",
      facts(rows),
      ...[problem, early_ends_exceeded, ...odd_dates.map((odd) => `a clock was or is wrong: ${odd}`)]
        .filter(Boolean)
        .map((words) => el("p", { class: "warning" }, sentence(words ?? ""))),
      how,
    ),
    ...(isMixed ? [section("To pay by hand", payingByHand(record, payments, context, refresh))] : []),
    ...(unpaid.length ? [section("Not paid in full", ...accounts(unpaid, payments))] : []),
    ...(payments.unmatched.length ? [unmatchedSection(record, payments, context, refresh)] : []),
  ];
}

/**
 * Return the button that pays through the panel.
 * @param {Study} record
 * @param {Payments} payments
 * @param {Context} context
 * @param {(words: string) => Promise<unknown>} refresh
 */
function payingAtPanel({ study }, payments, { api }, refresh) {
  const { currency, pays, confirmation } = payments;
  if (!confirmation || !pays)
    return paragraph("Nothing can be paid now: the list below says what is under way or undecided.");
  const total = amount(payments.now_total_usd_cents, currency);
  return actionButton(
    `Pay ${people(pays)}`,
    async () => {
      if (!(await isPaymentConfirmed(study, payments))) return;
      const isOrdered = await isDone(() =>
        api.post(pathTo`/api/studies/${study}/pay`, { confirmation }, { again: true }),
      );
      await refresh(isOrdered ? `Payment of ${total} for ${people(pays)} is under way: see below.` : CHANGED);
    },
    { primary: true },
  );
}

/**
 * Return the list of what is owed and no panel pays, and the form that takes it back with what was paid: who
 * is owed something since is in another list.
 * @param {Study} record
 * @param {Payments} payments
 * @param {Context} context
 * @param {(words: string) => Promise<unknown>} refresh
 */
function payingByHand({ study }, { currency, by_hand, paid_by }, context, refresh) {
  const { api } = context;
  const path = pathTo`/api/studies/${study}/payments`;
  const name = `${study}-payments.csv`;
  const [list, making] = downloadButton("Download the list", name, () => `${path}.csv`, context);
  const file = el("input", { type: "file", accept: ".csv,text/csv", required: "" });
  const form = commandForm(
    [field("The list that was paid", file, "Remove the rows of people who were not paid.").element],
    "Mark as paid",
    async () => {
      const rows = paidRows((await file.files?.[0]?.text()) ?? "");
      if (!rows.length) throw new Error("there is nobody in this list");
      const cents = rows.reduce((sum, { usd_cents }) => sum + usd_cents, 0);
      const total = amount(cents, currency);
      const whom = people(new Set(rows.map(({ evaluator }) => evaluator)).size);
      const words = `${total} to ${whom} is recorded as paid by you. No list shows it as owed again.`;
      if (!(await isConfirmed("Mark them as paid?", words, `Yes, ${total} was paid to ${whom}`))) return;
      let marked = 0;
      for (let i = 0; i < rows.length; i += MARKED_AT_ONCE) {
        const wish = { paid: rows.slice(i, i + MARKED_AT_ONCE) };
        marked += (await api.post(`${path}/mark-paid`, wish, { again: true })).marked;
      }
      const before =
        rows.length > marked ? ` ${counted(rows.length - marked, "row")} had been marked before.` : "";
      await refresh(`${total} to ${whom} is marked as paid.${before}`);
    },
    { isPrimary: false, isInline: false },
  );
  const who =
    paid_by === "prolific"
      ? `${amount(by_hand.usd_cents, currency)} is owed to ${people(by_hand.people)} without a submission ` +
        "at Prolific: they came by the study’s own link, or waited for the study."
      : "No panel pays the people of this study.";
  return el(
    "div",
    {},
    paragraph(
      `${who} Download the list, which has their completion codes, pay them, then choose the list ` +
        "again to mark them as paid.",
    ),
    list,
    making,
    form,
  );
}

/**
 * @param {Study} record
 * @param {Payments} payments
 * @param {Context} context
 * @param {(words: string) => Promise<unknown>} refresh
 */
function budget(
  { study },
  { currency, budget_usd_cents, paid_by, fee_percent, vat_percent },
  { api },
  refresh,
) {
  const shown = { budget_usd_cents, fee_percent, vat_percent };
  const limit = centsField(
    `Budget (${currency})`,
    budget_usd_cents,
    "All that the study may cost, with fees. Nothing beyond it is ever paid.",
  );
  const percents = {
    fee_percent: percentField(LIMITS.fee_percent, fee_percent),
    vat_percent: percentField(LIMITS.vat_percent, vat_percent),
  };
  const form = commandForm(
    [limit.element, ...(paid_by === "prolific" ? elementsOf(percents) : [])],
    "Set the budget",
    async () => {
      const path = pathTo`/api/studies/${study}/payments`;
      const choice = await edited(shown, valuesOf({ budget_usd_cents: limit, ...percents }), {
        label: (name) => LIMITS[name],
        inWords: (name, value) =>
          name === "budget_usd_cents" && value ? amount(value, currency) : `${value ?? "none"}`,
        current: () => api.get(path),
        send: (changes, replaced) => {
          const replaces = Object.fromEntries(Object.keys(changes).map((name) => [name, replaced[name]]));
          return api.post(`${path}/budget`, { ...changes, replaces }, { again: true });
        },
      });
      if (choice)
        await refresh(choice === "mine" ? "It is set." : "It stays as it was set by somebody else.");
    },
    { isPrimary: false },
  );
  return details(paid_by === "prolific" ? "Budget and fee" : "Budget", form);
}

/**
 * Return the form that says in words why somebody is owed what they are.
 * @param {Study} record
 * @param {Context} context
 */
function explaining({ study }, { api, signal }) {
  const asked = {
    who: textField(
      "Evaluator or session",
      { required: "" },
      "Or the completion code, or the id at the panel.",
    ),
  };
  const said = el("div", { "aria-live": "polite" });
  const form = commandForm(
    elementsOf(asked),
    "Explain",
    async () => {
      said.replaceChildren();
      const { who } = valuesOf(asked);
      /** @type {Explained} */
      const { accounts } = await api.get(pathTo`/api/studies/${study}/payments/${who}`, { signal });
      said.replaceChildren(
        ...accounts.map((each) =>
          facts(each.said.map(({ about, words }) => [HEADINGS[about] ?? about, words])),
        ),
      );
    },
    { isPrimary: false },
  );
  return details("Why is somebody owed this?", form, said);
}

/** @param {number} number */
function people(number) {
  return counted(number, "person", "people");
}

/**
 * @param {Account[]} rows
 * @param {Payments} payments
 */
function accounts(rows, { currency, states }) {
  const cells = rows.slice(0, MOST_SHOWN).map((row) => [
    row.evaluator,
    row.reason,
    money(row.base_usd_cents, currency),
    states[row.reward === "none" && row.base_usd_cents ? row.bonus : row.reward], // paid with the bonus
    money(row.bonus_usd_cents, currency),
    states[row.bonus],
  ]);
  return [
    table(
      "What evaluators are owed",
      ["Evaluator", "Why", "Base", "State", "Bonus", "State of the bonus"],
      cells,
    ),
    ...cutAt(rows.length),
  ];
}

/**
 * Return in words that a table shows only the first rows, if it does.
 * @param {number} number of all
 */
function cutAt(number) {
  return number > MOST_SHOWN ? [quiet(`${count(MOST_SHOWN)} of ${count(number)} are shown.`)] : [];
}

/**
 * Ask twice whether what a plan names is to be paid.
 * @param {string} study
 * @param {Payments} payments
 */
function isPaymentConfirmed(
  study,
  { now_usd_cents, now_fees_usd_cents, now_total_usd_cents, pays, asks_return, currency },
) {
  const total = amount(now_total_usd_cents, currency);
  const asked = asks_return ? [["Asked to return their submission", people(asks_return)]] : [];
  const rows = [
    ["Pay", amount(now_usd_cents, currency)],
    ["Fees", amount(now_fees_usd_cents, currency)],
    ["Together", total],
    ["To", people(pays)],
    ...asked,
  ];
  const first = { title: `Pay the evaluators of ${study}?`, content: [facts(rows)], label: "Continue" };
  const asks =
    `${people(asks_return)} ${asks_return === 1 ? "is" : "are"} asked to return ` +
    `${asks_return === 1 ? "the" : "their"} submission.`;
  const returns = asks_return ? ` ${asks}` : "";
  if (!pays)
    return isConfirmed("Ask for submissions back?", `${asks} Nobody is paid.`, `Ask ${people(asks_return)}`);
  const second = {
    title: "Pay now?",
    words: `${total} is paid for ${people(pays)}. Payments cannot be taken back.${returns}`,
    label: `Pay ${total} for ${people(pays)}`,
  };
  return isConfirmedTwice(first, second);
}

/**
 * Return the submissions at the panel that no session belongs to, with what is to be done about each.
 * @param {Study} record
 * @param {Payments} payments
 * @param {Context} context
 * @param {(words: string) => Promise<unknown>} refresh
 */
function unmatchedSection({ study }, { unmatched, states }, { api, signal }, refresh) {
  const shown = unmatched.slice(0, MOST_SHOWN);
  const choices = shown.map(({ evaluator, asked_to_return_at }) => {
    const options = [
      ["", "leave it"],
      ["approve", "pay the reward"],
      ...(asked_to_return_at ? [] : [["ask_return", "ask to return the submission"]]),
    ];
    return select(options, { "aria-label": `What to do about ${evaluator}` });
  });
  const rows = shown.map(({ evaluator, why, reward, completed_at, asked_to_return_at }, i) => [
    evaluator,
    why.replaceAll("_", " "),
    asked_to_return_at ? `asked to return on ${moment(asked_to_return_at)}` : states[reward],
    completed_at ? moment(completed_at) : "–",
    reward === "undecided" ? choices[i] : "",
  ]);
  const decide = actionButton("Show what this costs", async () => {
    const chosen = (/** @type {string} */ what) =>
      shown
        .map(({ evaluator }) => evaluator)
        .filter((_, i) => choices[i].isConnected && choices[i].value === what);
    const wish = { approve: chosen("approve"), ask_return: chosen("ask_return") };
    if (!wish.approve.length && !wish.ask_return.length)
      throw new Error("choose what is to be done about at least one of them");
    const query = new URLSearchParams(
      Object.entries(wish).flatMap(([name, evaluators]) => evaluators.map((evaluator) => [name, evaluator])),
    );
    /** @type {Payments} */
    const plan = await api.get(`${pathTo`/api/studies/${study}/payments`}?${query}`, { signal });
    if (!plan.confirmation) throw new Error(plan.problem ?? "nothing can be paid now");
    if (!(await isPaymentConfirmed(study, plan))) return;
    const order = { ...wish, confirmation: plan.confirmation };
    const isOrdered = await isDone(() => api.post(pathTo`/api/studies/${study}/pay`, order, { again: true }));
    await refresh(isOrdered ? "It is under way: see below." : CHANGED);
  });
  const words =
    "They have a submission at the panel, but no finished session here. Nothing is done about " +
    "them until you say so; what everybody else is owed is paid with them.";
  return section(
    "Without a session here",
    quiet(words),
    table(
      "Submissions at the panel without a session",
      ["Submission", "Why", "State", "Handed in", "What to do"],
      rows,
    ),
    ...cutAt(unmatched.length),
    decide,
  );
}

/**
 * Return what is seldom needed, each folded.
 * @param {Study} record
 * @param {Payments} payments
 * @param {Context} context
 * @param {(words: string) => Promise<unknown>} refresh
 */
function rareActions({ study, currency }, { paid_by, paid_from, automatic }, { api }, refresh) {
  const path = pathTo`/api/studies/${study}/payments`;
  const who = () => ({
    evaluator: textField("Evaluator or session", { required: "" }),
    reason: textField("Reason", { required: "", maxlength: "100" }, "Stored in the ledger."),
  });
  const asked = who();
  const part = commandForm(
    elementsOf(asked),
    "Owe a part of the pay",
    async () => {
      const owed = await api.post(`${path}/broke-off`, valuesOf(asked), { again: true });
      await refresh(
        `${owed.evaluator} is owed ${amount(owed.base_usd_cents + owed.bonus_usd_cents, currency)}.`,
      );
    },
    { isPrimary: false },
  );
  const closed = who();
  const closing = commandForm(
    elementsOf(closed),
    "Close without paying",
    async () => {
      const body = valuesOf(closed);
      const words = `What is open for ${body.evaluator} is then not paid. This cannot be undone.`;
      if (!(await isConfirmed(`Pay ${body.evaluator} nothing more?`, words, "Close without paying"))) return;
      const { evaluator } = await api.post(`${path}/close`, body, { again: true });
      await refresh(`Nothing is open for ${evaluator} any more.`);
    },
    { isPrimary: false },
  );
  const folded = [
    details(
      "A session that broke off",
      quiet("If it broke off through no fault of its evaluator, a part is owed for what was answered."),
      part,
    ),
    details(
      "A debt that is not to be paid",
      quiet(
        "Of somebody whose submission was rejected or returned, or whom the panel no longer knows. The " +
          "ledger keeps the reason, and the study can be deleted.",
      ),
      closing,
    ),
  ];
  if (paid_by === "prolific") {
    const button = automatic
      ? actionButton("No longer pay automatically", async () => {
          await api.post(`${path}/automatic`, { automatic: false }, { again: true });
          await refresh("Nothing is paid automatically from now on.");
        })
      : actionButton("Pay automatically", async () => {
          const words =
            "From now on the function on AWS pays each hour, within the budget and without asking, " +
            `whatever evaluators of ${study} are owed.`;
          if (!(await isConfirmed("Pay automatically?", words, "Pay each hour"))) return;
          await api.post(`${path}/automatic`, { automatic: true }, { again: true });
          await refresh("The function on AWS pays each hour from now on.");
        });
    folded.push(
      details(
        "Automatic payment",
        quiet("For studies on AWS whose functions have Prolific’s token. It needs a budget."),
        button,
      ),
    );
  }
  if (paid_from) {
    const button = actionButton(
      "Pay from here",
      async () => {
        const words = paragraph(
          "If the other store pays as well, people are paid twice, and that cannot be taken back. Do " +
            "this only if that store is lost for good.",
        );
        if (!(await isTyped(`Pay ${study} from this store?`, [words], paid_from, "Pay from here"))) return;
        await api.post(`${path}/take-over`, { confirm: paid_from }, { again: true });
        await refresh("This store pays from now on.");
      },
      { className: "danger" },
    );
    folded.push(
      details("The store that pays is lost", quiet(`The ledger here is a copy: ${paid_from} pays.`), button),
    );
  }
  return folded;
}

/** @param {NonNullable<Payments["automatic"]>} approval */
function automaticWords({ approved_at, last_at, obstacles }) {
  const last = last_at ? `last run ${moment(last_at)}` : "no run yet";
  return [`approved ${moment(approved_at)}`, last, ...obstacles].join("; ");
}
