// @ts-check
/** What runs in the witness's frame (`framed_witness.js`): it watches one sequence after the other and tells what was presented. */

import { hasElementTiming, makeProbes } from "./probes.js";
import { makeWitness } from "./witness.js";

addEventListener(
  "message",
  ({ ports: [page, worker] }) => {
    /** @type {Awaited<ReturnType<typeof makeWitness>> | null} */
    let witness = null;
    worker.onmessage = ({ data }) => witness?.follow(data.at_ms - performance.timeOrigin);
    page.onmessage = async ({ data }) => {
      if (data.durations_ms) {
        witness = await makeWitness((count) => makeProbes(document.body, count), data.durations_ms, data.anchor, data.frame_ms);
        page.postMessage({ made: data.id });
      } else {
        page.postMessage({ told: data.id, presentations: (await witness?.presentations()) ?? null });
      }
    };
    page.postMessage({ tells: hasElementTiming() });
  },
  { once: true },
);
parent.postMessage("witness", "*");
