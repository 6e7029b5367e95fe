// @ts-check
/**
 * Runs before the modules, and where they cannot run: reports browsers that are too old and missing files,
 * in the browser's language, and requests the study while the modules load. Plain JavaScript of 2009 (ES5),
 * no module.
 */
(function () {
  "use strict";
  var body = document.body;
  var page = /** @type {import("./main.js").Page & typeof globalThis} */ (window);
  var here = /** @type {HTMLScriptElement} */ (document.currentScript).src;
  /**
   * By language, the texts that this file names: it runs where modules do not. The server fills them in from
   * the catalogues (`embedded_texts.py`).
   * @type {Record<string, Record<string, string>>}
   */
  var TEXTS = {};
  var language = knownLanguage();
  var texts = TEXTS[language];

  /** Modules that check the display before consent, for studies with flashes. */
  var NEEDED_FOR_FLASHES = [
    "fitness.js",
    "display.js",
    "frames.js",
    "full_screen.js",
    "window_fit.js",
    "../texts/more_en.js",
  ];

  /**
   * @param {string} title
   * @param {string} text
   * @param {string} [again] label of a button that reloads the page
   */
  function say(title, text, again) {
    var main = document.getElementById("main");
    if (!main || body.getAttribute("data-unfit")) return;
    body.setAttribute("data-unfit", "true");
    body.setAttribute("data-screen", "error");
    main.textContent = "";
    add(main, "h1", title);
    add(main, "p", text);
    if (!again) return;
    var button = add(add(main, "div", ""), "button", again);
    button.className = "primary";
    button.onclick = function () {
      location.reload();
    };
  }

  /**
   * @param {HTMLElement} parent
   * @param {string} tag
   * @param {string} text
   */
  function add(parent, tag, text) {
    var element = document.createElement(tag);
    element.textContent = text;
    parent.appendChild(element);
    return element;
  }

  function sayTooOld() {
    say(texts["page.too_old"], texts["page.too_old_help"]);
  }

  /** Return the first of the browser's languages that has texts; English if none has. */
  function knownLanguage() {
    var preferred = /** @type {Partial<Navigator>} */ (navigator).languages || [navigator.language || "en"];
    for (var i = 0; i < preferred.length; i += 1) {
      var name = catalogueOf(String(preferred[i]).toLowerCase());
      if (Object.prototype.hasOwnProperty.call(TEXTS, name)) return name;
    }
    return "en";
  }

  /**
   * Return the language of the texts for a tag, as in languages.js; "" if they are in another script.
   * @param {string} tag
   */
  function catalogueOf(tag) {
    var parts = /^([a-z]+)(?:[-_]([a-z]{3})(?![a-z]))?(.*?)(?:[-_][a-z0-9](?:[-_].*)?)?$/.exec(tag);
    if (!parts) return "";
    var name = parts[1] === "cmn" ? "zh" : parts[1] === "arb" ? "ar" : parts[1];
    if (parts[2] && name + parts[2] !== "zhcmn" && name + parts[2] !== "ararb") return "";
    var script = /[-_]([a-z]{4})(?![a-z0-9])/.exec(parts[3]);
    var isTraditional = name === "zh" && /[-_](tw|hk|mo)(?![a-z0-9])/.test(parts[3]);
    var own = name === "ja" ? "jpan" : name === "zh" ? "hans" : name === "ar" ? "arab" : "latn";
    return (script ? script[1] !== own : isTraditional) ? "" : name;
  }

  /** Show until the study is known that the page is loading. */
  function sayLoading() {
    var place = document.querySelector(".loading-page");
    if (!place || language === "en") return;
    place.textContent = texts["page.loading"];
    document.documentElement.lang = language;
    document.documentElement.dir = language === "ar" ? "rtl" : "ltr";
  }

  /** @param {ErrorEvent} event */
  function onError(event) {
    var target = /** @type {Element | null} */ (event.target);
    if (target && target.tagName === "SCRIPT") {
      say(texts["page.not_loaded"], texts["page.not_loaded_help"], texts["page.load_again"]);
    } else if (event.error && event.error.name === "SyntaxError") {
      sayTooOld();
    }
  }

  page.addEventListener("error", onError, true);
  sayLoading();
  var script = document.createElement("script");
  var dialog = /** @type {Partial<HTMLDialogElement>} */ (document.createElement("dialog"));
  var isKnown =
    "noModule" in script &&
    /** @type {Partial<Window>} */ (page).fetch &&
    page.Promise &&
    page.URLSearchParams &&
    page.AbortController &&
    page.ReadableStream &&
    /** @type {Partial<Window>} */ (page).createImageBitmap &&
    dialog.showModal &&
    /** @type {Partial<HTMLElement>} */ (body).replaceChildren &&
    Object.fromEntries;
  if (!isKnown) return sayTooOld();
  if (language !== "en") preload("../texts/text_" + language + ".js");

  var files = here.replace(/^[a-z]+:\/\/[^/]*/, "");
  var base = files.slice(0, Math.max(files.lastIndexOf("/assets/"), 0)); // as in base_path.js
  var study = /^\/s\/([^/]+)\/?$/.exec(location.pathname.slice(base.length));
  if (!study || body.getAttribute("data-demo")) return;
  var path = "/api/studies/" + encodeURIComponent(decoded(study[1]));
  var reply = page.fetch(base + path, { credentials: "omit" });
  page.openhypeEarly = { path: path, reply: reply };
  reply
    .then(function (/** @type {Response} */ found) {
      return found.clone().json();
    })
    .then(function (/** @type {import("../../types/api.js").PublicStudy} */ told) {
      if (TEXTS[told.language] && told.language !== "en" && told.language !== language)
        preload("../texts/text_" + told.language + ".js");
      if (told.flashes) NEEDED_FOR_FLASHES.forEach(preload);
    })
    .then(null, function () {}); // reported by the code that awaits the study

  /** @param {string} name */
  function decoded(name) {
    try {
      return decodeURIComponent(name);
    } catch (_error) {
      return name;
    }
  }

  /** @param {string} name */
  function preload(name) {
    var link = document.createElement("link");
    link.rel = "modulepreload";
    link.href = here.replace("first.js", name);
    document.head.appendChild(link);
  }
})();
