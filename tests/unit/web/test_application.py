"""Flask as we use it: no URL is built of a route."""

import pytest
from flask import url_for

from backend.web.application import Application, MatchedRule


@pytest.fixture
def app():
    app = Application(__name__, static_folder=None)

    @app.get("/studies/<study>/sessions/<int:number>")
    def session(study, number):
        return f"{study} {number}"

    return app


def test_a_request_is_matched_with_its_values(app):
    assert app.test_client().get("/studies/faces/sessions/7").text == "faces 7"


def test_building_a_url_says_what_to_do(app):
    with app.test_request_context(), pytest.raises(NotImplementedError, match="write its path out"):
        url_for("session", study="faces", number=7)


def test_werkzeug_compiles_nothing_for_building(app, monkeypatch):
    def compiled(code, name):
        raise AssertionError(f"{name} was compiled")

    monkeypatch.setattr(MatchedRule, "_get_func_code", staticmethod(compiled))

    app.add_url_rule("/other/<name>", "other", lambda name: name)
