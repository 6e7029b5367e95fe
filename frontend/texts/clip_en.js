// @ts-check
/** The texts of studies of clips: those of the other catalogues that name pictures, and those of clips alone. */

/** @type {Record<string, string>} */
export const texts = {
  "consent.text":
    "You are invited to take part in a study of how realistic computer-made videos look.\n\nYou will see videos, one at a time, and say of each whether it is a real video or one made by a computer. You do not need to know anything beforehand.\n\nWe keep your answers, how long they took, whether you left this page meanwhile, and technical details about your screen. We do not ask for your name. The answers are used for research and may be published without anything that points to you.\n\nTaking part is voluntary. You can stop at any time by closing this page. You are given a link with which you can withdraw, then or later: your answers are deleted, and what you earned is paid all the same.",
  "consent.text.tournament":
    "You are invited to take part in a study of how realistic computer-made videos look.\n\nYou will see videos, two at a time, and say which of the two looks more real. You do not need to know anything beforehand.\n\nWe keep your answers, how long they took, whether you left this page meanwhile, and technical details about your screen. We do not ask for your name. The answers are used for research and may be published without anything that points to you.\n\nTaking part is voluntary. You can stop at any time by closing this page. You are given a link with which you can withdraw, then or later: your answers are deleted, and what you earned is paid all the same.",
  "consent.text.pair":
    "You are invited to take part in a study of how realistic computer-made videos look.\n\nYou will see pairs of videos, side by side: one video is real, the other was made by a computer. You say which one is real. You do not need to know anything beforehand.\n\nWe keep your answers, how long they took, whether you left this page meanwhile, and technical details about your screen. We do not ask for your name. The answers are used for research and may be published without anything that points to you.\n\nTaking part is voluntary. You can stop at any time by closing this page. You are given a link with which you can withdraw, then or later: your answers are deleted, and what you earned is paid all the same.",
  "check.instruction": "For this one, please press “{answer}”, whatever the video shows.",
  "practice.intro":
    "You begin with practice. Videos: {n}. After each answer you are told whether it was right.",
  "practice.offer.count": "{n} videos at the start, which do not count",
  "real_or_fake.half":
    "You will see videos, one at a time. Half of them are real. The other half were made by a computer: they are fake. They come in random order.",
  "real_or_fake.chance":
    "You will see videos, one at a time. Each one is either real, or was made by a computer: then it is fake. Both are equally likely each time, whatever came before.",
  "real_or_fake.press":
    "For each video, press {fake_key} for fake or {real_key} for real, or use the buttons.",
  "real_or_fake.tap": "For each video, tap “{fake}” or “{real}”.",
  "real_or_fake.shares_half":
    "Half of all videos are real, and the others are fake. Please take a moment with each one.",
  "real_or_fake.shares_chance":
    "About half of all videos are real, and the others are fake. Please take a moment with each one.",
  "more_real.pairs":
    "You will see two videos at a time, side by side. Say of each pair which of the two videos looks more real to you. No answer is right or wrong.",
  "more_real.sides":
    "Which video stands on the left is a matter of chance. Please take a moment with each pair.",
  "which_is_real.half":
    "You will see two videos at a time, side by side. One of them is real. The other was made by a computer: it is fake. The real one is on the left as often as on the right, in random order.",
  "which_is_real.chance":
    "You will see two videos at a time, side by side. One of them is real. The other was made by a computer: it is fake. The real one is equally likely to be on the left or on the right each time, whatever came before.",
  "which_is_real.shares_half":
    "The real video is on the left as often as on the right. Please take a moment with each pair.",
  "which_is_real.shares_chance":
    "The real video is on the left about as often as on the right. Please take a moment with each pair.",
  "picture.to_judge": "The video to judge",
  "picture.progress": "Video {n} of {total}",
  "picture.part_done":
    "Part {part} of {parts} is done: {answered} of {total} videos. All your answers are stored.",
  "pictures.to_judge": "The videos to judge, side by side: {n}",
  "pictures.ready_all":
    "The videos are shown once, at the same time, for a short or a longer time, after a countdown. Keep your eyes where the numbers stand, between the videos.",
  "pictures.ready_some":
    "The videos come at the same time, after a countdown. Some are shown once, for a short or a longer time; the others stay until you answer. Keep your eyes where the numbers stand, between the videos.",
  "offer.pictures": "Videos",
  "offer.picture_count": "{n} videos",
  "offer.picture_count_parts": "{n} videos, in {parts} parts with breaks",
  "offer.pairs": "Pairs of videos",
  "offer.flashes": "This task flashes videos",
  "offer.flashes_risk":
    "Videos appear for a fraction of a second, followed by quick patterns. If you have epilepsy, or if flashing light makes you feel unwell, please do not take part.",
  "block.loading_first": "The first videos are on their way.",
  "block.loading_all": "The videos are loading, so that none of them comes late.",
  "block.ready_flash":
    "Each video flashes once, after a countdown of 3, 2, 1. Keep your eyes where the numbers stand.",
  "block.ready_all":
    "Each video is shown once, for a short or a longer time, after a countdown. Keep your eyes where the numbers stand.",
  "block.ready_some":
    "Each video comes after a countdown. Some are shown once, for a short or a longer time; the others stay until you answer. Keep your eyes where the numbers stand.",
  "fit.cut": "The video does not fit on the screen",
  "end.early_why": "Too many videos could not be shown as they should. This is not your fault.",
  "end.early_why_paid":
    "Too many videos could not be shown as they should. This is not your fault, and you are paid for what you did.",
  "end.part_why":
    "Too many videos were not seen as planned, for example because the window was hidden, was not in full screen or was changed.",
  "test.needed":
    "To take part in the study, {share} of the real and {share} of the fake videos are needed. This says nothing about you as a worker, and you are paid for the test.",
  "test.reals": "Real videos",
  "test.fakes": "Fake videos",
  "demo.nothing_sent":
    "That was the demo. Nothing was recorded or sent, and one person’s result on a few videos says little.",
  "refused.took_part_before_help":
    "You took part in another study of ours. This one is for people who have not seen such videos before. You have done nothing wrong.",
  "trouble.undecoded_now": "A video takes very long to open.",
  "trouble.undecoded": "A video does not open",
  "trouble.undecoded_help":
    "Your browser has received a video, but does not get it open. Closing other programs and tabs may help.",
  "debrief.own": "You took {fakes} of the fakes for real and {reals} of the real videos for fake.",
  "debrief.one_share":
    "One other session with this model was wrong about {theirs} of all videos, you about {yours}.",
  "debrief.one_share_models":
    "One other session with these models was wrong about {theirs} of all videos, you about {yours}.",
  "debrief.others_share":
    "The {n} other sessions with this model were wrong about {theirs} of all videos, you about {yours}, on average.",
  "debrief.others_share_models":
    "The {n} other sessions with these models were wrong about {theirs} of all videos, you about {yours}, on average.",
  "debrief.table_share": "How often videos were judged wrong",
  "debrief.table_ms": "How long a video must be seen to be told real from fake",
  "debrief.these_pictures": "these videos",
  "debrief.all_right": "You got every video right",
  "questions.stored":
    "You are done with the videos, and your answers to them are stored. What you earned does not depend on these last questions.",
  "demo.part_of":
    "This demo ended early. Shown as planned and judged: {n} of {total} videos. Your result is for these only; a score needs all of them.",
  "demo.none_of":
    "This demo ended before any of its {total} videos was shown as planned, so there is nothing to count.",
  "flash.left_full_screen_help":
    "Flashes need the whole screen. Nothing is lost: the video is replaced by another one.",
  "flash.wrong": "The videos do not flash as they should",
  "clip.play": "Play",
  "clip.stop": "Stop",
  "clip.again": "Play again",
  "clip.again_left": "Play again ({n} left)",
  "clip.key": "Space",
  "clip.note_loop":
    "Each video plays by itself, again and again. You can stop it and play it again with the button below it. You can answer as soon as you are sure.",
  "clip.note_once": "Each video plays by itself, once. Please watch it to its end.",
  "clip.note_replays":
    "Each video plays by itself. With the button below it you can play it again, at most {n} times. You can answer as soon as you are sure.",
  "clip.note_calm":
    "Your device asks for less motion, so each video plays only when you press the button below it.",
  "clip.unfit": "The videos cannot be shown here",
  "clip.no_decoder":
    "This browser cannot show these videos frame by frame. Current versions of Chrome, Edge and Safari can, and Firefox on a computer. Please open the same link in one of them.",
  "clip.no_codec":
    "This browser cannot open the kind of video that this task uses. Please open the same link in another browser, or on another device.",
  "clip.no_memory":
    "This device has too little memory for the videos of this task. Please open the same link on a computer.",
};
