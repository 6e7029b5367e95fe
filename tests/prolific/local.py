"""A panel straight over the fake's books, without a socket: for thousands of runs in a few seconds."""

from backend.panels import PanelRefused, Submission

from .books import Refusal


class LocalPanel:
    """`Panel` over books in the same process; it passes the contract suite that the real one passes."""

    name = "local"

    def __init__(self, books):
        self._books = books

    def create(self, order):
        for study in self._books.studies.values():
            if study["internal_name"] == order.name:
                return study["id"]
        codes = [
            {
                "code": code,
                "code_type": means,
                "actor": "researcher" if means == "done_by_server" else "participant",
                "actions": [{"action": "MANUALLY_REVIEW"}],
            }
            for means, code in order.codes.items()
        ]
        return self._do(
            self._books.create_study,
            {
                "name": order.title,
                "internal_name": order.name,
                "description": order.description,
                "external_study_url": order.url,
                "prolific_id_option": "url_parameters",
                "completion_codes": codes,
                "total_available_places": order.places,
                "estimated_completion_time": order.minutes,
                "reward": order.reward_usd_cents,
            },
        )["id"]

    def change(self, study, action):
        reached = {
            "publish": {"ACTIVE", "PAUSED", "AWAITING REVIEW"},
            "pause": {"PAUSED", "AWAITING REVIEW"},
            "start": {"ACTIVE"},
            "stop": {"AWAITING REVIEW"},
        }
        if self._do(self._books.study, study)["status"] not in reached[action]:
            self._do(self._books.transition_study, study, action.upper())

    def is_closed(self, study):
        return self._do(self._books.study, study)["status"] in ("AWAITING REVIEW", "COMPLETED")

    def set_places(self, study, places):
        self._do(self._books.change_study, study, {"total_available_places": places})

    def cost_usd_cents(self, study):
        return sum(self._books.with_fee(cents) for cents in self._do(self._books.cost, study).values())

    def submissions(self, study):
        for place in self._do(self._books.places_of, study):
            yield _submission(place, ())

    def submission(self, id):
        return _submission(self._do(self._books.place, id), tuple(self._books.bonuses(id)))

    def complete(self, submission, code):
        if self._do(self._books.place, submission).status not in {"AWAITING REVIEW", "APPROVED"}:
            self._do(self._books.submit, submission, code, "researcher")

    def approve(self, submission):
        self._do(self._books.approve, submission)

    def propose_bonuses(self, study, bonuses):
        csv = "".join(f"{b.submission},{b.usd_cents // 100}.{b.usd_cents % 100:02d}\n" for b in bonuses)
        return self._do(self._books.set_up_bonuses, study, csv).id

    def pay_bonuses(self, payment):
        self._do(self._books.pay_bulk, payment)

    def _do(self, call, *arguments):
        try:
            return call(*arguments)
        except Refusal as refusal:
            raise PanelRefused(refusal.title) from None


def _submission(place, bonuses):
    status = place.status.replace(" ", "_").replace("-", "_").lower()
    return Submission(place.id, place.participant, status, place.started_at, bonuses)
