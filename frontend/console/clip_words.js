// @ts-check
/** The words of a screen about a study of clips: its texts are written of pictures. */

/** As in backend/stimuli/media/clip.py. */
const PICTURE = "(?<![\\w/.-])([Pp])icture(s?)(?![\\w/-]|\\.\\w)";
const SPOKEN = ["aria-label", "title"];
const VERBATIM = "input, textarea, code, pre, option:not([value]), [translate=no]";

/**
 * Have an element say clips where its texts say pictures, also those that come later.
 * @param {HTMLElement} element
 * @param {string[]} names of models, which stay as they are
 * @param {AbortSignal} signal ends it
 */
export function sayClips(element, names, signal) {
  const words = wordsOfClips(names);
  const observer = new MutationObserver((changes) => {
    for (const { target, addedNodes, type } of changes)
      for (const node of type === "childList" ? addedNodes : [target]) say(node, words);
  });
  observer.observe(element, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: SPOKEN,
  });
  signal.addEventListener("abort", () => observer.disconnect());
}

/**
 * Return what says of clips what was said of pictures.
 * @param {string[]} names
 * @returns {(text: string) => string}
 */
export function wordsOfClips(names) {
  const kept = [...names]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp([...kept.map((name) => `(?<!\\w)${name}(?!\\w)`), PICTURE].join("|"), "g");
  return (text) =>
    text.replace(pattern, (whole, first, plural) =>
      first ? `${first === "P" ? "C" : "c"}lip${plural}` : whole,
    );
}

/**
 * @param {Node} node
 * @param {(text: string) => string} words
 */
function say(node, words) {
  const near = node instanceof Element ? node : node.parentElement;
  if (!near || near.closest(VERBATIM)) return;
  if (node instanceof Text) {
    const said = words(node.data);
    if (said !== node.data) node.data = said;
  }
  if (!(node instanceof Element)) return;
  for (const name of SPOKEN) {
    const text = node.getAttribute(name);
    if (text && words(text) !== text) node.setAttribute(name, words(text));
  }
  for (const child of node.childNodes) say(child, words);
}
