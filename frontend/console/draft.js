// @ts-check
/**
 * A study that is being prepared: stored on the server at every change, so that a closed tab loses nothing.
 */

import { Unreached } from "./api.js";
import { el, explained, link, quiet } from "./elements.js";
import { methodOf } from "./methods.js";
import { pathTo } from "./paths.js";

const SAVE_AFTER_MS = 500;
const SAVE_AGAIN_AFTER_MS = 5000;

/**
 * The body of `POST /api/studies`, any part of it.
 * @typedef {object} StudyDraft
 * @property {string} [name]
 * @property {string} [kind]
 * @property {string} [method]
 * @property {string | null} [real] an upload
 * @property {{model: string, upload: string}[]} [models]
 * @property {{set: string, upload: string}[]} [items]
 * @property {string | null} [practice]
 * @property {string | null} [checks]
 * @property {string | null} [masks]
 * @property {Record<string, unknown>} [settings]
 * @property {string[]} [preprocess]
 * @property {boolean} [skip_bad]
 * @property {boolean} [strict]
 * @property {boolean} [flat] ignore sub-folders
 * @property {string | Record<string, unknown>} [panel] in place of the setting
 * @property {Record<string, any>[]} [pages]
 * @property {Record<string, any>[]} [questions]
 */

/**
 * @typedef {StudyDraft | ((body: StudyDraft) => StudyDraft)} Change entries that take the place of those of
 *   the same name, or how they follow from what is stored
 */

/**
 * @typedef {object} Draft
 * @property {string} id
 * @property {StudyDraft} body
 * @property {(change: Change) => void} change stores the change soon
 * @property {() => Promise<unknown>} renew stores what is not stored yet, and takes over what other tabs
 *   stored
 * @property {() => Promise<unknown>} flush stores what is not stored yet
 * @property {() => Promise<unknown>} close stores nothing more; resolves once nothing is on its way
 * @property {AbortSignal} closed aborts when it was closed
 * @property {HTMLElement} state says whether all is stored
 */

/** Drafts that were opened on this page, by their names: several screens and uploads change the same one. */
const opened = /** @type {Map<string, Draft>} */ (new Map());

/** Return a name that no other draft has. */
export function newDraftName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}

/**
 * @param {import("./api.js").Api} api
 * @param {string} id
 * @returns {Promise<Draft>}
 */
export async function openDraft(api, id) {
  const known = opened.get(id);
  if (!known) {
    const { body } = await api.get(pathTo`/api/drafts/${id}`);
    return opened.get(id) ?? keepDraft(api, id, body);
  }
  await known.renew();
  return known;
}

/**
 * Return a draft. Other tabs may change it too: only what is changed here is stored, in what the server has
 * then.
 * @param {import("./api.js").Api} api
 * @param {string} id
 * @param {StudyDraft | null} stored null for a new draft
 * @returns {Draft}
 */
export function keepDraft(api, id, stored) {
  const path = pathTo`/api/drafts/${id}`;
  const state = el("p", { class: "quiet saved", role: "status" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {Change[]} those that are not stored yet */
  let changes = [];
  let isNew = stored === null;
  const ended = new AbortController();
  /** @type {Promise<unknown>} one at a time, so that the last change is the last to arrive */
  let saving = Promise.resolve();
  const save = async () => {
    if (!changes.length || ended.signal.aborted) return;
    const now = [...changes];
    try {
      const before = isNew ? {} : (await api.get(path)).body;
      const body = changed(before, now);
      await api.post(path, body, { again: true });
      isNew = false;
      changes = changes.slice(now.length);
      draft.body = changed(body, changes);
      state.textContent = changes.length ? "Saving…" : "Saved on the server";
    } catch (error) {
      state.textContent = `Not saved: ${explained(error)}`;
      if (error instanceof Unreached) saveAfter(SAVE_AGAIN_AFTER_MS);
      throw error;
    }
  };
  /** @param {number} ms */
  function saveAfter(ms) {
    clearTimeout(timer);
    timer = setTimeout(() => void draft.flush().catch(() => {}), ms);
  }

  /** @type {Draft} */
  const draft = {
    id,
    body: stored ?? {},
    state,
    change(change) {
      draft.body = changed(draft.body, [change]);
      changes.push(change);
      state.textContent = "Saving…";
      saveAfter(SAVE_AFTER_MS);
    },
    flush() {
      clearTimeout(timer);
      saving = saving.catch(() => {}).then(save);
      return saving;
    },
    async renew() {
      // what is refused can be corrected only on the screen that is opened
      await draft.flush().catch(() => {});
      const { body } = await api.get(path);
      draft.body = changed(body, changes);
    },
    close() {
      ended.abort(); // an upload that begins later would bring it back
      clearTimeout(timer);
      return saving.catch(() => {});
    },
    closed: ended.signal,
  };
  addEventListener(
    "beforeunload",
    (event) => changes.length && !ended.signal.aborted && event.preventDefault(),
  );
  opened.set(id, draft);
  return draft;
}

/**
 * @param {StudyDraft} body
 * @param {Change[]} changes
 * @returns {StudyDraft}
 */
function changed(body, changes) {
  let now = body;
  for (const change of changes) now = { ...now, ...(typeof change === "function" ? change(now) : change) };
  return now;
}

/**
 * Delete a draft and end its sending; its uploads stay until they expire, or as long as a study uses them.
 * @param {import("./api.js").Api} api
 * @param {string} id
 */
export async function deleteDraft(api, id) {
  await opened.get(id)?.close();
  opened.delete(id);
  await api.post(pathTo`/api/drafts/${id}/delete`, {}, { again: true });
}

const STEPS = [
  ["", "Name and method"],
  ["/pictures", "Pictures"],
  ["/check", "Check"],
  ["/settings", "Settings and plan"],
];

/**
 * Return the steps to a new study, with links to those that can be entered, and which study it is.
 * @param {number} at the present one, from 0
 * @param {Draft | null} draft null before there is one
 */
export function steps(at, draft) {
  const items = STEPS.map(([path, name], i) => {
    const isEntered = draft && (i < 2 || draft.body.method);
    const place = isEntered ? link(`${pathTo`/console/new/${draft.id}`}${path}`, name) : el("span", {}, name);
    if (i === at) place.setAttribute("aria-current", "step");
    return el("li", { class: i < at ? "is-past" : "" }, place);
  });
  const about = at && draft ? [quiet(`${draft.body.name ?? ""} · ${methodOf(draft.body).title}`)] : [];
  return el(
    "div",
    { class: "steps" },
    el("nav", { "aria-label": "Steps to a new study" }, el("ol", {}, ...items)),
    ...about,
  );
}
