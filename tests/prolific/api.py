"""Prolific's HTTP interface as a function from request to reply, over the fake's books."""

import json
import re
from dataclasses import dataclass
from urllib.parse import urlencode

from .refusals import Refusal, bad

ROOT = "/api/v1"
PAGE, LARGEST_PAGE = 20, 100
SPELLINGS = " _-"
"""How the words of a status are joined; it varies between endpoints."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict
    body: bytes
    authorization: str
    base: str
    """Scheme and host, for links."""

    def json(self):
        try:
            data = json.loads(self.body or b"{}")
        except ValueError:
            raise Refusal(400, "Bad request", "the body is not JSON") from None
        if not isinstance(data, dict):
            raise Refusal(400, "Bad request", "the body is not an object")
        return data


def reply(books, request):
    """Return (status, data, headers) of one request."""
    try:
        if (request.method, request.path) == ("GET", "/.well-known/study/jwks.json"):
            return 200, books.signer.key_set(), ()
        if request.authorization != f"Token {books.token}":
            raise Refusal(401, "Authentication credentials were not valid", "Invalid token.")
        for method, pattern, handler in ROUTES:
            if method == request.method and (found := pattern.fullmatch(request.path)):
                with books.lock:
                    books.tick()
                    status, data, *headers = handler(books, request, *found.groups())
                    return status, data, headers
        raise Refusal(404, "Not found", "no such address")
    except Refusal as refusal:
        error = {"status": refusal.status, "error_code": 140000 + refusal.status, "title": refusal.title}
        return refusal.status, {"error": {**error, "detail": refusal.detail}}, refusal.headers


# studies


def create_study(books, request):
    return 201, books.create_study(request.json())


def list_studies(books, request, project=None):
    if project is not None:
        books.workspace_of(project)
    rows = [row for row in books.studies.values() if project in (None, row["project"])]
    if request.query.get("ordering") == "-date_created":
        rows.reverse()
    return 200, _page(books, request, [_study_short(books, row) for row in rows])


def _study_short(books, study):
    """Return what is promised of a study in a list, the id and the name, among keys that nobody knows."""
    row = {"id": study["id"], "name": study["name"], "is_ready_to_publish": True}
    row |= {f"new_key_{number}": None for number in range(books.ids.randrange(3))}
    keys = sorted(row, key=lambda _: books.ids.random())
    return {key: row[key] for key in keys}


def get_study(books, request, id):
    return 200, _study_detail(books.seen_study(books.known(id)))


def _study_detail(study):
    hidden = ("is_test",)
    return {**{key: value for key, value in study.items() if key not in hidden}, "credential_pool_id": None}


def patch_study(books, request, id):
    return 200, _study_detail(books.change_study(books.known(id), request.json()))


def drop_study(books, request, id):
    books.drop_study(books.known(id))
    return 204, None


def transition_study(books, request, id):
    return 200, _study_detail(books.transition_study(books.known(id), request.json().get("action")))


def test_study(books, request, id):
    study = books.create_test_study(books.known(id))
    books.is_fresh(study["id"])
    return 200, {"study_id": study["id"], "study_url": f"https://app.prolific.com/studies/{study['id']}"}


def get_cost(books, request, id):
    workspace = books.wallet_of(books.study(id)["id"])

    def part(cents):
        amounts = zip(("rewards", "fees", "tax"), workspace.parts(cents), strict=True)
        return {name: {"amount": float(cents), "currency": workspace.currency} for name, cents in amounts}

    if request.query.get("is_projected", "false").lower() == "true":
        return 200, {"rewards": part(books.projected(id)), "bonuses": part(0), "_links": {}}
    paid = books.cost(id)
    return 200, {"rewards": part(paid["rewards"]), "bonuses": part(paid["bonuses"]), "_links": {}}


def rewards_advised(books, request):
    workspace, currency = request.query.get("workspace_id"), request.query.get("currency")
    rules = books.known_workspace(workspace).rules
    if currency != books.known_workspace(workspace).currency:
        raise bad({"currency": ["is not that of the workspace"]})
    row = {"min_reward_per_hour": rules["least_wage"], "recommended_reward_per_hour": rules["fair_wage"]}
    return 200, [{"currency": currency, **row}, {"currency": currency, "min_reward_per_hour": 1}]


# submissions


def study_submissions(books, request, id):
    return 200, _page(books, request, [_short(books, place) for place in books.places_of(id)])


def list_submissions(books, request):
    if "study" not in request.query:
        raise bad({"study": ["this parameter is required"]})
    rows = books.places_of(request.query["study"])
    ordering = request.query.get("ordering", "")
    rows.sort(key=lambda place: place.number if ordering else books.ids.random())
    if ordering.startswith("-"):
        rows.reverse()
    return 200, _page(books, request, [_short(books, place) for place in rows])


def get_submission(books, request, id):
    place = books.place(books.known(id))
    return 200, {**_basic(books, place), "bonus_payments": [float(cents) for cents in books.bonuses(id)]}


def transition_submission(books, request, id):
    asked, place = request.json(), books.place(books.known(id))
    action = asked.get("action")
    if action == "COMPLETE":
        percentage = asked.get("completion_code_data", {}).get("percentage_of_reward")
        books.submit(id, asked.get("completion_code"), "researcher", percentage)
    elif action == "APPROVE":
        books.approve_one(id)
    elif action == "REJECT":
        if len(asked.get("message", "")) < 100 or "rejection_category" not in asked:
            raise bad({"message": ["must be at least 100 characters long"]})
        books.reject(id)
    else:
        raise bad({"action": [f"{action} is not a valid choice"]})
    return 200, _basic(books, place)


def request_return(books, request, id):
    place = books.ask_to_return(books.known(id), request.json().get("request_return_reasons"))
    names = ("id", "participant", "return_requested")
    return 200, {**{name: getattr(place, name) for name in names}, "status": _spelled(books, place.status)}


def bulk_approve(books, request):
    books.approve_many(request.json().get("submission_ids"))
    return 200, "The request to bulk approve has been made successfully."


def set_up_bonuses(books, request):
    asked = request.json()
    bulk = books.set_up_bonuses(asked.get("study_id"), asked.get("csv_bonuses"))
    parts = [books.wallet_of(bulk.study).parts(cents) for _, cents in bulk.lines]
    amount, fees, vat = (float(sum(part)) for part in zip(*parts, strict=True))
    money = {"amount": amount, "fees": fees, "vat": vat, "total_amount": amount + fees + vat}
    return 201, {"id": bulk.id, "study": bulk.study, **money}


def pay_bonuses(books, request, id):
    books.pay_bulk(books.known(id))
    return 202, "The bonuses will be paid shortly."


# workspaces and users


def list_workspaces(books, request):
    rows = [{"id": w.id, "title": w.title, "users": []} for w in books.workspaces.values()]
    return 200, _page(books, request, rows)


def get_balance(books, request, id):
    workspace = books.known_workspace(id)
    return 200, workspace.balances(books.reserved(workspace))


def list_projects(books, request, id):
    projects = books.known_workspace(id).projects
    return 200, _page(books, request, [{"id": p.id, "title": p.title, "type": "PRIVATE"} for p in projects])


def make_test_participant(books, request):
    return 201, {"participant_id": books.add_test_participant(request.json().get("email"))}


def me(books, request):
    return 200, {"id": "r" * 24, "email": "researcher@university.example"}


# webhooks


def list_secrets(books, request):
    return 200, {"results": books.hooks.secrets_of(request.query.get("workspace_id"))}


def make_secret(books, request):
    return 201, books.hooks.make_secret(request.json().get("workspace_id"))


def list_subscriptions(books, request):
    wanted = request.query.get("is_enabled", "true").lower() == "true"
    workspace = request.query.get("workspace_id")
    rows = [
        one.data()
        for one in books.hooks.subscriptions.values()
        if one.is_enabled == wanted and workspace in (None, one.workspace)
    ]
    return 200, {"results": rows}


def subscribe(books, request):
    asked = request.json()
    wanted = (asked.get("workspace_id"), asked.get("event_type"), asked.get("target_url"))
    made = books.hooks.subscribe(*wanted)
    data = {"results": [made.data()]} if books.hooks.replies_with_list else made.data()
    return 201, data, ("X-Hook-Secret", made.confirmation)


def get_subscription(books, request, id):
    return 200, books.hooks.subscription(id).data()


def confirm_subscription(books, request, id):
    return 200, books.hooks.confirm(id, request.json().get("secret")).data()


def change_subscription(books, request, id):
    subscription, changes = books.hooks.subscription(id), request.json()
    for name in {"event_type", "target_url", "is_enabled"} & set(changes):
        setattr(subscription, name, changes[name])
    subscription.failing_since = None
    return 200, subscription.data()


def drop_subscription(books, request, id):
    books.hooks.subscription(id)
    del books.hooks.subscriptions[id]
    return 204, {}


def list_events(books, request, id):
    deliveries = books.hooks.subscription(id).deliveries
    offset, limit = int(request.query.get("offset", 0)), int(request.query.get("limit", 100))
    rows = [
        {
            "id": delivery.event.id,
            "datetime_created": delivery.created_at,
            "event_type": "submission.status.change",
            "status": delivery.status,
        }
        for delivery in reversed(deliveries)
    ]
    return 200, {"results": rows[offset : offset + limit]}


# forms


def _basic(books, place):
    names = ("id", "participant", "started_at", "completed_at", "entered_code", "return_requested")
    status = _spelled(books, place.status)
    return {**{name: getattr(place, name) for name in names}, "status": status, "study_id": place.study}


def _short(books, place):
    return {
        "id": place.id,
        "participant_id": place.participant,
        "status": _spelled(books, place.status),
        "started_at": place.started_at,
        "completed_at": place.completed_at,
        "study_code": place.entered_code,
        "has_siblings": False,
        "return_requested": place.return_requested,
    }


def _spelled(books, status):
    return status.replace("-", " ").replace(" ", books.ids.choice(SPELLINGS))


def _page(books, request, rows):
    size = max(
        1, min(int(request.query.get("page_size", PAGE)), LARGEST_PAGE) * books.largest_page // LARGEST_PAGE
    )
    page = int(request.query.get("page", 1))
    before = (page - 1) * size
    if 0 < before < len(rows) and books.ids.random() < books.shifts:
        # What stood on a page before has gone meanwhile, and the rest moved up: one row is never shown.
        rows = rows[:]
        del rows[books.ids.randrange(before)]
    last = max(1, -(-len(rows) // size))
    if not 1 <= page <= last:
        raise Refusal(404, "Not found", "Invalid page.")

    others = urlencode({name: value for name, value in request.query.items() if name != "page"})

    def link(number):
        is_there = 1 <= number <= last
        return {"href": f"{request.base}{request.path}?{others}&page={number}" if is_there else None}

    links = {"self": link(page), "next": link(page + 1), "previous": link(page - 1), "last": link(last)}
    return {"results": rows[before : before + size], "_links": links}


ID = "/([^/]+)/"
ROUTES = [
    ("GET", "/users/me/", me),
    ("POST", "/researchers/participants/", make_test_participant),
    ("POST", "/studies/", create_study),
    ("GET", "/studies/", list_studies),
    ("GET", "/projects" + ID + "studies/", list_studies),
    ("GET", "/studies" + ID, get_study),
    ("PATCH", "/studies" + ID, patch_study),
    ("DELETE", "/studies" + ID, drop_study),
    ("POST", "/studies" + ID + "transition/", transition_study),
    ("POST", "/studies" + ID + "test-study", test_study),
    ("GET", "/studies" + ID + "cost/", get_cost),
    ("GET", "/studies" + ID + "submissions/", study_submissions),
    ("GET", "/reward-recommendations/", rewards_advised),
    ("GET", "/submissions/", list_submissions),
    ("POST", "/submissions/bonus-payments/", set_up_bonuses),
    ("POST", "/submissions/bulk-approve/", bulk_approve),
    ("GET", "/submissions" + ID, get_submission),
    ("POST", "/submissions" + ID + "transition/", transition_submission),
    ("POST", "/submissions" + ID + "request-return/", request_return),
    ("POST", "/bulk-bonus-payments" + ID + "pay/", pay_bonuses),
    ("GET", "/workspaces/", list_workspaces),
    ("GET", "/workspaces" + ID + "balance/", get_balance),
    ("GET", "/workspaces" + ID + "projects/", list_projects),
    ("GET", "/hooks/secrets/", list_secrets),
    ("POST", "/hooks/secrets/", make_secret),
    ("GET", "/hooks/subscriptions/", list_subscriptions),
    ("POST", "/hooks/subscriptions/", subscribe),
    ("GET", "/hooks/subscriptions" + ID, get_subscription),
    ("POST", "/hooks/subscriptions" + ID, confirm_subscription),
    ("PATCH", "/hooks/subscriptions" + ID, change_subscription),
    ("DELETE", "/hooks/subscriptions" + ID, drop_subscription),
    ("GET", "/hooks/subscriptions" + ID + "events/", list_events),
]
ROUTES = [(method, re.compile(ROOT + pattern), handler) for method, pattern, handler in ROUTES]
