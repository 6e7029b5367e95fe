// Notes what stands on the canvas of the page, or of a frame in it, after each picture that is drawn on it.
// While a picture is shown only a copy is taken, so that flashes stay on time; `look()` then reads the copies
// and returns what they hold. Canvases of workers cannot be read: the page is made to draw by itself, as in a
// browser that has none.
(() => {
  delete HTMLCanvasElement.prototype.transferControlToOffscreen;
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  const taken = [];

  CanvasRenderingContext2D.prototype.drawImage = function (...args) {
    draw.apply(this, args);
    const { screen } = document.body.dataset;
    if (this.canvas.isConnected && screen !== "done")
      taken.push([facts(this.canvas), createImageBitmap(this.canvas)]);
  };

  // What was drawn since the last look.
  window.look = () =>
    Promise.all(
      taken.splice(0).map(async ([what, copy]) => ({ ...what, ...pixels(await copy, what.width_px) })),
    );

  // What the images of the page show, at the size of their files.
  window.images = () =>
    Promise.all(
      [...document.querySelectorAll("main img")].map(async (image) => {
        image.loading = "eager";
        await image.decode();
        return pixels(image, image.naturalWidth);
      }),
    );

  function facts(canvas) {
    const box = canvas.getBoundingClientRect();
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return {
      width_px: canvas.width,
      height_px: canvas.height,
      box: { x: box.x, y: box.y, width: box.width, height: box.height },
      is_seen: at === canvas && getComputedStyle(canvas).visibility === "visible",
      screen: document.body.dataset.screen,
    };
  }

  function pixels(picture, width) {
    const each = width / (window.pictures_px ?? width);
    const size = Number.isInteger(each) ? width : 32;
    const pen = Object.assign(document.createElement("canvas"), { width: size, height: size }).getContext(
      "2d",
      {
        alpha: false,
        willReadFrequently: true,
      },
    );
    pen.imageSmoothingQuality = "high";
    draw.call(pen, picture, 0, 0, size, size);
    const { data } = pen.getImageData(0, 0, size, size);
    return Number.isInteger(each)
      ? { digest: digest(data, width, each) }
      : { thumbnail: Array.from(data).filter((_, i) => i % 4 < 3) };
  }

  // Of one pixel in each square of `each` pixels, which must all be the same.
  function digest(bytes, width, each) {
    const pixels = new Uint32Array(bytes.buffer);
    let sum = 0,
      n = 0;
    for (let y = 0; y < width; y += each)
      for (let x = 0; x < width; x += each) {
        const pixel = pixels[y * width + x];
        for (let k = 0; k < each * each; k += 1)
          if (pixels[(y + Math.floor(k / each)) * width + x + (k % each)] !== pixel)
            return "not enlarged by whole pixels";
        n += 1;
        sum = (sum + Math.imul(pixel, Math.imul(n, 2654435761) | 1)) >>> 0;
      }
    return sum;
  }
})();
