// @ts-check
/** The choice of a language, in each language's own name. */

import { CHOOSE, LANGUAGES, direction } from "../texts/languages.js";
import { el } from "../shared/elements.js";
import { choose } from "./study_texts.js";
import { currentLanguage, text } from "../texts/texts.js";

/**
 * Return the choice, if the study has one; empty otherwise.
 * @param {import("./study_texts.js").Spoken} study
 * @param {(language: string) => void} onChosen called once the language is loaded
 */
export function languagePicker(study, onChosen) {
  if (study.language !== CHOOSE) return [];
  const buttons = Object.entries(LANGUAGES).map(([language, name]) => {
    const isCurrent = language === currentLanguage();
    const button = el(
      "button",
      { type: "button", lang: language, dir: direction(language), "aria-pressed": `${isCurrent}` },
      name,
    );
    button.addEventListener("click", async () => {
      await choose(study, language);
      onChosen(language);
    });
    return button;
  });
  return [el("nav", { class: "languages", "aria-label": text("language.choose") }, ...buttons)];
}
