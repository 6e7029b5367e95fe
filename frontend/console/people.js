// @ts-check
/** Members and their tokens: who may use this server, and as what. */

import {
  actionButton,
  details,
  el,
  link,
  paragraph,
  quiet,
  section,
  sideBySide,
  statusLine,
} from "./elements.js";
import { choiceField, numberField, textField, valuesOf } from "./fields.js";
import { counted, moment } from "./format.js";
import { commandForm, isConfirmed } from "./forms.js";
import { mayGo, shownOnce } from "./shown_once.js";
import { pathTo } from "./paths.js";
import { copier } from "../shared/copy_button.js";

/**
 * @typedef {import("../../types/api.js").TokenFacts} Token
 * @typedef {import("../../types/api.js").MemberLine} Member
 * @typedef {import("./main.js").Context} Context
 */

const ROLES = /** @type {Record<string, string>} */ ({
  submitter: "Sends models to leaderboard studies, and sees its own submissions only.",
  researcher: "Makes, runs, pays and deletes studies; manages submitters.",
  owner: "May do everything, and decides who else may.",
});
const DAYS = 365;
const MOST_DAYS = 3650;

export const title = () => "People";

/**
 * @param {HTMLElement} main
 * @param {Record<string, string>} _parameters
 * @param {Context} context
 */
export async function show(main, _parameters, context) {
  const { api, me, signal } = context;
  const told = statusLine();
  const list = el("ul", { class: "people" });
  const removed = el("ul", { class: "people" });
  const past = details("Removed", removed);
  /** @type {Map<string, ReturnType<typeof memberItem>>} */
  const items = new Map();

  /** @param {string} [words] what has been done */
  async function refresh(words = "") {
    /** @type {{members: Member[]}} */
    const { members } = await api.get("/api/members", { signal });
    for (const member of members) {
      if (!items.has(member.member)) items.set(member.member, memberItem(member, context, refresh));
      const item = /** @type {ReturnType<typeof memberItem>} */ (items.get(member.member));
      item.update(member);
      const home = member.removed_at ? removed : list;
      if (item.element.parentElement !== home) home.append(item.element);
    }
    past.hidden = removed.childElementCount === 0;
    told.textContent = words;
  }

  const intro = quiet(
    "Everybody here has a name, a role and tokens of their own. A token signs in to this console and " +
      "to programs, and can be revoked at any time. ",
    ...(me.role === "owner" ? ["What was done is in the ", link("/console/audit", "audit log"), "."] : []),
  );
  main.append(intro, addForm(context, refresh), told, section("Members", list), past);
  await refresh();
}

/**
 * @param {Context} context
 * @param {(words: string) => Promise<void>} refresh
 */
function addForm({ api, me }, refresh) {
  const member = textField(
    "Name",
    { required: "", maxlength: "64", autocapitalize: "off", pattern: "[A-Za-z0-9][A-Za-z0-9._@+\\-]*" },
    "Letters, digits and . _ @ + - ; an e-mail address will do.",
  );
  const roles = me.role === "owner" ? Object.keys(ROLES) : ["submitter"];
  const role = choiceField(
    "Role",
    roles.map((name) => [name, name]),
    ROLES.submitter,
  );
  role.input.addEventListener("change", () => {
    role.hint.textContent = ROLES[role.input.value];
  });
  const form = commandForm([member.element, role.element], "Add", async () => {
    const name = member.value();
    await api.post("/api/members", valuesOf({ member, role }));
    member.input.value = "";
    await refresh(`${name} was added. Make a token for them next.`);
  });
  return section("Add somebody", form);
}

/**
 * @param {Member} first
 * @param {Context} context
 * @param {(words: string) => Promise<void>} refresh
 */
function memberItem(first, { api, me }, refresh) {
  const { member } = first;
  const heading = el("h3", { tabindex: "-1" }, member);
  const facts = quiet();
  const rows = el("ul", { class: "tokens" });
  const shown = el("div");
  const create = tokenForm(member, (label, days) => makeToken(label, days));
  const remove = actionButton("Remove", removeMember, { className: "plain", name: `Remove ${member}` });
  const controls = sideBySide(create, remove);
  const element = el("li", {}, heading, facts, rows, shown, controls);
  /** @type {Map<string, ReturnType<typeof tokenRow>>} */
  const known = new Map();

  /**
   * @param {string} label
   * @param {number} days
   */
  async function makeToken(label, days) {
    if (!(await mayGo(shown))) return false;
    const made = await api.post(pathTo`/api/members/${member}/tokens`, { label, days });
    const secret = newToken(member, made.secret, made.expires_at);
    shown.replaceChildren(secret.element);
    await refresh("");
    secret.focus();
    return true;
  }

  async function removeMember() {
    const words =
      `${member} can no longer sign in, and every token of theirs stops working at once. What they did ` +
      "stays in the audit log.";
    if (!(await isConfirmed(`Remove ${member}?`, words, `Remove ${member}`))) return;
    await api.post(pathTo`/api/members/${member}/remove`);
    shown.replaceChildren();
    await refresh(`${member} was removed.`);
    heading.focus();
  }

  return {
    element,
    /** @param {Member} now */
    update(now) {
      const by = now.created_by ? ` by ${now.created_by}` : "";
      const since = now.created_at
        ? `added ${moment(now.created_at)}${by}`
        : "signs in with the researcher’s key";
      facts.textContent = `${now.role} · ${now.removed_at ? `removed ${moment(now.removed_at)}` : since}`;
      controls.hidden = now.removed_at !== null;
      remove.hidden = now.member === me.member || !now.created_at;
      for (const token of now.tokens) {
        if (!known.has(token.token)) {
          const row = tokenRow(token, async () => {
            await api.post(pathTo`/api/tokens/${token.token}/revoke`);
            await refresh(`The token ${token.label || token.token} of ${member} was revoked.`);
            heading.focus();
          });
          known.set(token.token, row);
          rows.append(row.element);
        }
        known.get(token.token)?.update(token);
      }
    },
  };
}

/**
 * @param {string} member
 * @param {(label: string, days: number) => Promise<boolean>} make whether it was made
 */
function tokenForm(member, make) {
  const label = textField("What it is for", { maxlength: "64" }, "Such as “laptop” or “training cluster”.");
  const limits = { min: "1", max: `${MOST_DAYS}`, value: `${DAYS}`, required: "" };
  const days = numberField("Days until it expires", limits);
  const form = commandForm([label.element, days.element], "Make the token", async () => {
    if (!(await make(label.value() ?? "", days.value() ?? DAYS))) return;
    label.input.value = "";
    whole.removeAttribute("open");
  });
  const whole = details("New token", form);
  whole.querySelector("summary")?.setAttribute("aria-label", `New token for ${member}`);
  return whole;
}

/**
 * Show a token that was just made; nothing can show it again.
 * @param {string} member
 * @param {string} secret
 * @param {string | null} expires_at
 */
function newToken(member, secret, expires_at) {
  const code = el("code", { class: "code secret", translate: "no" }, secret);
  const { button, told } = copier(secret, code, {
    label: "Copy",
    copied: "Copied.",
    selected: "Selected: copy it with your keyboard.",
  });
  const until = expires_at ? `It expires on ${moment(expires_at)}.` : "It does not expire.";
  const element = el(
    "div",
    { class: "once", role: "group", "aria-label": `New token for ${member}` },
    paragraph(el("strong", {}, `Copy this token for ${member} now: it is shown this once.`), ` ${until}`),
    code,
    button,
    told,
  );
  shownOnce(element, `The new token for ${member}`);
  return { element, focus: () => button.focus() };
}

/**
 * @param {Token} first
 * @param {() => Promise<void>} revoke
 */
function tokenRow(first, revoke) {
  const name = first.label || first.token;
  const state = el("span", { class: "quiet" });
  const button = actionButton("Revoke", revoke, { className: "plain", name: `Revoke the token ${name}` });
  const element = el("li", {}, el("span", { class: "model" }, name), state, button);
  return {
    element,
    /** @param {Token} token */
    update(token) {
      state.textContent = stateOf(token);
      button.hidden = token.revoked_at !== null;
    },
  };
}

/** @param {Token} token */
function stateOf({ token, created_at, created_by, expires_at, revoked_at }) {
  const made = `${token} · made ${moment(created_at)}${created_by ? ` by ${created_by}` : ""}`;
  if (revoked_at) return `${made} · revoked ${moment(revoked_at)}`;
  if (!expires_at) return `${made} · does not expire`;
  const days = Math.ceil((Date.parse(expires_at) - Date.now()) / 86_400_000);
  return `${made} · ${days > 0 ? `expires in ${counted(days, "day")}` : `expired ${moment(expires_at)}`}`;
}
