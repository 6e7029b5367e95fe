// @ts-check
/**
 * The researcher's console: one page whose screens follow the path. A screen is a module, loaded when it is
 * first shown, that exports `title(parameters)` and `show(main, parameters, context)`.
 */

import { addressOf, serverPath } from "../shared/base_path.js";
import { Refused, SIGN_IN_CODES, makeConsoleApi } from "./api.js";
import { actionButton, actionRow, alertLine, el, explained, isAbort, link, paragraph } from "./elements.js";
import { loadMethods } from "./methods.js";
import { isWaiting, mayGo } from "./shown_once.js";
import { found } from "./paths.js";
import { noteScroll, noteScrolling, scrollBack } from "./history_position.js";
import { isLink, linkCode, signIn } from "./sign_in.js";
import { notice } from "../shared/elements.js";

/**
 * @typedef {{member: string, role: "submitter" | "researcher" | "owner", token: string | null, expires_at:
 *   string | null, by: "token" | "cookie" | "proxy"}} Me
 *
 * @typedef {object} Context what a screen may use
 * @property {import("./api.js").Api} api
 * @property {Me} me
 * @property {(path: string, options?: {replace?: boolean}) => void} go shows another screen
 * @property {AbortSignal} signal aborts when the screen is left
 *
 * @typedef {object} Screen
 * @property {(parameters: Record<string, string>) => string} title heading and title of the page
 * @property {(main: HTMLElement, parameters: Record<string, string>, context: Context) => Promise<unknown> |
 *   void} show adds the screen to `main`, below the heading
 */

/** @type {[string, () => Promise<Screen>][]} every screen, by the pattern of its path */
const SCREENS = [
  ["/console", () => import("./home.js")],
  ["/console/new", () => import("./new.js")],
  ["/console/new/:draft", () => import("./new.js")],
  ["/console/new/:draft/pictures", () => import("./pictures.js")],
  ["/console/new/:draft/check", () => import("./check.js")],
  ["/console/new/:draft/settings", () => import("./settings.js")],
  ["/console/studies/:study", () => import("./study.js")],
  ["/console/studies/:study/:section", () => import("./study.js")],
  ["/console/submissions", () => import("./submissions.js")],
  ["/console/opinion-scores", () => import("./opinion_scores.js")],
  ["/console/people", () => import("./people.js")],
  ["/console/audit", () => import("./audit.js")],
  [
    "/console/sign-out",
    async () => ({
      title: () => "Sign out",
      show: (main) => main.append(actionRow(actionButton("Sign out", signOut, { primary: true }))),
    }),
  ],
];
const RESULTS = /^\/results(\/|$)/; // the server sends this page there to whoever is not signed in

/**
 * @type {{path: string, label: string, role: Me["role"], isOnly?: boolean}[]} what the bar leads to, and who
 *   may go there: members with the role and those above, or only those with it
 */
const PAGES = [
  { path: "/console", label: "Studies", role: "researcher" },
  { path: "/console/new", label: "New study", role: "researcher" },
  { path: "/console/submissions", label: "Submissions", role: "submitter", isOnly: true },
  { path: "/console/people", label: "People", role: "researcher" },
  { path: "/console/audit", label: "Audit log", role: "owner" },
];

const ROLES = ["submitter", "researcher", "owner"];

let main = /** @type {HTMLElement} */ (document.getElementById("main"));
const api = makeConsoleApi({ signIn: askForToken, member: () => me?.member ?? null, startAfresh });
let leaving = new AbortController();
/** @type {Me | null} */
let me = null;
let hasAsked = false; // for a token, on this page
/** Whose this tab was before it started afresh; "" if it did not, or a link was followed since. */
let before = history.state?.before ?? "";
/** The place of the shown screen in the history of the tab. */
let at = history.state?.at ?? 0;
let isReturning = false; // to the screen that the browser's Back or Forward has left

history.replaceState({ ...history.state, at, before: "" }, "");
noteScrolling();
addEventListener("popstate", () => void (isLink() ? location.reload() : followHistory())); // one pasted here
document.addEventListener("click", follow);
void showPath(true);

/**
 * Show the screen of the present path.
 * @param {boolean} isFirst whether the page has just been loaded
 */
async function showPath(isFirst) {
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const scroll = history.state?.scroll ?? 0;
  let isEntered = false;
  /** @type {() => unknown} */
  let again = () => showPath(false);
  for (const dialog of document.querySelectorAll("dialog[open]:not(.sign-in)")) {
    /** @type {HTMLDialogElement} */ (dialog).close(); // it asked about the screen that is left
  }
  try {
    const place = found(SCREENS, serverPath());
    const loading = place?.entry(); // while it is asked who is signed in
    loading?.catch(() => {});
    const code = linkCode();
    me = code ? await signedInBy(code) : (me ?? (await signedIn()));
    if (me.role !== "submitter") await loadMethods(api);
    if (signal.aborted) return;
    if (RESULTS.test(serverPath())) return showResults(isFirst);
    showBar(me);
    if (!place || !loading)
      return fill(isFirst, "There is no such page", [
        paragraph("The address may be mistyped, or what it showed may have been deleted."),
        paragraph(link("/console", "All studies")),
      ]);
    const screen = await loading.catch(() => {
      again = () => location.reload(); // browsers may remember that a module could not be loaded
      throw new Error("a part of the console cannot be loaded; check the connection, then try again");
    });
    if (signal.aborted) return;
    fill(isFirst, screen.title(place.parameters), [el("p", { class: "loading-page" }, "Loading…")]);
    isEntered = true;
    if (scroll) scrollBack(main, scroll, signal);
    await screen.show(main, place.parameters, {
      api,
      me,
      go: (path, options) => void (signal.aborted || go(path, options)),
      signal,
    });
  } catch (error) {
    if (isAbort(error) || signal.aborted) return;
    console.warn("the screen could not be shown:", error);
    if (!isEntered) fill(isFirst, "This page cannot be shown now", []);
    main.append(alertLine(explained(error)), actionRow(actionButton("Try again", () => again())));
  }
}

/**
 * Load the page again, which is that of the results once somebody has signed in.
 * @param {boolean} isFirst
 */
function showResults(isFirst) {
  if (hasAsked) return location.reload();
  fill(isFirst, "Results", [paragraph(link(location.href, "Show the results"))]); // signed in elsewhere
}

/**
 * Return who is signed in, after asking for a token if nobody is.
 * @returns {Promise<Me>}
 */
async function signedIn() {
  const { me: found, reason } = await api.get("/api/sign-in");
  if (!found && SIGN_IN_CODES.includes(reason)) await askForToken(reason);
  return found ?? api.get("/api/me");
}

/**
 * Return who is signed in by a one-time link: also who was before, if the link is no longer valid.
 * @param {string} code
 * @returns {Promise<Me>}
 */
async function signedInBy(code) {
  try {
    return await api.post("/api/sign-in", { token: code }, { again: true });
  } catch (error) {
    const { me: found } = await api.get("/api/sign-in");
    if (!found) await askForToken(error instanceof Refused ? error.code : "");
    return found ?? api.get("/api/me");
  }
}

/**
 * Ask for a token. Whoever signs in as somebody else than before starts afresh: the screen is not theirs.
 * @param {string} reason
 */
async function askForToken(reason) {
  /** @type {Me | null} */
  let now = null;
  await signIn(reason, async (token) => (now = await api.post("/api/sign-in", { token }, { again: true })));
  hasAsked = true;
  if (!me || me.member === /** @type {Me | null} */ (/** @type {unknown} */ (now))?.member) return;
  await startAfresh();
}

/**
 * Load the console for whoever is signed in now: what waits here is not sent in another's name.
 * @returns {Promise<never>}
 */
function startAfresh() {
  history.replaceState({ at, before: me?.member }, "", addressOf("/console"));
  location.reload();
  return new Promise(() => {});
}

/** Return the line that says why this tab has started afresh, if it has. */
function afreshLine() {
  if (!me || !before || before === me.member) return [];
  const words =
    `This browser is now signed in as ${me.member}. This tab was that of ${before}, and has started ` +
    `afresh: nothing that was begun here was done in the name of ${me.member}.`;
  return [el("p", { class: "warning", role: "status" }, words)];
}

/**
 * Show a heading and content in a new `main`: what the screen before still adds to its own is not seen.
 * @param {boolean} isFirst
 * @param {string} title
 * @param {Node[]} content
 */
function fill(isFirst, title, content) {
  const heading = el("h1", { tabindex: "-1" }, title);
  document.title = `${title} · openhype`;
  notice("");
  const last = main;
  main = /** @type {HTMLElement} */ (last.cloneNode(false));
  main.append(heading, ...afreshLine(), ...content);
  last.replaceWith(main);
  if (isFirst) return;
  scrollTo(0, 0);
  heading.focus({ preventScroll: true }); // as a browser does with a page that it loads
}

/**
 * Show another screen of the console.
 * @param {string} path
 * @param {{replace?: boolean}} [options] `replace`: in place of the present entry of the history
 */
function go(path, { replace = false } = {}) {
  noteScroll();
  if (!replace) at += 1;
  history[replace ? "replaceState" : "pushState"]({ at }, "", addressOf(path));
  void showPath(false);
}

/** Show the screen that Back or Forward leads to, unless what is shown once has to be copied before. */
async function followHistory() {
  const step = (history.state?.at ?? at) - at;
  if (isReturning) {
    isReturning = false;
    return;
  }
  if (step && isWaiting()) {
    isReturning = true;
    history.go(-step);
    if (await mayGo()) history.go(step);
    return;
  }
  at += step;
  await showPath(false);
}

/**
 * Follow a link within the console without loading the page again.
 * @param {MouseEvent} event
 */
async function follow(event) {
  const target = event.target instanceof Element ? event.target.closest("a") : null;
  if (
    !target ||
    event.defaultPrevented ||
    event.button ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const isConsole = target.origin === location.origin && /^\/console(\/|$)/.test(serverPath(target));
  if (
    !isConsole ||
    target.target ||
    target.hasAttribute("download") ||
    (target.hash && target.pathname === location.pathname)
  )
    return;
  event.preventDefault();
  if (!(await mayGo())) return;
  before = "";
  go(target.pathname + target.search);
}

/** @param {Me} signedIn */
function showBar(signedIn) {
  const pages = PAGES.filter(
    ({ role, isOnly }) =>
      role === signedIn.role || (!isOnly && ROLES.indexOf(signedIn.role) > ROLES.indexOf(role)),
  );
  const items = pages.map(({ path, label }) => {
    const isHere = serverPath() === path;
    return el("li", {}, link(path, label, isHere ? { "aria-current": "page" } : {}));
  });
  const who = el(
    "span",
    { class: "quiet who" },
    signedIn.member === signedIn.role ? signedIn.role : `${signedIn.member} (${signedIn.role})`,
  );
  const leave = signedIn.by === "cookie" ? [actionButton("Sign out", signOut, { className: "plain" })] : [];
  const bar = /** @type {HTMLElement} */ (document.getElementById("bar"));
  if (bar.dataset.shown === `${signedIn.member} ${location.pathname}`) return;
  bar.dataset.shown = `${signedIn.member} ${location.pathname}`;
  bar.replaceChildren(
    link("/console", "openhype", { class: "brand" }),
    el("nav", { "aria-label": "Console" }, el("ul", {}, ...items)),
    el("div", { class: "account" }, who, ...leave),
  );
}

async function signOut() {
  if (!(await mayGo())) return;
  await api.post("/api/sign-out", {}, { again: true });
  location.assign(addressOf("/console"));
}
