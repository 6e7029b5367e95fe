/**
 * Adds a performance mark whenever the displayed content changes, for any presenter: pictures on canvases,
 * `<img>`s, or nothing. A frame shows the content of the last mark before it.
 */

const sources = new WeakMap(); // pictures and the address each was loaded from
const drawn = new WeakMap(); // content of each canvas
let marked = "blank";
let isDue = false;

/** @param {string} url */
const nameOf = (url) => new URL(url, location.href).pathname.split("/").pop();

function standing() {
  for (const element of document.querySelectorAll("canvas, img")) {
    if (element.style.visibility === "hidden" || element.style.display === "none") continue;
    const name =
      element instanceof HTMLCanvasElement
        ? drawn.get(element)
        : element.getAttribute("src") && nameOf(element.src);
    if (name) return name;
  }
  return "blank";
}

/** Marks are added after the callback: content that it cleared and redrew was never seen. */
function changed() {
  if (isDue) return;
  isDue = true;
  queueMicrotask(() => {
    isDue = false;
    const now = standing();
    if (now === marked) return;
    marked = now;
    performance.mark(`openhype:${now}`);
  });
}

const pen = CanvasRenderingContext2D.prototype;
const { drawImage, clearRect } = pen;
pen.drawImage = function (picture, ...rest) {
  drawImage.call(this, picture, ...rest);
  drawn.set(this.canvas, sources.get(picture) ?? nameOf(picture.src));
  changed();
};
pen.clearRect = function (...rest) {
  clearRect.apply(this, rest);
  drawn.delete(this.canvas);
  changed();
};
const decode = globalThis.createImageBitmap;
globalThis.createImageBitmap = async (source, ...rest) => {
  const bitmap = await decode(source, ...rest);
  if (source instanceof HTMLImageElement) sources.set(bitmap, nameOf(source.src));
  return bitmap;
};
new MutationObserver(changed).observe(document, {
  subtree: true,
  childList: true,
  attributes: true,
  attributeFilter: ["src", "style", "width", "height"],
});
