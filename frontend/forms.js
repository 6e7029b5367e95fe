// @ts-check
/**
 * Sends the forms of the researcher's pages with the digest of their bodies, which CloudFront's signature
 * includes. Without this script they work too, but not behind CloudFront.
 */

import { digestHeader } from "./api.js";

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.method !== "post") return;
  event.preventDefault();
  void send(form, event.submitter);
});

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} button
 */
async function send(form, button) {
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form))).toString();
  const headers = { "Content-Type": "application/x-www-form-urlencoded", ...(await digestHeader(body)) };
  button?.setAttribute("disabled", "");
  try {
    const reply = await fetch(form.action, { method: "POST", redirect: "manual", headers, body });
    // signed in or out: the page is another one now
    if (reply.type === "opaqueredirect") return location.reload();
    replaceMain(await reply.text());
  } catch (error) {
    console.warn("the form was not sent:", error);
    say(form, "The server cannot be reached. Check the connection, then try again.");
  } finally {
    button?.removeAttribute("disabled");
  }
}

/**
 * Show the main part of a page that the server sent instead of a redirection.
 * @param {string} html
 */
function replaceMain(html) {
  const shown = document.querySelector("main");
  const sent = new DOMParser().parseFromString(html, "text/html").querySelector("main");
  if (!shown || !sent) throw new Error("the reply is not a page");
  shown.replaceWith(sent);
  const field = sent.querySelector("input");
  field?.focus();
}

/**
 * @param {HTMLFormElement} form
 * @param {string} text
 */
function say(form, text) {
  const line = form.querySelector("[role=alert]") ?? form.appendChild(document.createElement("p"));
  line.setAttribute("role", "alert");
  line.textContent = text;
}
