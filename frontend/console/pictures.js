// @ts-check
/** The second step to a new study: its pictures, dropped or chosen, and sent while one goes on. */

import { openDraft, steps } from "./draft.js";
import { choosers, dropZone } from "./drop_zone.js";
import {
  actionButton,
  actionRow,
  alertLine,
  askInDialog,
  details,
  el,
  paragraph,
  quiet,
  textInput,
} from "./elements.js";
import { subfolders } from "./files.js";
import { counted, remaining, size } from "./format.js";
import { methodOf } from "./methods.js";
import { pathTo } from "./paths.js";
import { transfersOf } from "./transfers.js";

/** @typedef {import("./transfers.js").Kind} Kind */
/** @typedef {import("./transfers.js").Slot} Slot */
/** @typedef {import("./files.js").Handed} Handed */

const LISTED = new Intl.ListFormat("en-GB");
const PREVIEWS = 6;
const MODEL = /^[A-Za-z0-9]([A-Za-z0-9 ._@+-]{0,98}[A-Za-z0-9._@+-])?$/;
const ASIDE = /** @type {[Kind, string, string][]} */ ([
  [
    "practice",
    "Practice pictures",
    "A folder with the sub-folders real and fake, shown before the first block and not scored. The " +
      "settings say how many.",
  ],
  [
    "checks",
    "Attention checks",
    "A folder with the sub-folders real and fake, of pictures whose truth is beyond doubt. The settings " +
      "say how many.",
  ],
  [
    "masks",
    "Masks of your own",
    "Pictures shown after a flash, instead of those that are made from the study’s own.",
  ],
]);

export const title = () => "Pictures";

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters
 * @param {import("./main.js").Context} context
 */
export async function show(main, parameters, { api, go, signal }) {
  const draft = await openDraft(api, parameters.draft);
  const transfers = await transfersOf(api, draft);
  const method = methodOf(draft.body);
  /** @type {Map<Slot, ReturnType<typeof row>>} */
  const rows = new Map();
  /** @type {Map<Kind, HTMLElement>} */
  const lists = new Map();
  /** @type {Map<Kind, ReturnType<typeof dropZone>>} */
  const zones = new Map();
  const spoken = el("p", { class: "unseen", role: "status" });

  const area = (
    /** @type {Kind} */ kind,
    /** @type {string} */ heading,
    /** @type {string} */ about,
    /** @type {boolean} */ isMany,
  ) => {
    const list = el("ul", { class: "slots" });
    lists.set(kind, list);
    const zone = dropZone(heading, isMany, (all) => take(kind, all, isMany));
    zones.set(kind, zone);
    return el("section", { class: "pictures" }, el("h2", {}, heading), quiet(about), list, zone.element);
  };

  /**
   * @param {Kind} kind
   * @param {Handed[]} all
   * @param {boolean} isMany
   */
  async function take(kind, all, isMany) {
    const useful = all.filter(({ items }) => items.length);
    const problem =
      all.length && !useful.length
        ? "There is no picture in it."
        : !isMany && useful.length > 1
          ? "One folder or one zip goes here."
          : "";
    zones.get(kind)?.fail(problem);
    if (problem) return;
    const things = isMany && useful.length === 1 ? await asModels(kind, useful[0]) : useful;
    for (const handed of things) transfers.add(kind, handed);
  }

  /**
   * Ask whether the sub-folders of a folder are several models or classes of one.
   * @param {Kind} kind
   * @param {Handed} folder
   */
  async function asModels(kind, folder) {
    const inside = subfolders(folder);
    if (inside.length < 2 || folder.isZip || kind !== "model") return [folder];
    const reals = transfers.slots.find((slot) => slot.kind === "real")?.handed;
    const classes = reals ? subfolders(reals).map(({ name }) => name) : [];
    if (classes.length && inside.every(({ name }) => classes.includes(name))) return [folder];
    const names = inside
      .slice(0, 5)
      .map(({ name }) => name)
      .join(", ");
    const answer = await askInDialog(
      `${folder.name} has ${inside.length} sub-folders`,
      [
        paragraph(
          `They are ${names}${inside.length > 5 ? " and others" : ""}. Are they different models, or ` +
            "classes of pictures (such as cats and dogs) of one model?",
        ),
      ],
      [
        { label: `${inside.length} models`, value: "models", primary: true },
        { label: "Classes of one model", value: "classes" },
        { label: "Cancel", value: "" },
      ],
    );
    return answer === "models" ? inside : answer === "classes" ? [folder] : [];
  }

  /** Return the slots that are shown: those of another method, chosen before, are not ordered. */
  function shown() {
    return transfers.slots.filter(({ kind }) => lists.has(kind));
  }

  /** @param {Slot} slot */
  function addRow(slot) {
    const made = row(slot, transfers, (words) => (spoken.textContent = words));
    rows.set(slot, made);
    lists.get(slot.kind)?.append(made.item);
    made.update();
    return made;
  }

  /** @param {Slot} slot */
  function update(slot) {
    if (shown().includes(slot)) (rows.get(slot) ?? addRow(slot)).update();
    for (const [kind, zone] of zones)
      zone.element.hidden = transfers.slots.some(
        (each) => each.kind === kind && isSingle(kind) && isFilled(each),
      );
    for (const [other, { item }] of rows) {
      if (transfers.slots.includes(other)) continue;
      item.remove();
      rows.delete(other);
    }
  }

  const aside = details(
    "More pictures: practice, attention checks, masks",
    ...ASIDE.map(([kind, heading, about]) => area(kind, heading, about, false)),
  );
  const areas = method.parts.length
    ? [
        area(
          "set",
          "Sets of pictures",
          `A folder for each set, with the sub-folders ${LISTED.format(method.parts)}; pictures of the ` +
            "same name belong together.",
          true,
        ),
      ]
    : [
        area(
          "real",
          "Real pictures",
          "Photographs: what the models learned to make. Sub-folders become classes.",
          false,
        ),
        area(
          "model",
          "Pictures of models",
          "A folder or a zip for each model, named after it. A folder of folders can be several models " +
            "at once.",
          true,
        ),
      ];
  const missing = alertLine();
  const onward = async () => {
    const wrong = [...rows.values()].find(({ check }) => !check());
    missing.textContent = wrong
      ? "A name has to change first."
      : stillMissing(shown(), method.parts.length > 0);
    if (wrong) return wrong.item.querySelector("input")?.focus();
    if (missing.textContent) return;
    await draft.flush();
    go(pathTo`/console/new/${draft.id}/check`);
  };
  main.append(
    steps(1, draft),
    ...areas,
    aside,
    actionRow(actionButton("Continue to the check", onward, { primary: true })),
    missing,
    draft.state,
    spoken,
  );
  for (const slot of transfers.slots) update(slot);
  if (transfers.slots.some(({ kind }) => ["practice", "checks", "masks"].includes(kind)))
    aside.setAttribute("open", "");
  transfers.listen(update, signal);
  // a picture dropped beside a zone would replace the page
  for (const name of ["dragover", "drop"])
    addEventListener(name, (event) => event.preventDefault(), { signal });
}

/**
 * Return what must still be done before the pictures can be checked; "" if nothing.
 * @param {Slot[]} slots
 * @param {boolean} hasItems
 */
function stillMissing(slots, hasItems) {
  if (hasItems && !slots.some(({ kind }) => kind === "set")) return "Choose the pictures of a set first.";
  if (!hasItems && !slots.some(({ kind }) => kind === "real")) return "Choose the real pictures first.";
  if (!hasItems && !slots.some(({ kind }) => kind === "model"))
    return "Choose the pictures of a model first.";
  const open = slots.filter(({ progress }) => progress.stage !== "complete");
  const stopped = open.filter(({ progress }) => !["reading", "sending", "waiting"].includes(progress.stage));
  if (stopped.length) return `Not all pictures are on the server: see ${stopped.map(named).join(", ")}.`;
  return open.length
    ? "The pictures are still being sent. You can wait here or look at other pages of the console " +
        "meanwhile; leave this tab open."
    : "";
}

/** @param {Kind} kind */
function isSingle(kind) {
  return kind !== "model" && kind !== "set";
}

/**
 * Return whether nothing has to be chosen for a slot.
 * @param {Slot} slot
 */
function isFilled({ handed, progress }) {
  return progress.stage === "complete" || (handed !== null && progress.stage !== "failed");
}

/** @param {Slot} slot */
function named({ kind, name }) {
  return (
    name ||
    {
      real: "the real pictures",
      practice: "the practice pictures",
      checks: "the attention checks",
      masks: "the masks",
      model: "a model",
      set: "a set",
    }[kind]
  );
}

/**
 * Return the row of a slot.
 * @param {Slot} slot
 * @param {import("./transfers.js").Transfers} transfers
 * @param {(words: string) => void} say tells screen readers
 */
function row(slot, transfers, say) {
  const isNamed = slot.kind === "model" || slot.kind === "set";
  const naming = isNamed ? nameField(slot, transfers) : null;
  const heading =
    naming?.element ??
    el(
      "strong",
      {},
      { real: "Reals", practice: "Practice", checks: "Attention checks", masks: "Masks", model: "", set: "" }[
        slot.kind
      ],
    );
  const bar = el("progress", { class: "loading", max: "1", "aria-label": `Sent of ${named(slot)}` });
  const words = el("p", { class: "quiet progress-words" });
  const others = el("p", { class: "quiet others" });
  const previews = el("div", { class: "previews", "aria-hidden": "true" });
  const pause = actionButton("Pause", () => slot.sending?.pause(), { className: "plain" });
  const resume = actionButton("Go on", () => transfers.start(slot), { className: "plain" });
  const again = el(
    "span",
    { class: "choosing" },
    ...choosers(named(slot), (handed) => transfers.fill(slot, handed)),
  );
  const remove = actionButton("Remove", removed, { className: "plain" });
  remove.append(el("span", { class: "unseen" }, ` ${named(slot)}`));
  const item = el(
    "li",
    { class: "slot" },
    el("div", { class: "slot-head" }, heading, el("div", { class: "slot-buttons" }, pause, resume, remove)),
    bar,
    words,
    others,
    previews,
    again,
  );
  let stage = "";
  /** @type {Handed | null} */
  let previewed = null;

  function removed() {
    const section = item.closest("section");
    transfers.remove(slot);
    /** @type {HTMLElement | null | undefined} */ (section?.querySelector(".drop-zone button"))?.focus();
  }

  function update() {
    const { progress, handed } = slot;
    bar.value = progress.total ? progress.done / progress.total : 0;
    bar.hidden = progress.stage === "complete" || slot.isLost || !progress.total;
    words.textContent = inWords(slot);
    words.classList.toggle("error", progress.stage === "failed" || slot.isLost);
    others.textContent = handed?.others.length
      ? `${counted(handed.others.length, "other file")} in the folder ` +
        `${handed.others.length === 1 ? "is no picture and stays" : "are no pictures and stay"} here: ` +
        `${handed.others.slice(0, 3).join(", ")}${handed.others.length > 3 ? "…" : ""}`
      : "";
    pause.hidden = !["reading", "sending", "waiting"].includes(progress.stage);
    resume.hidden = !(slot.sending && ["paused", "failed"].includes(progress.stage));
    again.hidden = isFilled(slot) || isSingle(slot.kind); // of which the zone below is there again
    if (handed !== previewed) {
      previewed = handed;
      previews.replaceChildren(...previewsOf(handed));
    }
    if (stage && stage !== progress.stage && ["complete", "failed", "waiting"].includes(progress.stage))
      say(`${named(slot)}: ${words.textContent}`);
    stage = progress.stage;
  }

  return { item, update, check: () => naming?.check() ?? true };
}

/**
 * @param {Slot} slot
 * @param {import("./transfers.js").Transfers} transfers
 */
function nameField(slot, transfers) {
  const label = slot.kind === "set" ? "Name of the set" : "Name of the model";
  const input = textInput({ "aria-label": label, maxlength: "100" });
  input.value = slot.name;
  const problem = alertLine();
  /** Return whether the name can be had; say why not. */
  function check() {
    const name = input.value.trim();
    const isTaken = transfers.slots.some(
      (other) =>
        other !== slot && other.kind === slot.kind && other.name.toLowerCase() === name.toLowerCase(),
    );
    problem.textContent = !MODEL.test(name)
      ? "Use letters from a to z, digits, spaces and . _ @ + -"
      : isTaken
        ? "Another one is called so."
        : "";
    if (problem.textContent) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
    return !problem.textContent;
  }

  input.addEventListener("input", () => {
    check();
    const name = input.value.trim();
    if (MODEL.test(name)) transfers.rename(slot, name);
  });
  return { element: el("div", { class: "field slot-name" }, input, problem), check };
}

/** @param {Slot} slot */
function inWords({ progress, handed, isLost, sending }) {
  const { stage, done, total, left_s, problem } = progress;
  const what = handed
    ? handed.isZip
      ? `a zip of ${size(total)}`
      : `${counted(handed.items.length, "picture")}, ${size(total)}`
    : total
      ? size(total)
      : "";
  if (isLost) return "The server deleted these pictures because they waited for too long. Choose them again.";
  if (stage === "complete") return `On the server${what ? `: ${what}` : ""}`;
  if (stage === "reading") return `Reading ${what}: ${percent(done, total)}`;
  if (stage === "sending") {
    const left = left_s === null ? "" : `, about ${remaining(left_s)} left`;
    return `Sending ${what}: ${percent(done, total)}${left}`;
  }
  if (stage === "waiting") return problem;
  if (stage === "paused") return `Paused at ${percent(done, total)} of ${what}`;
  if (stage === "failed") return `Not sent: ${problem}`;
  if (!sending)
    return "Not all of it is on the server. Choose the same folder or zip again: only the rest is sent.";
  return `Waiting for its turn: ${what}`;
}

/**
 * @param {number} done
 * @param {number} total
 */
function percent(done, total) {
  return `${total ? Math.floor((100 * done) / total) : 0}%`;
}

/** @param {Handed | null} handed */
function previewsOf(handed) {
  if (!handed || handed.isZip) return [];
  const { items } = handed;
  const every = Math.max(1, Math.floor(items.length / PREVIEWS));
  return items
    .filter((_, i) => i % every === 0)
    .slice(0, PREVIEWS)
    .map(({ file }) => {
      const image = el("img", { alt: "", decoding: "async" });
      image.src = URL.createObjectURL(file);
      for (const name of ["load", "error"])
        image.addEventListener(name, () => URL.revokeObjectURL(image.src));
      image.addEventListener("error", () => image.remove());
      return image;
    });
}
