"""Responsible AI fields of a data set: how the answers came about, from the facts of the study.

Fields are those of the Croissant RAI vocabulary 1.0 (mlcommons.org/croissant/RAI/1.0), and the provenance
that NeurIPS 2026 asks for beside them. Nothing is claimed that the study does not know: who the evaluators
are, or where the pictures come from.
"""

from collections.abc import Mapping
from statistics import median
from typing import Any

from backend.experiment.groups.follow_ups import NONE
from backend.experiment.money import format_money
from backend.experiment.questionnaire import TEXT
from backend.experiment.records import Study
from backend.responses.publication.subject import Subject, listed

CONFORMS_TO = "http://mlcommons.org/croissant/RAI/1.0"


def rai_fields(subject: Subject) -> dict[str, Any]:
    """Return the fields by their names in JSON-LD; those of which nothing is known are absent."""
    study = subject.study
    fields = {
        "rai:dataCollection": _collection(subject),
        "rai:dataCollectionType": ["Software Collection" if subject.is_simulated else "Experiments"],
        "rai:dataCollectionMissingData": _missing_data(subject),
        "rai:dataCollectionRawData": (
            "The pictures are not part of the data set; `stimulus` is a keyed hash, which says nothing about "
            "a picture. Answers are stored and exported as they were given; right and wrong are derived."
        ),
        "rai:dataCollectionTimeframe": list(filter(None, subject.period)),
        "rai:dataImputationProtocol": "No value is imputed.",
        "rai:dataManipulationProtocol": (
            "No answer is changed. In CSV, a text that a spreadsheet would read as a formula has a single "
            "quote in front."
        ),
        "rai:dataPreprocessingProtocol": [_pictures(study)],
        "rai:dataAnnotationProtocol": _protocol(subject),
        "rai:dataAnnotationPlatform": [f"openhype {subject.version}", *_panel(subject)],
        "rai:dataAnnotationAnalysis": _analysis(study),
        "rai:annotationsPerItem": _per_item(subject.answers_an_item),
        "rai:annotatorDemographics": _demographics(subject),
        "rai:machineAnnotationTools": ["openhype simulate"] if subject.is_simulated else [],
        "rai:personalSensitiveInformation": _personal(subject),
        "rai:dataBiases": _biases(subject),
        "rai:dataLimitations": _limitations(subject),
        "rai:dataUseCases": _use_cases(subject),
        "rai:dataSocialImpact": _social_impact(subject),
        "rai:dataReleaseMaintenancePlan": (
            "CHANGES.md says what each export contains. Sessions that evaluators withdraw are not in later "
            "exports; published copies have to be replaced by hand."
        ),
        "rai:hasSyntheticData": subject.is_simulated,
        "prov:wasDerivedFrom": [{"@type": "sc:Dataset", "name": _sources(subject)}],
        "prov:wasGeneratedBy": [_activity(subject)],
    }
    return {name: value for name, value in fields.items() if value not in ("", [], None)}


def _collection(subject: Subject) -> str:
    if subject.is_simulated:
        return "Answers were given at random by simulated evaluators: nobody looked at the pictures."
    stimuli = subject.study.protocol.stimuli
    return (
        f"{subject.sessions} evaluators judged pictures in a web browser: {stimuli.trials} scored trials a "
        f"session, {_times(subject.study)}. Every answer was stored by the server as it was given."
    )


def _times(study: Study) -> str:
    timing = study.protocol.timing
    if study.protocol.has_staircase:
        return "exposures set by a staircase, followed by masks"
    return "with fixed exposures" if timing.exposures_ms else "without a time limit"


def _missing_data(subject: Subject) -> str:
    dropped = next((table.rows for table in subject.tables if table.name == "unfinished"), 0)
    return (
        f"Only finished sessions are scored; {dropped} responses of sessions that broke off are in a file of "
        "their own. Sessions that were withdrawn, or whose submission was returned at the panel, are in "
        "none. An empty cell was not asked, not measured, or not answered."
    )


def _pictures(study: Study) -> str:
    stimuli = study.protocol.stimuli
    if (form := study.clip) is not None:
        return (
            f"Stimuli are clips. All, of every side, went through the same steps: {form.frames} frames at "
            f"{form.fps[0] / form.fps[1]:.5g} a second, {form.width} x {form.height} px, VP9 of constant "
            f"quality {form.quality}, 8 bits of BT.709, without sound and metadata, files of one length."
        )
    size = f"brought to {stimuli.size_px} x {stimuli.size_px} px" if stimuli.size_px else "kept at their size"
    return (
        f"All pictures, of every side, went through the same steps: {size}, 8 bits of sRGB, one format "
        f"(image_format {stimuli.image_format}), without metadata."
    )


def _protocol(subject: Subject) -> list[str]:
    study = subject.study
    protocol = study.protocol
    sentences = [
        f"Question: {subject.judgment.question}. Method: {subject.method.title} ({subject.judgment.source}).",
        "Settings, the text of the consent and the questions are in materials/study.json.",
    ]
    if subject.is_simulated:
        return sentences
    unscored = protocol.unscored
    return [
        *sentences,
        "Consent: before anything else, evaluators agreed to a text (version "
        f"{protocol.consent.consent_version}) that says what is asked and kept, and that they may stop and "
        "withdraw.",
        _pay(study),
        f"Before the scored trials: {unscored.practice_images} practice trials. Attention checks a session: "
        f"{unscored.checks}.",
        "Feedback on each answer was shown."
        if protocol.page.feedback
        else "No feedback on answers was shown.",
    ]


def _pay(study: Study) -> str:
    pay = study.protocol.pay
    half = ", half of it for each “not sure”" if study.protocol.page.not_sure else ""
    if not pay.is_paid:
        return "Pay: none by this study; what a panel pays on its own is not recorded here."
    parts = [
        f"{format_money(cents, pay.currency)} {what}"
        for cents, what in (
            (pay.base_usd_cents, "for taking part"),
            (pay.bonus_usd_cents, f"for each right answer{half}"),
            (pay.retainer_usd_cents, "for each minute of waiting"),
        )
        if cents
    ]
    return f"Pay ({pay.currency}): {listed(parts)}."


def _panel(subject: Subject) -> list[str]:
    name = subject.study.protocol.admission.panel.name
    return [] if subject.is_simulated else [_PANELS.get(name, f"panel: {name}")]


_PANELS = {
    "link": "an open link, shared by the researcher",
    "private": "private links, one a person",
    "prolific": "Prolific",
    "connect": "CloudResearch Connect",
    "sona": "SONA",
}


def _analysis(study: Study) -> list[str]:
    rule = study.protocol.exclusion
    if not rule.is_declared:
        return ["No evaluator is excluded: the study declared no rule for exclusion."]
    parts = []
    if rule.exclude_checks_below:
        parts.append(f"less than {rule.exclude_checks_below:g} of the attention checks right")
    if rule.exclude_faster_ms:
        parts.append(f"a median response time under {rule.exclude_faster_ms:g} ms")
    return [
        f"Rule for exclusion from the primary scores, declared with the study: {' or '.join(parts)}. "
        "Excluded evaluators are in the data, marked in the column `excluded`."
    ]


def _per_item(counts: tuple[int, ...]) -> str:
    if not counts:
        return ""
    return f"{counts[0]} to {counts[-1]} scored answers a picture or item, {median(counts):g} in the median"


def _demographics(subject: Subject) -> list[str]:
    if subject.is_simulated:
        return ["Simulated evaluators have none."]
    study = subject.study
    wanted = study.evaluators_wanted
    sentences = [f"{subject.sessions} evaluators finished a session; the study asks for {wanted}."]
    if study.questions:
        asked = "; ".join(
            f"{question.name}: {' '.join(question.text.split())}" for question in study.questions
        )
        sentences.append(f"The study asked its own questions, whose answers are in the data: {asked}")
    else:
        sentences.append("Demographics were not collected.")
    sentences.append(
        "What a panel knows of its people, and by what it selected them, is not part of the data."
    )
    if study.protocol.admission.qualification:
        sentences.append(f"Evaluators had passed the qualification {study.protocol.admission.qualification}.")
    return sentences


def _personal(subject: Subject) -> list[str]:
    if subject.is_simulated:
        return ["None: no person took part."]
    study = subject.study
    sentences = [
        "Evaluators are random pseudonyms. Names, addresses and ids of a panel are not in the data.",
        "For each answer there are its time, the response time, the engine of the browser, the size of the "
        "picture and the rate of the display.",
    ]
    if study.questions:
        sentences.append(
            "Answers to the study's own questions are in the data; together they may identify a person."
        )
    if study.protocol.follow_ups.comment != NONE:
        sentences.append("Comments are in the evaluators' own words; read them before publishing.")
    if any(question.kind == TEXT for question in study.questions):
        sentences.append(
            "Some questions were answered in the evaluators' own words; read them before publishing."
        )
    if study.joined:
        sentences.append(
            "Names of models that joined the study begin with the name of the member who submitted them; of "
            "an e-mail address there is only what stands before the @."
        )
    return sentences


def _biases(subject: Subject) -> list[str]:
    if subject.is_simulated:
        return ["The answers follow the accuracies that were given to the simulation."]
    language = subject.study.protocol.language.language
    shown = "a language that each evaluator chose" if language == "choose" else f"the language `{language}`"
    return [
        "Evaluators took part by their own choice; they are not a sample of any population.",
        f"The page was in {shown}. Displays and surroundings were the evaluators' own.",
    ]


def _limitations(subject: Subject) -> list[str]:
    hold = "The scores hold for these pictures at this size and for these evaluators"
    general = (
        "" if subject.judgment.has_items else f"; they do not rank {listed(subject.study.models)} in general"
    )
    sentences = [f"{hold}{general}."]
    if subject.is_simulated:
        sentences.insert(0, "Simulated: nothing in it says how people see any picture.")
    elif subject.sessions < subject.study.evaluators_wanted:
        sentences.append(
            f"Incomplete: {subject.sessions} of {subject.study.evaluators_wanted} evaluators have finished."
        )
    return [
        *sentences,
        *(f"Found in the pictures when the study was made: {note}" for note in subject.study.notes),
    ]


def _use_cases(subject: Subject) -> list[str]:
    if subject.is_simulated:
        return ["Testing programs that read the data of a study. Not for conclusions about models or people."]
    if subject.judgment.has_items:
        return [
            "Testing and training measures of the distance between pictures against people's answers.",
            "Not for conclusions about single evaluators.",
        ]
    return [
        "Scoring and comparing the models, studying which pictures are judged wrong, and testing statistical "
        "methods and automatic metrics against people's answers.",
        "Not for conclusions about single evaluators, nor for deciding whether a picture at hand is real.",
    ]


def _social_impact(subject: Subject) -> str:
    if subject.judgment.has_items:
        return (
            "Shows which differences between pictures these people saw. Measures trained on it see as they "
            "did, and may neglect what matters to others."
        )
    return (
        "Shows which generated pictures people take for real ones. That helps to judge the risk of deception "
        "and to train people; it can also guide those who want generated pictures to deceive."
    )


def _sources(subject: Subject) -> str:
    return (
        f"The pictures of the study {subject.study.name}, of {listed(subject.study.models)}"
        f"{'' if subject.judgment.has_items else ' and real ones'}; they are not part of this data set"
    )


def _activity(subject: Subject) -> Mapping[str, Any]:
    first, last = subject.period
    times = {"prov:startedAtTime": first, "prov:endedAtTime": last} if first else {}
    return {
        "@type": "prov:Activity",
        "name": "Simulation" if subject.is_simulated else "Collection of answers",
        "description": _collection(subject),
        **times,
    }
