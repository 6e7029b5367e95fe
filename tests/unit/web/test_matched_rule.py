"""Routes of which no URL is built."""

import pytest
from flask import Flask, url_for

from backend.web.matched_rule import MatchedRule


@pytest.fixture
def app():
    app = Flask(__name__, static_folder=None)
    app.url_rule_class = MatchedRule

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
