"""Replies to evaluators: a study's public description, the state of a session, confirmations.

The truth of a stimulus never appears in a reply before its response is stored, models are never named,
and the completion code appears only with a closed session.
"""

from collections.abc import Mapping
from typing import Any, cast

from backend.experiment import follow_ups, questionnaire, session_questions
from backend.experiment import session as sessions
from backend.experiment.browsers import language_of
from backend.experiment.groups.follow_ups import REQUIRED, WITH
from backend.experiment.judgments import judgment_of
from backend.experiment.languages import CHOOSE, texts_for_page
from backend.experiment.not_sure import NOT_SURE
from backend.experiment.panel import NO_PANEL_CONFIG, PanelConfig, code_for, return_link
from backend.experiment.protocol import Protocol, values_of
from backend.experiment.records import INSTRUCTED, PRACTICE, ClipForm, PlannedBlock, Response, Session, Study
from backend.experiment.session import Cursor
from backend.stimuli.clips.clip_file import codec_of
from backend.task.reply_types import (
    Block,
    Clip,
    Confirmation,
    Done,
    Effort,
    FollowUps,
    Next,
    OpenQuestions,
    PublicStudy,
    QualificationResult,
    Question,
    SessionProgress,
    Spoken,
    StaircaseRule,
    State,
    StudyProtocol,
    TimeLimits,
    Withdrawal,
)


def public_study(
    study: Study, qualification: Study | None, signature_parameter: str | None = None
) -> PublicStudy:
    """Return what a visitor may know of a study before taking part.

    Args:
        signature_parameter: the link parameter with the panel's signature, if the study requires one.
    """
    protocol = study.protocol
    judgment = judgment_of(protocol.method)
    return {
        "study": study.name,
        "kind": study.kind,
        "title": protocol.consent.title,
        **_language(protocol),
        "method": protocol.method,
        "judgment": judgment.name,
        "answers": list(judgment.answers_of(protocol)),
        "medium": study.medium,
        "clip": _clip(study.clip),
        "consent": {"version": protocol.consent.consent_version, "text": protocol.consent.consent_text},
        "contact": protocol.consent.contact,
        "keep_days": protocol.consent.keep_days,
        "currency": protocol.pay.currency,
        "retainer": {"usd_cents": protocol.pay.retainer_usd_cents, "minutes": protocol.pay.retainer_minutes}
        if protocol.pay.retainer_usd_cents
        else None,
        **_effort(protocol),
        "practice": protocol.unscored.practice_images,
        "trial_shows": judgment.trial_shows,
        "blocks": protocol.stimuli.blocks,
        "feedback": protocol.page.feedback,
        "half_real": protocol.stimuli.is_half_real,
        "size_px": protocol.stimuli.size_px,
        "flashes": protocol.has_flashes,
        "flash_warning": protocol.has_quick_changes,
        "refresh_hz": [protocol.slowest_refresh_hz, protocol.timing.max_refresh_hz],
        "repeat_visits": protocol.admission.repeat_visits,
        "debrief": protocol.page.debrief,
        "demonstration": protocol.is_demonstration,
        "shared_computer": protocol.admission.shared_computer,
        "panel_parameters": list(protocol.admission.panel.parameters_read),
        "person_parameters": list(protocol.admission.panel.parameters_of_person),
        "signature_parameter": signature_parameter,
        "panel_home": protocol.admission.panel.home,
        "preview": list(protocol.admission.panel.preview.partition("=")[::2])
        if protocol.admission.panel.preview
        else None,
        "qualification": None
        if qualification is None
        else {
            "study": qualification.name,
            "title": qualification.protocol.consent.title,
            **_effort(qualification.protocol),
        },
        "pass_share": protocol.admission.pass_share if study.kind == "qualification" else None,
    }


def _clip(form: ClipForm | None) -> Clip | None:
    if form is None:
        return None
    return {
        "codec": codec_of(form.width, form.height, form.fps),
        "frames": form.frames,
        "fps": [*form.fps],
        "width": form.width,
        "height": form.height,
    }


def _language(protocol: Protocol) -> Spoken:
    language, own = protocol.language.language, protocol.language.texts
    return {"language": language, "texts": texts_for_page(language, own)}


def protocol_of(protocol: Protocol) -> StudyProtocol:
    """Return the parameters of the experiment that a page needs."""
    settings = values_of(protocol)
    return {
        "method": protocol.method,
        "countdown_from": settings["countdown_from"],
        "countdown_ms": settings["countdown_ms"],
        "mask_count": settings["mask_count"],
        "mask_ms": settings["mask_ms"],
        "gap_ms": protocol.judgment.gap_ms,
        "feedback": settings["feedback"],
        "feedback_ms": settings["feedback_ms"],
        "full_screen": settings["full_screen"],
        "size_px": settings["size_px"],
        "shortest_answer_ms": settings["shortest_answer_ms"],
        "same_answer_notice": settings["same_answer_notice"],
        "builtin_instructions": settings["builtin_instructions"],
        "clip_play": settings["clip_play"],
        "clip_replays": settings["clip_replays"],
        "largest_css_px": protocol.stimuli.shown_at_most_css_px,
        "half_real": protocol.stimuli.is_half_real,
        "follow_ups": _follow_ups(protocol) if protocol.follow_ups.is_asking else None,
    }


def _follow_ups(protocol: Protocol) -> FollowUps:
    asked, answers = protocol.follow_ups, judgment_of(protocol.method).answers_of(protocol)
    return {
        "confidence_points": asked.confidence_points,
        "confidence_with": asked.confidence_when == WITH,
        "reasons": list(asked.reasons),
        "comment": asked.comment,
        "why_after": [answer for answer in answers if follow_ups.asks_why(asked, answer)],
        "mark": asked.mark,
        "where_after": [answer for answer in answers if follow_ups.asks_where(asked, answer)],
        "mark_needed": asked.mark_needed == REQUIRED,
    }


def state(
    study: Study, session: Session, cursor: Cursor, withdrawal_url: str, config: PanelConfig = NO_PANEL_CONFIG
) -> State:
    """Return all that a page needs to continue a session, and the link to withdraw from it."""
    reply: State = {
        "withdrawal_url": withdrawal_url,
        "session": session.id,
        "study": study.name,
        "kind": study.kind,
        "currency": study.protocol.pay.currency,
        "lease": cursor.lease,
        "stage": "block" if cursor.state == "active" else "done",
        "protocol": {
            **protocol_of(study.protocol),
            "block_images": [len(planned.stimuli) for planned in session.blocks],
            "time_limits": _time_limits(study.protocol, session),
        },
        "block_begun": _next_block(session, cursor) < cursor.blocks_begun,
        **progress(study, session, cursor, config),
    }
    if study.pages:
        reply["pages"] = [
            {"title": page.title, "text": page.text, "before_block": page.before_block - 1}
            for page in study.pages
        ]
    return reply


def _time_limits(protocol: Protocol, session: Session) -> TimeLimits:
    """Return which trials of a session have a time limit."""
    if protocol.has_staircase:
        return "all"
    exposures = {ms for planned in session.blocks for ms in planned.exposures_ms}
    if not exposures or exposures == {None}:
        return "none"
    return "some" if None in exposures else "all"


def block(study: Study, session: Session, cursor: Cursor, url: Any, masks: list[list[int]]) -> Block:
    """Return the stimuli of the current block from the next trial on.

    Args:
        url: function from a stimulus to the URLs of its images, separated by spaces.
        masks: for each trial of the block, the indices of its masks among the study's.
    """
    index, offset = sessions.locate(session, cursor.trial_index)
    planned = session.blocks[index]
    rule = None if planned.is_practice else sessions.block_rule(study.protocol, cursor, index)
    trials = range(cursor.trial_index, cursor.trial_index + len(planned.stimuli) - offset)
    return {
        "block": index,
        "first_trial_index": cursor.trial_index,
        "images": [url(sessions.stimulus_at(session, cursor, trial).stimulus) for trial in trials],
        "masks": [url(name) for name in study.masks] if masks else [],
        "trial_masks": masks[offset:],
        "instructed": _instructed(planned)[offset:],
        "staircase": cast(StaircaseRule, vars(rule)) if rule else None,
        "next": _next(study, session, cursor),
    }


def answer(
    study: Study,
    session: Session,
    cursor: Cursor,
    response: Response,
    url: Any,
    config: PanelConfig = NO_PANEL_CONFIG,
) -> Confirmation:
    """Return the reply that confirms `response`; `cursor` is the session's cursor after it.

    It does not reveal whether the answer to a mistimed flash was right: the spare has the same truth.
    """
    picture = sessions.picture_of(session, response.stimulus)
    is_open_again = cursor.trial_index == response.trial_index and cursor.state == "active"
    is_told = study.protocol.page.feedback or picture.kind == PRACTICE
    tells = is_told and picture.truth != "" and cursor.trial_index > response.trial_index
    return {
        "trial_index": response.trial_index,
        "was_correct": response.response == picture.truth if tells else None,
        "right_answer": picture.truth if tells and response.response == NOT_SURE else None,
        "replaced_by": url(sessions.stimulus_at(session, cursor, response.trial_index).stimulus)
        if is_open_again
        else None,
        "may_end": is_open_again
        and sessions.replaced_in_a_row(cursor) % sessions.MISTIMED_BEFORE_ASKING == 0,
        "block_finished": cursor.state != "active" or _next_block(session, cursor) != response.block,
        **progress(study, session, cursor, config),
    }


def withdrawal(study: Study, session: Session, cursor: Cursor) -> Withdrawal:
    """Return what an evaluator is shown before withdrawing."""
    return {
        "study": study.name,
        "title": study.protocol.consent.title,
        **_language(study.protocol),
        "shown_language": language_of(session.device) or None,
        "contact": study.protocol.consent.contact,
        "is_withdrawn": False,
        "answers": cursor.trial_index + cursor.voided_answers,
        "is_open": cursor.state == "active",
        "panel_home": study.protocol.admission.panel.home if session.panel else None,
        "agreed": public_study(study, None)
        if session.consent_version == study.protocol.consent.consent_version
        else None,
    }


def withdrawn(protocol: Protocol | None, record: Mapping[str, Any]) -> Withdrawal:
    """Return what an evaluator is shown after withdrawing, from the remaining entry of the session.

    Args:
        protocol: that of the study; None if it was deleted.
    """
    spoken: Spoken = _language(protocol) if protocol else {"language": CHOOSE, "texts": {}}
    return {
        "study": record["study"],
        "title": protocol.consent.title if protocol else record["study"],
        **spoken,
        "shown_language": None,
        "contact": protocol.consent.contact if protocol else "",
        "is_withdrawn": True,
        "answers": record["answered"],
        "is_open": record["state"] == "active",
        "panel_home": protocol.admission.panel.home if protocol and record["panel"] else None,
        "agreed": None,
    }


def progress(study: Study, session: Session, cursor: Cursor, config: PanelConfig) -> SessionProgress:
    """Return where a session stands: the reply to answered questions, and to an early end."""
    protocol, is_done = study.protocol, cursor.state != "active"
    practice = sessions.practice_trials(session)
    is_practice = cursor.trial_index < practice
    trials = sessions.total_trials(session)
    if is_done:
        earned = sessions.owed_usd_cents(protocol, trials, cursor)
    else:
        earned = sessions.earned_usd_cents(protocol, cursor)
    reply: SessionProgress = {
        "next": None if is_done else _next(study, session, cursor),
        "progress": {
            "answered": cursor.trial_index - (0 if is_practice else practice),
            "total": practice if is_practice else trials - practice,
            "replaced": cursor.voided_answers,
        },
        "earned_usd_cents": earned
        if study.protocol.pay.is_paid and (study.protocol.page.feedback or is_done)
        else None,
        "done": _done(study, session, cursor, config) if is_done else None,
    }
    when = session_questions.open_questions(study, cursor)
    if when is not None:
        reply["questions"] = _questions(study, cursor, when)
    return reply


def _questions(study: Study, cursor: Cursor, when: str) -> OpenQuestions:
    pages = questionnaire.pages_of(questionnaire.asked(study.questions, when))
    return {
        "when": when,
        "pages": [
            {"title": title, "questions": [_question(question) for question in questions]}
            for title, questions in pages
        ],
        "earlier": session_questions.answers_of(cursor, questionnaire.BEFORE),
    }


def _question(question: questionnaire.Question) -> Question:
    condition = question.shown_if
    return {
        "name": question.name,
        "kind": question.kind,
        "text": question.text,
        "required": question.required,
        "min": question.min,
        "max": question.max,
        "step": question.step,
        "points": question.points,
        "low": question.low,
        "high": question.high,
        "max_length": question.max_length,
        "choices": list(question.choices),
        "shown_if": {"question": condition.question, "answers": list(condition.answers)}
        if condition
        else None,
    }


def _done(study: Study, session: Session, cursor: Cursor, config: PanelConfig) -> Done:
    record, own_code = study.protocol.admission.panel, session.completion_code
    judgment = judgment_of(study.protocol.method)
    is_whole, is_paid = cursor.state in sessions.CLOSED, study.protocol.pay.is_paid
    outcome = "done" if is_whole else "fault"
    known = None if config.by_server and is_whole else code_for(record, session.panel, outcome, config)
    link = return_link(record, session.panel, outcome, config, own_code)
    return {
        "complete": cursor.state == "finished",
        "paid_in_part": not is_whole,
        "completion_code": known or own_code,
        "needs_code": bool(is_paid or known or record.parameters or link["redirect_url"] or link["form"]),
        "redirect_url": link["redirect_url"],
        "form": link["form"],
        "reported": config.by_server and is_whole and bool(session.panel.get(record.evaluator)),
        "earned_usd_cents": sessions.owed_usd_cents(study.protocol, sessions.total_trials(session), cursor),
        "right": sessions.right_answers(cursor, is_closed=is_paid)
        if sessions.has_right_answers(session)
        else None,
        "not_sure": sessions.not_sure_answers(cursor, is_closed=is_paid),
        # Flashes that failed are replaced; the answers to them are counted only because they are paid.
        "answered": max(cursor.trial_index - sessions.practice_trials(session), 0)
        + (cursor.voided_answers if is_paid else 0),
        "qualification": cast(
            QualificationResult, judgment.qualification_result(session, study.protocol, cursor)
        )
        if study.kind == "qualification"
        else None,
    }


def _next(study: Study, session: Session, cursor: Cursor) -> Next:
    """Return the next trial; with the staircase's count only where right and wrong are revealed anyway."""
    return {
        "trial_index": cursor.trial_index,
        "block": _next_block(session, cursor),
        "exposure_ms": cursor.exposure_ms,
        "right_in_a_row": cursor.right_in_a_row if study.protocol.page.feedback else None,
        "practice": cursor.trial_index < sessions.practice_trials(session),
    }


def _instructed(block: PlannedBlock) -> list[str | None]:
    """Return, for each trial of a block, the answer that it asks for; empty if no trial asks for one."""
    if INSTRUCTED not in block.kinds:
        return []
    return [
        truth if kind == INSTRUCTED else None for truth, kind in zip(block.truths, block.kinds, strict=True)
    ]


def _next_block(session: Session, cursor: Cursor) -> int:
    if cursor.trial_index >= sessions.total_trials(session):
        return len(session.blocks)
    return sessions.locate(session, cursor.trial_index)[0]


def _effort(protocol: Protocol) -> Effort:
    return {
        "minutes": protocol.consent.minutes,
        "pay": {
            "base_usd_cents": protocol.pay.base_usd_cents,
            "bonus_usd_cents": protocol.pay.bonus_usd_cents,
        },
        "images": protocol.stimuli.trials + protocol.unscored.checks,
    }
