// @ts-check
/**
 * The sign-in: a dialog over whatever is there. The token goes to the server once, which sets a cookie that
 * no script can read; the page stores nothing.
 */

import { actionRow, alertLine, el, explained, field } from "./console_elements.js";

const REASONS = /** @type {Record<string, string>} */ ({
  expired_token: "Your token has expired. Ask whoever gave it to you for a new one.",
  revoked_token: "Your token was revoked. Ask whoever gave it to you for a new one.",
  wrong_token: "Your sign-in is no longer valid. Please sign in again.",
});

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
      "It looks like oh_… and was shown once, when it was made for you. On a server of your own, the " +
        "researcher’s key works too: the terminal says which file it is in.",
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
