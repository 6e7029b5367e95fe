"""What Prolific accepts as a study, and how a study may change."""

import math
from urllib.parse import urlsplit

from .refusals import bad, not_for_you, not_possible

ACTIONS = {
    ("UNPUBLISHED", "PUBLISH"): "PUBLISHING",
    ("UNPUBLISHED", "SCHEDULE_PUBLISH"): "SCHEDULED",
    ("SCHEDULED", "CANCEL_PUBLISH"): "UNPUBLISHED",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("ACTIVE", "STOP"): "AWAITING REVIEW",
    ("PAUSED", "START"): "ACTIVE",
    ("PAUSED", "STOP"): "AWAITING REVIEW",
}
CODE_ACTIONS = {
    "AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW", "FIXED_SCREEN_OUT_PAYMENT", "DYNAMIC_PAYMENT",
    "ADD_TO_PARTICIPANT_GROUP", "REMOVE_FROM_PARTICIPANT_GROUP", "REQUEST_RETURN",
}  # fmt: skip
SCREEN_OUT = "FIXED_SCREEN_OUT_PAYMENT"
RETIRED = ("completion_code", "eligibility_requirements", "completion_option")
NEEDED = (
    "name", "description", "external_study_url", "prolific_id_option", "completion_codes",
    "total_available_places", "estimated_completion_time", "reward",
)  # fmt: skip
CHANGEABLE = {
    "internal_name", "total_available_places", "access_details", "data_collection_metadata",
    "submissions_config", "description", "external_study_url",
}  # fmt: skip
"""What may change once a study is published; besides, the slots of a screen-out."""
DEVICES = {"desktop", "tablet", "mobile"}
LONGEST_MINUTES = 24 * 60


def check(data, workspace):
    """Refuse a study that Prolific would refuse."""
    wrong = {name: ["this field is required"] for name in NEEDED if data.get(name) in (None, "")}
    wrong.update({name: ["this field is no longer supported"] for name in RETIRED if name in data})
    if wrong:
        raise bad(wrong)
    for name in ("reward", "total_available_places"):
        if isinstance(data[name], bool) or data[name] != int(data[name]) or data[name] < 1:
            raise bad({name: ["must be a whole number of at least 1"]})
    if data["prolific_id_option"] not in ("question", "url_parameters", "not_required"):
        raise bad({"prolific_id_option": ["is not a valid choice"]})
    if urlsplit(data["external_study_url"]).scheme not in ("http", "https"):
        raise bad({"external_study_url": ["must be an address"]})
    if set(data.get("device_compatibility", ())) - DEVICES:
        raise bad({"device_compatibility": ["is not a valid choice"]})
    if data.get("is_external_study_url_secure") and "secure_urls" not in workspace.features:
        raise not_for_you("secure study URLs")
    _check_time(data)
    check_codes(data, workspace)
    _check_wage(data, workspace)


def whole_minutes(data):
    """Return the minutes by which Prolific judges."""
    return math.ceil(data["estimated_completion_time"])


def _check_time(data):
    minutes = data["estimated_completion_time"]
    if isinstance(minutes, bool) or minutes <= 0:
        raise bad({"estimated_completion_time": ["must be more than 0"]})
    least = 2 + 2 * minutes + 2 * math.sqrt(minutes)
    if not least <= data.get("maximum_allowed_time", LONGEST_MINUTES) <= LONGEST_MINUTES:
        raise bad({"maximum_allowed_time": [f"must be from {least:g} to {LONGEST_MINUTES}"]})


def _check_wage(data, workspace):
    hourly, least = data["reward"] * 60 / whole_minutes(data), workspace.rules["least_wage"]
    if hourly < least:
        raise bad({"reward": [f"pays {hourly / 100:.2f} an hour; the least is {least / 100:.2f}"]})


def check_codes(data, workspace):
    codes = data["completion_codes"]
    wrong = _wrong_codes(codes)
    if wrong:
        raise bad({"completion_codes": [wrong]})
    screen_outs = [action for _, action in actions_of(codes) if action["action"] == SCREEN_OUT]
    if screen_outs and "screen_out" not in workspace.features:
        raise not_for_you("fixed screen-out payments")
    if len(screen_outs) > 1:
        raise bad({"completion_codes": ["only one code may be for a fixed screen-out"]})
    for action in screen_outs:
        reward, slots = action.get("fixed_screen_out_reward"), action.get("slots")
        if type(reward) is not int or not workspace.rules["least_screen_out"] <= reward < data["reward"]:
            raise bad({"completion_codes": ["a screen-out reward is too small, or not below the reward"]})
        if type(slots) is not int or slots < 1:
            raise bad({"completion_codes": ["a screen-out needs slots"]})


def _wrong_codes(codes):
    if not isinstance(codes, list) or not codes:
        return "must be a list of at least one code"
    if len({code.get("code") for code in codes}) != len(codes):
        return "codes must be unique within the study"
    for code in codes:
        if not code.get("code") or not code.get("code_type") or not isinstance(code.get("actions"), list):
            return "a code needs code, code_type and actions"
        if code.get("actor", "participant") not in ("participant", "researcher"):
            return "actor is not a valid choice"
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= {a.get("action") for a in code["actions"]}:
            return "a code cannot be approved and reviewed"
    return next(filter(None, (_wrong_action(code, action) for code, action in actions_of(codes))), None)


def _wrong_action(code, action):
    kind = action.get("action")
    if kind not in CODE_ACTIONS:
        return f"unknown action {kind}"
    if kind == "REQUEST_RETURN" and not action.get("return_reason"):
        return "return_reason: this field is required"
    if kind.endswith("PARTICIPANT_GROUP") and not action.get("participant_group"):
        return "participant_group: this field is required"
    if kind == "DYNAMIC_PAYMENT" and code.get("actor") != "researcher":
        return "the actor of a dynamic payment must be researcher"
    return None


def actions_of(codes):
    return [(code, action) for code in codes for action in code["actions"]]


def screen_out_of(study):
    """Return (code, action) of a study's fixed screen-out, or None."""
    found = [(c["code"], a) for c, a in actions_of(study["completion_codes"]) if a["action"] == SCREEN_OUT]
    return found[0] if found else None


def check_changes(study, changes, workspace):
    """Refuse changes that Prolific would refuse."""
    if study["status"] == "UNPUBLISHED":
        check({**study, **changes}, workspace)
        return
    places = changes.get("total_available_places")
    if places is not None and places < study["total_available_places"]:
        raise bad({"total_available_places": ["the number of places can only be increased"]})
    frozen = set(changes) - CHANGEABLE - {"completion_codes"}
    if frozen:
        raise bad({name: ["cannot be changed after publishing"] for name in frozen})
    if "completion_codes" in changes:
        _check_slots(study, changes["completion_codes"])


def _check_slots(study, codes):
    """Of codes, the slots of the screen-out may grow, and nothing else may change."""
    mine = screen_out_of(study)
    only = [(code.get("code"), action) for code in codes for action in code.get("actions", ())]
    is_slots = mine is not None and [(code, action.get("action")) for code, action in only] == [
        (mine[0], SCREEN_OUT)
    ]
    if not is_slots or set(only[0][1]) - {"action", "slots", "fixed_screen_out_reward"}:
        raise bad({"completion_codes": ["cannot be changed after publishing"]})
    if only[0][1].get("slots", 0) < mine[1]["slots"]:
        raise bad({"completion_codes": ["slots can only be increased"]})


def transition(now, action):
    """Return the state after an action on a study."""
    if (now, action) not in ACTIONS:
        raise not_possible(f"a study that is {now} cannot {action}")
    return ACTIONS[now, action]
