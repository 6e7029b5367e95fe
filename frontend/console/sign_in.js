// @ts-check
/**
 * The sign-in: by a one-time link, or a dialog over whatever is there. The token, or the link's code, goes to
 * the server once, which sets a cookie that no script can read; the page stores nothing.
 */

import { actionRow, alertLine, el, explained, field } from "./elements.js";

const REASONS = /** @type {Record<string, string>} */ ({
  expired_token: "Your token has expired. Ask whoever gave it to you for a new one.",
  revoked_token: "Your token was revoked. Ask whoever gave it to you for a new one.",
  wrong_token: "Your sign-in is no longer valid. Please sign in again.",
  used_link:
    "This link has been used: it works once. If it was not you, whoever runs the server should know. " +
    "Sign in here instead.",
  expired_link:
    "This link has expired: it works for ten minutes, until the server is stopped. Sign in here instead.",
});
const CODE = /^#sign-in=(.+)$/;

/** Return whether the page's address is a one-time link. */
export function isLink() {
  return CODE.test(location.hash);
}

/**
 * Return the code of the one-time link that opened this page, "" if none did. It leaves the address, and so
 * the history. It is in the fragment, which only this page reads: programs that load links in advance do not
 * use it up.
 */
export function linkCode() {
  const code = CODE.exec(location.hash)?.[1] ?? "";
  if (code) history.replaceState(history.state, "", location.pathname + location.search);
  return code;
}

/**
 * Ask for a token until the server accepts one.
 * @param {string} reason the code for which a request was refused
 * @param {(token: string) => Promise<unknown>} send
 * @returns {Promise<void>}
 */
export function signIn(reason, send) {
  return new Promise((resolve) => {
    const dialog = el("dialog", { class: "sign-in", "aria-labelledby": "sign-in-title" });
    const input = el("input", {
      type: "password",
      id: "token",
      name: "token",
      required: "",
      autocomplete: "current-password",
      spellcheck: "false",
      autocapitalize: "off",
    });
    const token = field(
      "Your token",
      input,
      "It looks like oh_… and was shown once, when it was made for you. On a server of your own, its " +
        "terminal shows a link that signs you in, and the file with the researcher’s key, which works too.",
    );
    const failure = alertLine();
    const button = el("button", { class: "primary" }, "Sign in");
    const form = el("form", { method: "dialog" }, token.element, failure, actionRow(button));
    const why = REASONS[reason] ? [el("p", { class: "warning" }, REASONS[reason])] : [];
    dialog.append(
      el(
        "div",
        { class: "page" },
        el("p", { class: "brand" }, "openhype"),
        el("h1", { id: "sign-in-title" }, "Sign in to the console"),
        ...why,
        form,
      ),
    );
    let isDone = false;
    dialog.addEventListener("cancel", (event) => event.preventDefault()); // there is nothing to see behind it
    dialog.addEventListener("close", () => {
      if (!isDone) return dialog.showModal(); // browsers close a dialog at the second Escape in any case
      dialog.remove();
      resolve();
    });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (button.getAttribute("aria-disabled")) return;
      failure.textContent = "";
      button.setAttribute("aria-disabled", "true");
      try {
        await send(input.value.trim());
        isDone = true;
        dialog.close();
      } catch (error) {
        failure.textContent = explained(error);
        input.select();
        input.focus();
      } finally {
        button.removeAttribute("aria-disabled");
      }
    });
    document.body.append(dialog);
    dialog.showModal();
    input.focus();
  });
}
