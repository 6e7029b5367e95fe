/**
 * Marks what a page has on show whenever that changes, whoever draws it: pictures on canvases, `<img>`s,
 * or nothing. A frame shows what was marked last before it.
 */

const sources = new WeakMap(); // pictures by the address that they came from
const drawn = new WeakMap(); // what stands on a canvas
let marked = "blank";
let isDue = false;

/** @param {string} url */
const nameOf = (url) => new URL(url, location.href).pathname.split("/").pop();

function standing() {
  for (const element of document.querySelectorAll("canvas, img")) {
    if (element.style.visibility === "hidden" || element.style.display === "none") continue;
    const name = element instanceof HTMLCanvasElement ? drawn.get(element) : element.getAttribute("src") && nameOf(element.src);
    if (name) return name;
  }
  return "blank";
}

/** Marks come after the callback that changed something: what it cleared only to draw anew was never seen. */
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
