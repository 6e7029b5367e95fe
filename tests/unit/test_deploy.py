"""The application for WSGI servers is made from the environment, when asked for."""

import json
from pathlib import Path

import pytest

from backend.errors import InvalidInput
from deploy import api

ROOT = Path(__file__).resolve().parents[2]


def test_an_unset_variable_is_named():
    with pytest.raises(InvalidInput, match="OPENHYPE_STORE is not set"):
        api.from_environment({"OPENHYPE_DATA": "x"})


def test_the_environment_gives_an_application(tmp_path):
    app = api.from_environment({"OPENHYPE_STORE": "sqlite:///a.db", "OPENHYPE_DATA": str(tmp_path)})

    assert app.test_client().get("/api/openapi.json").status_code == 200


def test_zappa_names_an_application_that_is_there_and_no_debugging():
    settings = json.loads((ROOT / "zappa_settings.json").read_text())["base"]

    module, _, name = settings["app_function"].rpartition(".")
    assert (module, name) == (api.__name__, "app")
    assert settings["debug"] is False
