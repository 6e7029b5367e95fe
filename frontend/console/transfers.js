// @ts-check
/**
 * The pictures of a draft: one slot for the reals and for each model, with what is being sent for it. Sending
 * goes on while other screens of the console are shown; after a reload, the same folder chosen again goes on.
 */

import { putPart, waitedOrOnline } from "./api.js";
import { modelName } from "./files.js";
import { pathTo } from "./paths.js";
import { folderSource, makeUpload, zipSource } from "./upload.js";

/**
 * @typedef {"real" | "model" | "set" | "practice" | "checks" | "masks"} Kind
 *
 * @typedef {object} Slot
 * @property {Kind} kind
 * @property {string} name of a model or a set; "" of others
 * @property {string | null} upload as the server calls it, once it has begun
 * @property {import("./files.js").Handed | null} handed null after a reload
 * @property {import("./upload.js").Upload | null} sending
 * @property {import("./upload.js").Progress} progress
 * @property {boolean} isLost whether the server has it no more
 *
 * @typedef {{kind: Kind, upload: string, name: string}} Stored pictures of a draft, as it is stored
 * @typedef {ReturnType<typeof makeTransfers>} Transfers
 */

const NOT_BEGUN = /** @type {import("./upload.js").Progress} */ ({
  stage: "ready",
  done: 0,
  total: 0,
  left_s: null,
  problem: "",
});

/** @type {Map<string, Promise<Transfers>>} by the draft's name */
const known = new Map();

/**
 * Return the transfers of a draft, the same for all screens.
 * @param {import("./api.js").Api} api
 * @param {import("./draft.js").Draft} draft
 */
export async function transfersOf(api, draft) {
  const found = known.get(draft.id);
  if (found) await found.then((transfers) => transfers.renew());
  else known.set(draft.id, restored(api, draft));
  known.get(draft.id)?.catch(() => known.delete(draft.id));
  return /** @type {Promise<Transfers>} */ (known.get(draft.id));
}

/**
 * @param {import("./draft.js").StudyDraft} body
 * @returns {Stored[]}
 */
function storedIn({ real, models = [], items = [], practice, checks, masks }) {
  const named = (/** @type {Kind} */ kind, /** @type {string | null | undefined} */ upload, name = "") =>
    upload ? [{ kind, upload, name }] : [];
  return [
    ...named("real", real),
    ...models.flatMap(({ model, upload }) => named("model", upload, model)),
    ...items.flatMap(({ set, upload }) => named("set", upload, set)),
    ...named("practice", practice),
    ...named("checks", checks),
    ...named("masks", masks),
  ];
}

/**
 * @param {import("./api.js").Api} api
 * @param {import("./draft.js").Draft} draft
 */
async function restored(api, draft) {
  const transfers = makeTransfers(
    api,
    draft,
    await Promise.all(storedIn(draft.body).map((each) => slotOnServer(api, each))),
  );
  addEventListener("beforeunload", (event) => transfers.isActive() && event.preventDefault());
  draft.closed.addEventListener("abort", () => {
    known.delete(draft.id);
    transfers.stop();
  });
  return transfers;
}

/**
 * @param {import("./api.js").Api} api
 * @param {Stored} stored
 * @returns {Promise<Slot>}
 */
async function slotOnServer(api, { kind, upload, name }) {
  const slot = { kind, name, upload, handed: null, sending: null, progress: NOT_BEGUN, isLost: false };
  try {
    const { state } = await api.get(pathTo`/api/uploads/${upload}`);
    return state === "complete" ? { ...slot, progress: { ...NOT_BEGUN, stage: "complete" } } : slot;
  } catch (error) {
    if (/** @type {{code?: string}} */ (error).code !== "unknown_upload") throw error;
    return { ...slot, isLost: true };
  }
}

/**
 * @param {import("./api.js").Api} api
 * @param {import("./draft.js").Draft} draft
 * @param {Slot[]} slots
 */
export function makeTransfers(api, draft, slots) {
  const listeners = /** @type {Set<(slot: Slot, isNew: boolean) => void>} */ (new Set());
  /** @type {Slot[]} */
  const queue = [];
  let isBusy = false;

  const tell = (/** @type {Slot} */ slot, isNew = false) => {
    for (const listener of listeners) listener(slot, isNew);
  };

  /**
   * @type {Set<string | null>} uploads that a slot has or had: a stored one that is none of them is of
   *   another tab
   */
  const ours = new Set(slots.map(({ upload }) => upload));

  /** @param {Kind} kind */
  function store(kind) {
    const filled = () =>
      slots
        .filter((slot) => slot.kind === kind && slot.upload)
        .map(({ name, upload }) => ({ name, upload: /** @type {string} */ (upload) }));
    const isTheirs = (/** @type {{upload: string}} */ { upload }) => !ours.has(upload);
    if (kind === "model")
      draft.change(({ models = [] }) => ({
        models: [
          ...filled().map(({ name, upload }) => ({ model: name, upload })),
          ...models.filter(isTheirs),
        ],
      }));
    else if (kind === "set")
      draft.change(({ items = [] }) => ({
        items: [...filled().map(({ name, upload }) => ({ set: name, upload })), ...items.filter(isTheirs)],
      }));
    else draft.change({ [kind]: filled()[0]?.upload ?? null });
  }

  /**
   * Send what was handed over in place of what the slot had.
   * @param {Slot} slot
   * @param {import("./files.js").Handed} handed
   */
  function fill(slot, handed) {
    slot.sending?.pause();
    const before = slot.upload;
    const { items, isZip } = handed;
    slot.handed = handed;
    slot.isLost = false;
    try {
      const source = isZip ? zipSource(items[0].file) : folderSource(items);
      slot.sending = makeUpload({
        source,
        api,
        put: putPart,
        pause: waitedOrOnline,
        onProgress(progress) {
          if (slot.handed !== handed) return; // another folder was chosen meanwhile
          slot.progress = progress;
          tell(slot);
        },
        async onBegun(upload) {
          if (slot.handed !== handed || !slots.includes(slot)) return;
          slot.upload = upload;
          ours.add(upload);
          store(slot.kind);
          await draft.flush();
          if (before && before !== upload) void forget(before);
        },
      });
      slot.progress = { ...NOT_BEGUN, total: source.content.size };
      start(slot);
    } catch (error) {
      slot.sending = null;
      slot.progress = { ...NOT_BEGUN, stage: "failed", problem: error instanceof Error ? error.message : "" };
    }
    tell(slot);
  }

  /** @param {Slot} slot */
  function start(slot) {
    if (!queue.includes(slot)) queue.push(slot);
    slot.progress = { ...slot.progress, stage: "ready", problem: "" };
    tell(slot);
    if (!isBusy) void work();
  }

  async function work() {
    isBusy = true;
    for (let slot = queue.shift(); slot; slot = queue.shift())
      if (slots.includes(slot)) await slot.sending?.run();
    isBusy = false;
  }

  /**
   * Delete an upload that no draft has: the same pictures chosen for two are one upload. What is left is
   * deleted by the server when it expires.
   * @param {string} upload
   */
  async function forget(upload) {
    try {
      const { drafts } = await api.get("/api/drafts");
      if (slots.some((slot) => slot.upload === upload)) return;
      if (
        drafts.some((/** @type {{body: import("./draft.js").StudyDraft}} */ { body }) =>
          storedIn(body).some((each) => each.upload === upload),
        )
      )
        return;
      await api.post(pathTo`/api/uploads/${upload}/delete`, {}, { again: true });
    } catch (error) {
      console.warn("not deleted:", error);
    }
  }

  /**
   * Return a name that no other slot of the kind has.
   * @param {Kind} kind
   * @param {string} wanted
   */
  function freeName(kind, wanted) {
    const taken = slots.filter((slot) => slot.kind === kind).map(({ name }) => name.toLowerCase());
    const plain = modelName(wanted) || kind;
    for (let i = 1; ; i += 1) {
      const name = i === 1 ? plain : `${plain}-${i}`;
      if (!taken.includes(name.toLowerCase())) return name;
    }
  }

  return {
    slots,
    fill,
    start,
    /**
     * Add what was handed over: to the slot that waits for it, or else as a new one.
     * @param {Kind} kind
     * @param {import("./files.js").Handed} handed
     */
    add(kind, handed) {
      const isNamed = kind === "model" || kind === "set";
      const waiting = slots.find(
        (slot) =>
          slot.kind === kind &&
          (!isNamed ||
            (slot.name === modelName(handed.name) && !slot.handed && slot.progress.stage !== "complete")),
      );
      const slot = waiting ?? {
        kind,
        name: isNamed ? freeName(kind, handed.name) : "",
        upload: null,
        handed: null,
        sending: null,
        progress: NOT_BEGUN,
        isLost: false,
      };
      if (!waiting) slots.push(slot);
      if (!waiting) tell(slot, true);
      fill(slot, handed);
    },
    /** @param {Slot} slot */
    remove(slot) {
      slot.sending?.pause();
      slots.splice(slots.indexOf(slot), 1);
      const { upload } = slot;
      slot.handed = null;
      store(slot.kind);
      tell(slot);
      if (upload)
        void draft.flush().then(
          () => forget(upload),
          () => {},
        );
    },
    /** Take over what other tabs did to the pictures. */
    async renew() {
      const stored = storedIn(draft.body);
      for (const slot of slots.filter(
        ({ kind, upload }) => upload && !stored.some((each) => each.kind === kind && each.upload === upload),
      )) {
        slot.sending?.pause();
        slots.splice(slots.indexOf(slot), 1);
      }
      for (const slot of slots) {
        const same = stored.filter(({ kind, upload }) => kind === slot.kind && upload === slot.upload);
        if (same.length && !same.some(({ name }) => name === slot.name)) slot.name = same[0].name;
      }
      const isNew = (/** @type {Stored} */ each) =>
        !slots.some(({ kind, upload }) => kind === each.kind && upload === each.upload);
      for (const slot of await Promise.all(stored.filter(isNew).map((each) => slotOnServer(api, each)))) {
        slots.push(slot);
        ours.add(slot.upload);
      }
    },
    /** End all sending; the slots are not to be used any more. */
    stop() {
      for (const slot of slots.splice(0)) slot.sending?.pause();
    },
    /** @param {Slot} slot @param {string} name */
    rename(slot, name) {
      slot.name = name;
      store(slot.kind);
    },
    /**
     * @param {(slot: Slot, isNew: boolean) => void} listener
     * @param {AbortSignal} signal
     */
    listen(listener, signal) {
      listeners.add(listener);
      signal.addEventListener("abort", () => listeners.delete(listener));
    },
    /** Return whether something is being sent, which leaving the page would stop. */
    isActive: () => slots.some(({ progress }) => ["reading", "sending", "waiting"].includes(progress.stage)),
  };
}
