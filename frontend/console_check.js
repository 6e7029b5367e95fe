// @ts-check
/**
 * The third step to a new study: what the server found in the pictures. By whatever differs between the sides
 * besides the pictures themselves, evaluators could tell them apart.
 */

import { Unreached } from "./console_api.js";
import { openDraft, steps } from "./console_draft.js";
import {
  actionButton,
  actionRow,
  alertLine,
  el,
  explained,
  isAbort,
  link,
  paragraph,
  progress,
  quiet,
  section,
  sentences,
  showJob,
  table,
} from "./console_elements.js";
import { count, counted, sentence } from "./console_format.js";
import { methodOf } from "./console_methods.js";
import { checkedOf, orderOf, picturesOf } from "./console_order.js";
import { pathTo } from "./console_paths.js";

/**
 * @typedef {object} Audit
 * @property {{side: string, files: number, pictures: number, classes: {class: string, pictures: number}[],
 *   formats?: Record<string, number>, short_side_px?: {smallest: number, median: number, largest: number} |
 *   null}[]} sides
 * @property {{what: string, reals: string, models: string, remedy: string | null, sentence: string}[]}
 *   differences
 * @property {{side: string, file: string, reason: string, thumbnail: string | null}[]} refused the first ones
 * @property {number} refused_count
 * @property {number} stopping_count how many of them have to be corrected or left out
 * @property {string[]} problems why no study can be made of the pictures as they are
 * @property {string[]} notes
 * @property {{equalise: string[]}} suggested
 */

/** @type {Map<string, {of: string, audit: Audit}>} the last audit of each draft, and of what it was */
const found = new Map();
/** @type {Map<string, {of: string, job: string}>} the audit of each draft that was last asked for */
const asked = new Map();

export function title() {
  return "Check of the pictures";
}

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters
 * @param {import("./console.js").Context} context
 */
export async function show(main, parameters, { api, go, signal }) {
  const draft = await openDraft(api, parameters.draft);
  const { settings } = await api.get(pathTo`/api/settings/${methodOf(draft.body).method}`, { signal });
  const place = el("div", { class: "audit" });
  main.append(steps(2, draft), place);

  /** @param {boolean} isForced whether to check again what has not changed */
  async function check(isForced) {
    const wanted = checkedOf(orderOf(draft.body, settings));
    const of = JSON.stringify(wanted);
    const known = found.get(draft.id);
    if (!isForced && known?.of === of) return fill(known.audit);
    const bar = progress("Check of the pictures");
    const failure = alertLine();
    let isOver = true;
    const words =
      "The server reads every picture and compares the sides. For thousands of pictures that takes a " +
      "few minutes.";
    place.replaceChildren(el("p", { role: "status" }, words), bar.element, failure);
    try {
      await draft.flush();
      if (isForced || asked.get(draft.id)?.of !== of) {
        const { job } = await api.post("/api/audits", wanted, { again: true, signal });
        asked.set(draft.id, { of, job });
      }
      const done = await api.job(asked.get(draft.id)?.job ?? "", (now) => showJob(bar, now), signal);
      if (done.state === "done") {
        found.set(draft.id, { of, audit: done.result });
        const pictures = Math.min(
          ...done.result.sides.map((/** @type {Audit["sides"][0]} */ each) => each.pictures),
        );
        draft.change({ checked: { of: picturesOf(wanted), pictures } });
        return fill(done.result);
      }
      failure.textContent =
        done.state === "cancelled" ? "The check was cancelled." : sentence(done.reason ?? "the check failed");
    } catch (error) {
      if (isAbort(error)) throw error;
      failure.textContent = explained(error);
      isOver = !(error instanceof Unreached);
    }
    bar.element.remove();
    place.append(
      actionRow(
        link(pathTo`/console/new/${draft.id}/pictures`, "Change the pictures", { class: "button" }),
        actionButton("Check again", () => check(isOver)),
      ),
    );
  }

  /** @param {Audit} audit */
  function fill(audit) {
    const equalised = draft.body.equalise ?? [];
    const skips = Boolean(draft.body.skip_bad);
    const change = (/** @type {import("./console_draft.js").StudyDraft} */ to) => async () => {
      draft.change(to);
      await check(true);
      /** @type {HTMLElement | null} */ (main.querySelector("h1"))?.focus();
    };
    const isReady = !audit.problems.length && !audit.stopping_count && !audit.suggested.equalise.length;
    const problems = audit.problems.length
      ? [section("What has to change first", sentences("warning", audit.problems))]
      : [];
    place.replaceChildren(
      ...problems,
      section("What is there", sidesTable(audit), ...audit.notes.map((note) => quiet(sentence(note)))),
      differences(audit, equalised, change),
      ...refusals(audit, skips, change),
      actionRow(
        actionButton("Continue to the settings", () => go(pathTo`/console/new/${draft.id}/settings`), {
          primary: isReady,
        }),
        link(pathTo`/console/new/${draft.id}/pictures`, "Change the pictures", { class: "button" }),
      ),
      draft.state,
    );
  }

  await check(false);
}

/** @param {Audit} audit */
function sidesTable({ sides }) {
  const columns = [
    { name: "Files", of: (/** @type {Audit["sides"][0]} */ side) => count(side.files) },
    { name: "Pictures used", of: (/** @type {Audit["sides"][0]} */ side) => count(side.pictures) },
    {
      name: "Formats",
      of: (/** @type {Audit["sides"][0]} */ { formats = {} }) =>
        Object.entries(formats)
          .map(([format, files]) => (Object.keys(formats).length > 1 ? `${count(files)} ${format}` : format))
          .join(", "),
    },
    {
      name: "Shorter side",
      of: (/** @type {Audit["sides"][0]} */ { short_side_px: px }) =>
        px ? (px.smallest === px.largest ? `${px.median} px` : `${px.smallest} to ${px.largest} px`) : "",
    },
    {
      name: "Classes",
      of: (/** @type {Audit["sides"][0]} */ { classes }) =>
        classes.map((each) => `${each.class}: ${count(each.pictures)}`).join(", "),
    },
  ];
  const shown = columns.filter(({ of }) => sides.some((side) => of(side) !== ""));
  return table(
    "Files and pictures of each side",
    ["Side", ...shown.map(({ name }) => name)],
    sides.map((side) => [side.side, ...shown.map(({ of }) => of(side))]),
  );
}

/**
 * @param {Audit} audit
 * @param {string[]} equalised steps that the draft has
 * @param {(to: import("./console_draft.js").StudyDraft) => () => Promise<void>} change
 */
function differences({ differences: all, suggested }, equalised, change) {
  const done = equalised.length
    ? [
        paragraph(`Both sides go through the same steps: ${equalised.map(inWords).join(", then ")}.`),
        actionRow(actionButton("Do without these steps", change({ equalise: [] }))),
      ]
    : [];
  const isNew = suggested.equalise.join() !== equalised.join() && suggested.equalise.length > 0;
  const offer = isNew
    ? [
        paragraph(
          `What can be made equal: ${suggested.equalise.map(inWords).join(", then ")}. Reals and fakes ` +
            "go through the same, so that neither can be told by it.",
        ),
        actionRow(
          actionButton("Make both sides equal and check again", change({ equalise: suggested.equalise }), {
            primary: true,
          }),
        ),
      ]
    : [];
  const told = all.length
    ? [
        paragraph("Evaluators could tell real from fake by these, instead of by what the pictures show."),
        table(
          "Differences between the sides",
          ["What", "Reals", "Models"],
          all.map(({ what, reals, models }) => [what, reals, models]),
        ),
        ...all.map((each) => quiet(sentence(each.sentence))),
      ]
    : [
        el(
          "p",
          { class: "good" },
          equalised.length
            ? "Nothing else was found by which the sides could be told apart."
            : "Nothing in the files tells the sides apart: their compression, size and colour are alike. " +
                "Blur and noise count as what the pictures show.",
        ),
      ];
  return section("What differs between the sides", ...told, ...offer, ...done);
}

/** @param {string} step such as `jpeg:75` */
function inWords(step) {
  const [kind, value] = step.split(":");
  if (kind === "jpeg") return `compress all as JPEG of quality ${value}`;
  if (kind === "size") return `shrink all to ${value} px`;
  return step;
}

/**
 * @param {Audit} audit
 * @param {boolean} skips
 * @param {(to: import("./console_draft.js").StudyDraft) => () => Promise<void>} change
 */
function refusals({ refused, refused_count, stopping_count }, skips, change) {
  if (!refused.length && !skips) return [];
  const items = refused.map(({ side, file, reason, thumbnail }) => {
    const image = thumbnail
      ? el("img", { src: thumbnail, alt: "", width: "96", height: "96" })
      : el("div", { class: "no-picture", "aria-hidden": "true" }, "?");
    return el(
      "li",
      {},
      image,
      el("div", {}, el("strong", {}, file), quiet(side ? `${side} · ${sentence(reason)}` : sentence(reason))),
    );
  });
  const files = counted(stopping_count, "file");
  const isMixed = stopping_count < refused_count;
  const told = skips
    ? [
        paragraph(
          refused_count
            ? `The study is made without ${refused_count === 1 ? "this file" : "these files"}.`
            : "Files that cannot be used would be left out.",
        ),
        actionRow(actionButton("Do not leave files out", change({ skip_bad: false }))),
      ]
    : stopping_count
      ? [
          paragraph(
            `The study cannot be made with ${stopping_count === 1 ? "this file" : "these files"}: ` +
              `leave ${files} out, or correct the folder and choose it ` +
              `again.${isMixed ? " Duplicates are left out in any case." : ""}`,
          ),
          actionRow(actionButton(`Leave ${files} out and check again`, change({ skip_bad: true }))),
        ]
      : [paragraph("Duplicates are left out. There is nothing to do.")];
  const more =
    refused_count > refused.length
      ? [quiet(`And ${counted(refused_count - refused.length, "other file")}.`)]
      : [];
  return [
    section(
      stopping_count ? "Files that cannot be used" : "Files that are left out",
      ...told,
      el("ul", { class: "refused" }, ...items),
      ...more,
    ),
  ];
}
