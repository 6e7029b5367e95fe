// @ts-check
/** The audit log: who changed what, and when; the newest first. */

import { actionButton, actionRow, el, quiet, statusLine, table } from "./elements.js";
import { counted, moment } from "./format.js";
import { inAddress, putIntoAddress } from "./history_position.js";

/**
 * @typedef {import("../../types/api.js").AuditEntry} Entry
 * @typedef {Record<string, Record<string, {summary: string}>>} Paths what the API does, by path and verb
 */

const PAGE = 100;
const OUTCOMES = /** @type {Record<Entry["outcome"], string>} */ ({
  done: "done",
  refused: "refused",
  failed: "failed, perhaps done in part",
  unknown: "unknown: under way, or the server ended before it was known",
});
/** What the commands that are recorded do, as paths of the API. */
const OF_COMMANDS = /** @type {Record<string, string>} */ ({
  "openhype members add": "/api/members",
  "openhype members remove": "/api/members/{member}/remove",
  "openhype members token": "/api/members/{member}/tokens",
  "openhype members revoke": "/api/tokens/{token}/revoke",
});

export const title = () => "Audit log";

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} _parameters
 * @param {import("./main.js").Context} context
 */
export async function show(main, _parameters, { api, signal }) {
  const intro = quiet("Whatever a member changed, or was refused. Times are those of your time zone.");
  const wide = table("Audit log", ["Time", "Who", "Token", "What", "Outcome"], []);
  const body = /** @type {HTMLElement} */ (wide.querySelector("tbody"));
  const told = statusLine();
  let before = "";
  const { paths } = /** @type {{paths: Paths}} */ (await api.get("/api/openapi.json", { signal }));
  const more = actionButton("Show older entries", load);
  main.append(intro, wide, told, actionRow(more));

  async function load() {
    /** @type {{entries: Entry[], next: string | null}} */
    const { entries, next } = await api.get(
      `/api/audit?limit=${PAGE}${before ? `&before=${encodeURIComponent(before)}` : ""}`,
      { signal },
    );
    const wasFocused = document.activeElement === more;
    if (before) putIntoAddress({ entries: `${body.childElementCount + entries.length}` });
    body.append(...entries.map((entry) => row(entry, paths)));
    before = next ?? "";
    more.hidden = !before;
    const shown = counted(body.childElementCount, "entry", "entries");
    told.textContent = before ? `${shown} shown.` : `${shown}: that is all.`;
    if (more.hidden && wasFocused) wide.focus();
  }

  const wanted = Number(inAddress("entries"));
  do await load();
  while (before && body.childElementCount < wanted);
}

/**
 * @param {Entry} entry
 * @param {Paths} paths
 */
function row({ at, member, token, action, target, outcome }, paths) {
  const time = el("time", { datetime: at }, moment(at));
  const state = el("span", { class: outcome === "done" ? "" : "wrong" }, OUTCOMES[outcome]);
  const what = target ? `${wordsOf(action, paths)} (${target})` : wordsOf(action, paths);
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, time),
    ...[member, token ?? "–", what, state].map((cell) => el("td", {}, cell)),
  );
}

/**
 * Return what was done: what the API's document says of it, without its remarks.
 * @param {string} action such as `POST /api/members`, or a command
 * @param {Paths} paths
 */
export function wordsOf(action, paths) {
  const command = OF_COMMANDS[action];
  const [verb, path] = command ? ["post", command] : action.split(" ");
  const [words] = (
    paths[path]?.[verb.toLowerCase()]?.summary ?? "Something that this version does not do"
  ).split(/[;:]/);
  return command ? `${words}, at the server itself` : words;
}
