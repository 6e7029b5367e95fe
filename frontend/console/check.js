// @ts-check
/**
 * The third step to a new study: what the server found in the pictures. By whatever differs between the sides
 * besides the pictures themselves, evaluators could tell them apart.
 */

import { openDraft, steps } from "./draft.js";
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
} from "./elements.js";
import { tickField } from "./fields.js";
import { count, counted, sentence } from "./format.js";
import { methodOf } from "./methods.js";
import { checkedOf, orderOf } from "./order.js";
import { pathTo } from "./paths.js";

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
 * @property {{preprocess: string[], flat: boolean}} suggested
 */

/** @typedef {import("./draft.js").StudyDraft} Remedy what it changes in the draft */

export const title = () => "Check of the pictures";

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters
 * @param {import("./main.js").Context} context
 */
export async function show(main, parameters, { api, go, signal }) {
  const draft = await openDraft(api, parameters.draft);
  const { settings } = await api.get(pathTo`/api/settings/${methodOf(draft.body).method}`, { signal });
  const place = el("div", { class: "audit" });
  main.append(steps(2, draft), place);

  /** Show what was found; the server checks nothing again that it has checked. */
  async function check() {
    const wanted = checkedOf(orderOf(draft.body, settings));
    const bar = progress("Check of the pictures");
    const failure = alertLine();
    const words =
      "The server reads every picture and compares the sides. For thousands of pictures that takes a " +
      "few minutes.";
    place.replaceChildren(el("p", { role: "status" }, words), bar.element, failure);
    try {
      await draft.flush();
      const { job } = await api.post("/api/audits", wanted, { again: true, signal });
      const done = await api.job(job, (now) => showJob(bar, now), signal);
      if (done.state === "done") return fill(done.result);
      failure.textContent =
        done.state === "cancelled" ? "The check was cancelled." : sentence(done.reason ?? "the check failed");
    } catch (error) {
      if (isAbort(error)) throw error;
      failure.textContent = explained(error);
    }
    bar.element.remove();
    place.append(
      actionRow(
        link(pathTo`/console/new/${draft.id}/pictures`, "Change the pictures", { class: "button" }),
        actionButton("Check again", check),
      ),
    );
  }

  /** @param {Audit} audit */
  function fill(audit) {
    const preprocessed = draft.body.preprocess ?? [];
    const skips = Boolean(draft.body.skip_bad);
    /** @param {Remedy} to */
    async function take(to) {
      draft.change(to);
      await check();
      /** @type {HTMLElement | null} */ (main.querySelector("h1"))?.focus();
    }
    const isReady = !audit.problems.length && !audit.stopping_count && !audit.suggested.preprocess.length;
    place.replaceChildren(
      ...problems(audit, Boolean(draft.body.flat), take),
      section("What is there", sidesTable(audit), ...audit.notes.map((note) => quiet(sentence(note)))),
      differences(audit, preprocessed, take),
      ...refusals(audit, skips, take),
      ...offers(remedies(audit, preprocessed), take),
      actionRow(
        actionButton("Continue to the settings", () => go(pathTo`/console/new/${draft.id}/settings`), {
          primary: isReady,
        }),
        link(pathTo`/console/new/${draft.id}/pictures`, "Change the pictures", { class: "button" }),
      ),
      draft.state,
    );
  }

  await check();
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
 * @param {string[]} preprocessed steps that the draft has
 * @param {(to: Remedy) => Promise<void>} take
 */
function differences({ differences: all }, preprocessed, take) {
  const done = preprocessed.length
    ? [
        paragraph(`Both sides get the same processing: ${preprocessed.map(inWords).join(", then ")}.`),
        actionRow(actionButton("Do without these steps", () => take({ preprocess: [] }))),
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
          preprocessed.length
            ? "Nothing else was found by which the sides could be told apart."
            : "Nothing in the files tells the sides apart: their compression, size and colour are alike. " +
                "Blur and noise count as what the pictures show.",
        ),
      ];
  return section("What differs between the sides", ...told, ...done);
}

/**
 * Return what can be done about all that was found, with what it changes in the draft.
 * @param {Audit} audit
 * @param {string[]} preprocessed
 */
function remedies({ suggested: { preprocess, flat }, stopping_count }, preprocessed) {
  /** @type {{words: string, to: Remedy}[]} */
  const all = [];
  if (flat) all.push({ words: "Ignore the sub-folders: they are no classes.", to: { flat } });
  if (preprocess.length && preprocess.join() !== preprocessed.join()) {
    const steps = preprocess.map(inWords).join(", then ");
    const words = `Make both sides equal: ${steps}. Reals and fakes go through the same.`;
    all.push({ words, to: { preprocess } });
  }
  if (stopping_count) {
    const words = `Leave out ${counted(stopping_count, "file")} that cannot be used.`;
    all.push({ words, to: { skip_bad: true } });
  }
  return all;
}

/**
 * Return the choice of all that can be done, so that one more check is enough.
 * @param {{words: string, to: Remedy}[]} all
 * @param {(to: Remedy) => Promise<void>} take
 */
function offers(all, take) {
  if (!all.length) return [];
  const fields = all.map(({ words, to }) => tickField(words, to));
  for (const { input } of fields) input.checked = true;
  const chosen = () => Object.assign({}, ...fields.map(({ value }) => value()));
  const again = actionButton("Do this and check again", () => take(chosen()), { primary: true });
  return [section("What can be done", ...fields.map(({ element }) => element), actionRow(again))];
}

/** @param {string} step such as `jpeg:75` */
function inWords(step) {
  const [kind, value] = step.split(":");
  if (kind === "jpeg") return `compress all as JPEG of quality ${value}`;
  if (kind === "size") return `shrink all to ${value} px`;
  return step;
}

/**
 * Return what has to change, and the way back from folders whose sub-folders are ignored.
 * @param {Audit} audit
 * @param {boolean} isFlat
 * @param {(to: Remedy) => Promise<void>} take
 */
function problems({ problems: all }, isFlat, take) {
  const back = "Take sub-folders as classes and check again";
  const folders = isFlat ? [actionRow(actionButton(back, () => take({ flat: false })))] : [];
  return all.length ? [section("What has to change first", sentences("warning", all), ...folders)] : folders;
}

/**
 * @param {Audit} audit
 * @param {boolean} skips
 * @param {(to: Remedy) => Promise<void>} take
 */
function refusals({ refused, refused_count, stopping_count }, skips, take) {
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
        actionRow(actionButton("Do not leave files out", () => take({ skip_bad: false }))),
      ]
    : stopping_count
      ? [
          paragraph(
            `The study cannot be made with ${stopping_count === 1 ? "this file" : "these files"}: ` +
              `leave ${files} out, or correct the folder and choose it ` +
              `again.${isMixed ? " Duplicates are left out in any case." : ""}`,
          ),
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
