// @ts-check
/**
 * The stage of a trial: one picture, or several side by side with a gap between them. Sizes and places are
 * whole device pixels, so that nothing is smoothed on the way from a decoded picture to the display.
 */

const SMALLEST_CSS = 96;
const BESIDE_CSS = 32;
const AROUND_CSS = 180; // height of the elements above and below a picture
const CAPTION_CSS = 34; // with its distance from the pictures
const THIRD_ANSWER_CSS = 56; // a button below the others, with its distance
const CONTROLS_CSS = 56; // of clips, with their distance
const LEAST_SHARE = 0.75;
const GAP_CSS = { least: 8, most: 24, share: 0.02 };

/**
 * @typedef {object} StageSize
 * @property {number} css width and height of one picture, in CSS pixels
 * @property {number} px the same in device pixels
 * @property {number} [pictures] how many stand side by side, 1 if left out
 * @property {number} [gap_px] between two of them, in device pixels
 */

/**
 * Return the size at which all pictures and masks are shown, real and fake alike: as large as the window
 * allows, up to the study's largest width. Each picture pixel maps to an integer number of device pixels if
 * at least three quarters of that width remain; then nothing is smoothed, otherwise everything is
 * (docs/protocol.md, Size). Several pictures share the window's width.
 * @param {number} size_px width of the stored pictures
 * @param {number} largest_css
 * @param {{width: number, height: number, pixel_ratio: number}} display the window, in CSS px
 * @param {{pictures?: number, hasCaptions?: boolean, hasThirdAnswer?: boolean, hasControls?: boolean}} [row]
 *   how many pictures side by side, whether words or controls stand below, and whether an answer stands below
 *   the others
 * @returns {Required<StageSize> & {quality: "pixelated" | "high"}}
 */
export function stageSize(
  size_px,
  largest_css,
  { width, height, pixel_ratio },
  { pictures = 1, hasCaptions = false, hasThirdAnswer = false, hasControls = false } = {},
) {
  const gap_css = Math.min(GAP_CSS.most, Math.max(GAP_CSS.least, GAP_CSS.share * width));
  const gap_px = pictures > 1 ? Math.floor(gap_css * pixel_ratio) : 0;
  const wide_css = (width - BESIDE_CSS - ((pictures - 1) * gap_px) / pixel_ratio) / pictures;
  const below_css =
    (hasCaptions ? CAPTION_CSS : 0) +
    (hasThirdAnswer ? THIRD_ANSWER_CSS : 0) +
    (hasControls ? CONTROLS_CSS : 0);
  const high_css = height - AROUND_CSS - below_css;
  const room_css = Math.max(SMALLEST_CSS / pictures, Math.min(wide_css, high_css, largest_css));
  const room_px = Math.floor(room_css * pixel_ratio);
  const whole_px = Math.floor(room_px / size_px) * size_px;
  const isWhole = whole_px >= LEAST_SHARE * room_px;
  const px = isWhole ? whole_px : room_px;
  return { css: px / pixel_ratio, px, quality: isWhole ? "pixelated" : "high", pictures, gap_px };
}

/**
 * Return the size of the whole stage, with the gaps, in device and CSS pixels.
 * @param {StageSize} size
 */
export function rowOf({ css, px, pictures = 1, gap_px = 0 }) {
  const width_px = pictures * px + (pictures - 1) * gap_px;
  return {
    width_px,
    height_px: px,
    width_css: (width_px * css) / px,
    height_css: css,
    gap_css: (gap_px * css) / px,
  };
}

/**
 * Return where each of `count` pictures begins on a canvas that they fill as squares of its height.
 * @param {number} count
 * @param {{width: number, height: number}} canvas in device pixels
 * @returns {number[]} distances from the left edge
 */
export function placesOn(count, { width, height }) {
  return Array.from({ length: count }, (_, i) => (count > 1 ? (i * (width - height)) / (count - 1) : 0));
}

/**
 * Tell the style sheet how wide the row of pictures is.
 * @param {HTMLElement} main
 * @param {StageSize} size
 */
export function styleRow(main, size) {
  const { width_css, gap_css } = rowOf(size);
  main.style.setProperty("--row-css", `${width_css}px`);
  main.style.setProperty("--gap-css", `${gap_css}px`);
}
