/** Which of three pictures is the odd one out? A judgment of tests; see odd_one_out.py. */

import { el } from "../../frontend/shared/elements.js";

export const judgment = {
  heading: "Which one is the odd one out?",
  progress: (n, total) => `Row ${n} of ${total}`,
  partDone: ({ part, parts }) => `Part ${part} of ${parts} is done.`,
  press: () => ["For each row, press F, G or J, or use the buttons."],
  tap: () => "For each row, tap a button.",
  repeated: (response, n) => `Your last ${n} answers were all “${response}”.`,
  choices: [
    { answer: "first", label: "First", keys: ["f"] },
    { answer: "second", label: "Second", keys: ["g"] },
    { answer: "third", label: "Third", keys: ["j"] },
  ],
  instructions: () => [
    el("p", {}, "You will see three pictures, side by side. Two are real, the other was made by a computer."),
  ],
  afterFlash: "",
  shares: () => "Each place is right as often as the others.",
  verdict: (response, wasCorrect) => (wasCorrect ? `✓ Right: ${response}` : `✗ Not this time`),
  pictures: 3,
  captions: ["1", "2", "3"],
};
