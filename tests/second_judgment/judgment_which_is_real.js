/** Which of two pictures is real? A judgment of tests; see which_is_real.py. */

import { el } from "./screens.js";

export const judgment = {
  heading: "Which one is real?",
  progress: (n, total) => `Pair ${n} of ${total}`,
  partDone: ({ part, parts }) => `Part ${part} of ${parts} is done.`,
  press: () => ["For each pair, press F for left or J for right, or use the buttons."],
  tap: () => "For each pair, tap “Left” or “Right”.",
  repeated: (response, n) => `Your last ${n} answers were all “${response}”.`,
  choices: [
    { answer: "left", label: "Left", keys: ["f"] },
    { answer: "right", label: "Right", keys: ["j"] },
  ],
  instructions: () => [el("p", {}, "You will see two pictures, side by side. One is real, the other was made by a computer.")],
  afterFlash: "",
  shares: () => "Each side is right as often as the other.",
  verdict: (response, wasCorrect) => (wasCorrect ? `✓ Right: ${response}` : `✗ Not this time`),
  async arrange([left, right]) {
    const { width } = left;
    const canvas = new OffscreenCanvas(width, width);
    const pen = canvas.getContext("2d", { alpha: false });
    pen.fillStyle = "gray";
    pen.fillRect(0, 0, width, width);
    pen.drawImage(left, 0, width / 4, width / 2, width / 2);
    pen.drawImage(right, width / 2, width / 4, width / 2, width / 2);
    return canvas.transferToImageBitmap();
  },
};
