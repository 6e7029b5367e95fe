"""Prolific's HTTP interface as a function from request to reply, over the fake's books."""

import json
import re
from dataclasses import dataclass
from urllib.parse import urlencode

from .books import Refusal

ROOT = "/api/v1"
PAGE = 20


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
    """Return (status, data) of one request."""
    try:
        if request.authorization != f"Token {books.token}":
            raise Refusal(401, "Authentication credentials were not valid", "Invalid token.")
        for method, pattern, handler in ROUTES:
            found = re.fullmatch(ROOT + pattern, request.path)
            if found and method == request.method:
                with books.lock:
                    return handler(books, request, *found.groups())
        raise Refusal(404, "Not found", "no such address")
    except Refusal as refusal:
        error = {"status": refusal.status, "error_code": 140000 + refusal.status, "title": refusal.title}
        return refusal.status, {"error": {**error, "detail": refusal.detail}}


def create_study(books, request):
    return 201, books.create_study(request.json())


def list_studies(books, request):
    state = request.query.get("state")
    rows = [books.study(id) for id in books.studies]
    return 200, _page(request, [row for row in rows if state in (None, row["status"])])


def get_study(books, request, id):
    return 200, books.study(id)


def patch_study(books, request, id):
    return 200, books.change_study(id, request.json())


def transition_study(books, request, id):
    return 200, books.transition_study(id, request.json().get("action"))


def get_cost(books, request, id):
    def part(cents):
        amounts = {"rewards": cents, "fees": books.with_fee(cents) - cents, "tax": 0}
        return {name: {"amount": amount, "currency": "USD"} for name, amount in amounts.items()}

    paid = books.cost(id)
    return 200, {"rewards": part(paid["rewards"]), "bonuses": part(paid["bonuses"])}


def study_submissions(books, request, id):
    rows = [_short(place, place.status) for place in books.places_of(id)]
    return 200, _page(request, rows)


def list_submissions(books, request):
    if "study" not in request.query:
        raise Refusal(400, "Validation error", {"study": ["this parameter is required"]})
    rows = [
        _short(place, place.status.replace(" ", "_")) for place in books.places_of(request.query["study"])
    ]
    return 200, _page(request, rows)


def get_submission(books, request, id):
    place = books.place(id)
    return 200, {**_basic(place), "bonus_payments": books.bonuses(id)}


def transition_submission(books, request, id):
    asked = request.json()
    action, place = asked.get("action"), books.place(id)
    if action == "COMPLETE":
        percentage = asked.get("completion_code_data", {}).get("percentage_of_reward")
        books.submit(id, asked.get("completion_code"), "researcher", percentage)
    elif action == "APPROVE":
        books.approve(id)
    elif action == "REJECT":
        if len(asked.get("message", "")) < 100 or "rejection_category" not in asked:
            raise Refusal(400, "Validation error", {"message": ["must be at least 100 characters long"]})
        books.reject(id)
    else:
        raise Refusal(400, "Validation error", {"action": [f"{action} is not a valid choice"]})
    return 200, _basic(place)


def bulk_approve(books, request):
    for id in request.json().get("submission_ids", []):
        books.approve(id)
    return 200, "The request to bulk approve has been made successfully."


def set_up_bonuses(books, request):
    asked = request.json()
    bulk = books.set_up_bonuses(asked.get("study_id"), asked.get("csv_bonuses", ""))
    amount = sum(cents for _, cents in bulk.lines)
    total = books.with_fee(amount)
    money = {"amount": amount, "fees": total - amount, "vat": 0, "total_amount": total}
    return 201, {"id": bulk.id, "study": bulk.study, **money}


def pay_bonuses(books, request, id):
    books.pay_bulk(id)
    return 202, "The bonuses will be paid shortly."


def me(books, request):
    return 200, {"id": "r" * 24, "currency_code": "USD"}


def _basic(place):
    names = ("id", "participant", "started_at", "completed_at", "entered_code", "status", "return_requested")
    return {**{name: getattr(place, name) for name in names}, "study_id": place.study}


def _short(place, status):
    return {
        "id": place.id,
        "participant_id": place.participant,
        "status": status,
        "started_at": place.started_at,
        "completed_at": place.completed_at,
        "study_code": place.entered_code,
        "has_siblings": False,
        "return_requested": place.return_requested,
    }


def _page(request, rows):
    size, page = int(request.query.get("page_size", PAGE)), int(request.query.get("page", 1))
    last = max(1, -(-len(rows) // size))
    if not 1 <= page <= last:
        raise Refusal(404, "Not found", "Invalid page.")

    def link(number):
        query = urlencode({**request.query, "page": number})
        return {"href": f"{request.base}{request.path}?{query}" if 1 <= number <= last else None}

    links = {"self": link(page), "next": link(page + 1), "previous": link(page - 1), "last": link(last)}
    return {
        "results": rows[(page - 1) * size : page * size],
        "_links": links,
        "meta": {"count": len(rows)},
    }


ID = "/([^/]+)/"
ROUTES = [
    ("GET", "/users/me/", me),
    ("POST", "/studies/", create_study),
    ("GET", "/studies/", list_studies),
    ("GET", "/studies" + ID, get_study),
    ("PATCH", "/studies" + ID, patch_study),
    ("POST", "/studies" + ID + "transition/", transition_study),
    ("GET", "/studies" + ID + "cost/", get_cost),
    ("GET", "/studies" + ID + "submissions/", study_submissions),
    ("GET", "/submissions/", list_submissions),
    ("POST", "/submissions/bonus-payments/", set_up_bonuses),
    ("POST", "/submissions/bulk-approve/", bulk_approve),
    ("GET", "/submissions" + ID, get_submission),
    ("POST", "/submissions" + ID + "transition/", transition_submission),
    ("POST", "/bulk-bonus-payments" + ID + "pay/", pay_bonuses),
]
