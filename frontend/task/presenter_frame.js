// @ts-check
/** Runs in the frame of `framed_backend.js`: the page's own back end, controlled by messages. */

import { makePageBackend } from "./page_backend.js";
import { hasElementTiming } from "./element_timing.js";
import { NeverCame } from "../shared/patience.js";

addEventListener(
  "message",
  ({ data: size, ports: [page] }) => {
    document.documentElement.style.overflow = "hidden";
    document.documentElement.style.setProperty("filter", "none", "important"); // as style.css on the page
    document.body.style.margin = "0";
    const backend = makePageBackend(document.body, size, document.title);
    page.onmessage = async ({ data: { serial, phases, frame_ms } }) => {
      try {
        const { settled, wasDrawn } = await backend.show(serial, phases, frame_ms, (phase) => {
          page.postMessage({ serial, phase: phase ? phases.indexOf(phase) : phases.length });
        });
        page.postMessage({ serial, wasDrawn });
        page.postMessage({ serial, shown: await settled });
      } catch (error) {
        if (!(error instanceof NeverCame)) throw error; // without frames: the page has a deadline of its own
      } finally {
        for (const { pictures = [] } of phases) for (const picture of pictures) picture.close();
      }
    };
    page.postMessage({ isReady: hasElementTiming() });
  },
  { once: true },
);
