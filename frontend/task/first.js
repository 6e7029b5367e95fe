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
   * The texts of this file, from the catalogues: it runs where modules do not. A test compares them.
   * @type {Record<string, Record<string, string>>}
   */
  var TEXTS = {
    en: {
      "page.loading": "One moment…",
      "page.too_old": "This browser is too old",
      "page.too_old_help":
        "Please open the same link in an up-to-date browser, for example Firefox, Chrome, Edge or " +
        "Safari. Nothing was recorded.",
      "page.not_loaded": "The page could not be loaded",
      "page.not_loaded_help":
        "Perhaps the connection was lost for a moment. Every answer that you gave is stored.",
      "page.load_again": "Load the page again",
    },
    de: {
      "page.loading": "Einen Moment …",
      "page.too_old": "Dieser Browser ist zu alt",
      "page.too_old_help":
        "Bitte öffnen Sie denselben Link in einem aktuellen Browser, zum Beispiel Firefox, Chrome, " +
        "Edge oder Safari. Es wurde nichts gespeichert.",
      "page.not_loaded": "Die Seite konnte nicht geladen werden",
      "page.not_loaded_help":
        "Vielleicht war die Verbindung kurz unterbrochen. Jede Antwort, die Sie gegeben haben, ist " +
        "gespeichert.",
      "page.load_again": "Seite neu laden",
    },
    es: {
      "page.loading": "Un momento…",
      "page.too_old": "Este navegador es demasiado antiguo",
      "page.too_old_help":
        "Abra el mismo enlace en un navegador actualizado, por ejemplo Firefox, Chrome, Edge o Safari. " +
        "No se ha registrado nada.",
      "page.not_loaded": "No se ha podido cargar la página",
      "page.not_loaded_help":
        "Quizá se perdió la conexión por un momento. Todas las respuestas que ha dado están guardadas.",
      "page.load_again": "Volver a cargar la página",
    },
    fr: {
      "page.loading": "Un instant…",
      "page.too_old": "Ce navigateur est trop ancien",
      "page.too_old_help":
        "Veuillez ouvrir le même lien dans un navigateur à jour, par exemple Firefox, Chrome, Edge ou " +
        "Safari. Rien n’a été enregistré.",
      "page.not_loaded": "La page n’a pas pu être chargée",
      "page.not_loaded_help":
        "La connexion a peut-être été interrompue un instant. Toutes les réponses que vous avez " +
        "données sont enregistrées.",
      "page.load_again": "Recharger la page",
    },
    pt: {
      "page.loading": "Um momento…",
      "page.too_old": "Este navegador é antigo demais",
      "page.too_old_help":
        "Abra o mesmo link em um navegador atualizado, por exemplo Firefox, Chrome, Edge ou Safari. " +
        "Nada foi registrado.",
      "page.not_loaded": "Não foi possível carregar a página",
      "page.not_loaded_help":
        "Talvez a conexão tenha caído por um momento. Todas as respostas que você deu estão guardadas.",
      "page.load_again": "Recarregar a página",
    },
    ja: {
      "page.loading": "少々お待ちください…",
      "page.too_old": "このブラウザーは古すぎます",
      "page.too_old_help":
        "Firefox、Chrome、Edge、Safariなどの最新のブラウザーで同じリンクを開いてください。何も記録されていません。",
      "page.not_loaded": "ページを読み込めませんでした",
      "page.not_loaded_help":
        "接続が一時的に切れた可能性があります。これまでの回答はすべて保存されています。",
      "page.load_again": "ページを再読み込みする",
    },
    zh: {
      "page.loading": "请稍候…",
      "page.too_old": "此浏览器版本过旧",
      "page.too_old_help":
        "请用最新的浏览器打开同一链接，例如 Firefox、Chrome、Edge 或 Safari。没有记录任何内容。",
      "page.not_loaded": "页面无法加载",
      "page.not_loaded_help": "可能是连接暂时中断。您给出的每个回答都已保存。",
      "page.load_again": "重新加载页面",
    },
    ar: {
      "page.loading": "لحظة من فضلك…",
      "page.too_old": "هذا المتصفح قديم جدًا",
      "page.too_old_help":
        "يُرجى فتح الرابط نفسه في متصفح حديث، مثل Firefox أو Chrome أو Edge أو Safari. لم يُسجَّل أي شيء.",
      "page.not_loaded": "تعذّر تحميل الصفحة",
      "page.not_loaded_help": "ربما انقطع الاتصال للحظة. كل إجابة قدّمتها محفوظة.",
      "page.load_again": "إعادة تحميل الصفحة",
    },
  };
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
