// @ts-check
/** The form of a model: its name, its pictures, and sending them with progress. */

import { putPart, waitedOrOnline } from "./api.js";
import { dropZone } from "./drop_zone.js";
import { actionButton, actionRow, alertLine, el, explained, field, progress } from "./elements.js";
import { modelName } from "./files.js";
import { counted, remaining, size } from "./format.js";
import { pathTo } from "./paths.js";
import { folderSource, makeUpload, zipSource } from "./upload.js";

/**
 * @typedef {import("./files.js").Handed} Handed
 * @typedef {import("./upload.js").Progress} Progress
 */

/**
 * Return the parts of a form that sends a model. What is typed or chosen for another model meanwhile stays.
 * @param {string} label of the button
 * @param {string} hint about the name
 * @param {(name: string, handed: Handed, sending: ReturnType<typeof sendingView>) => Promise<string>} send
 *   returns what is to be told
 */
export function modelForm(label, hint, send) {
  const input = el("input", { type: "text", maxlength: "100", autocomplete: "off", spellcheck: "false" });
  const name = field("Name of the model", input, hint);
  const chosen = el("p", { class: "quiet", role: "status" });
  const failure = alertLine();
  const sending = sendingView();
  /** @type {Handed | null} */
  let handed = null;
  const zone = dropZone("Pictures of the model", false, ([one]) => {
    zone.fail(one?.items.length ? "" : "There are no pictures in it.");
    if (!one?.items.length) return;
    handed = one;
    if (!input.value) input.value = modelName(one.name);
    chosen.textContent = inShort(one);
  });
  const button = actionButton(
    label,
    async () => {
      const [model, pictures] = [input.value.trim(), handed];
      failure.textContent = "";
      name.fail(model ? "" : "Give the model a name.");
      if (!model) return input.focus();
      if (!pictures) {
        failure.textContent = "Choose the pictures first.";
        return;
      }
      const told = await send(model, pictures, sending);
      if (input.value.trim() === model) input.value = "";
      if (handed !== pictures) return;
      handed = null;
      chosen.textContent = told;
    },
    {
      primary: true,
      onError: (error) => {
        failure.textContent = explained(error);
      },
    },
  );
  return {
    name: name.element,
    pictures: [zone.element, chosen],
    sending: [sending.element, actionRow(button), failure],
  };
}

/** @param {string} [label] what is done, in words */
export function sendingView(label = "Sending the pictures") {
  const bar = progress(label);
  bar.element.hidden = true;
  return {
    element: bar.element,
    /**
     * Send files; return the upload.
     * @param {Pick<Handed, "items" | "isZip">} handed
     * @param {import("./api.js").Api} api
     * @param {(digest: string) => Promise<unknown>} [onBegun] called before the first part is sent; what it
     *   throws ends the sending
     * @returns {Promise<string>}
     */
    async send(handed, api, onBegun) {
      /** @type {unknown} */
      let refusal = null;
      /** @type {Progress | null} */
      let last = null;
      const upload = makeUpload({
        source: handed.isZip ? zipSource(handed.items[0].file) : folderSource(handed.items),
        api,
        put: putPart,
        pause: waitedOrOnline,
        onProgress(now) {
          last = now;
          bar.update(now.total ? now.done / now.total : null, inWords(now));
        },
        async onBegun(name) {
          if (!onBegun) return;
          const { digest } = await api.get(pathTo`/api/uploads/${name}`);
          await onBegun(digest).catch((error) => {
            refusal = error;
            throw error;
          });
        },
      });
      bar.element.hidden = false;
      // leaving the page would stop it
      const warn = (/** @type {BeforeUnloadEvent} */ event) => event.preventDefault();
      addEventListener("beforeunload", warn);
      const name = await upload.run();
      removeEventListener("beforeunload", warn);
      bar.element.hidden = true;
      if (refusal) throw refusal;
      if (!name)
        throw new Error(
          /** @type {Progress | null} */ (last)?.problem || "the files were not sent; choose them again",
        );
      return name;
    },
  };
}

/**
 * Return what was chosen, in words.
 * @param {Handed} handed
 */
function inShort({ isZip, name, items }) {
  return isZip
    ? `A zip: ${items[0].path}, ${size(items[0].file.size)}`
    : `${name || "Files"}: ${counted(items.length, "picture")}`;
}

/** @param {Progress} progress */
function inWords({ stage, done, total, left_s, problem }) {
  if (stage === "waiting" || stage === "failed") return problem;
  const share = total ? `${Math.floor((100 * done) / total)}%` : "";
  if (stage === "reading") return `Reading: ${share}`;
  return `Sending ${size(total)}: ${share}${left_s === null ? "" : `, about ${remaining(left_s)} left`}`;
}
