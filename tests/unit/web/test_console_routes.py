"""The console's page: the same for every path under it, without data, and safe against other sites."""

import re

import pytest
from flask import Flask, Response

from backend.experiment.judgments import METHODS
from backend.foundation.names import VIDEO_ENDINGS
from backend.stimuli import images
from backend.stimuli.clips.clip_file import SUFFIX
from backend.web import assets, console_routes

from .members import as_member, token


@pytest.mark.parametrize("path", ["/console", "/console/", "/console/studies/faces", "/console/a/b/c/<x>"])
def test_every_path_of_the_console_is_its_page_without_a_sign_in(world, path):
    reply = world.http.get(path)

    assert reply.status_code == 200
    assert reply.data == world.http.get("/console").data
    assert "Set-Cookie" not in reply.headers


def test_other_sites_can_neither_frame_it_nor_be_reached_from_it(world):
    policy = world.http.get("/console").headers["Content-Security-Policy"]

    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "connect-src 'self';" in policy
    assert "unsafe" not in policy


def test_parts_may_be_sent_to_the_bucket_that_takes_them():
    app = Flask("console")
    console_routes.add_pages(app, lambda: Response("page"), ["https://pictures.s3.example"])

    policy = app.test_client().get("/console").headers["Content-Security-Policy"]

    assert "connect-src 'self' https://pictures.s3.example;" in policy


def test_a_name_that_can_be_none_is_no_page(world):
    assert world.http.get(f"/console/{'x' * 129}").status_code == 404


def test_the_console_takes_what_the_server_knows_as_pictures_and_nothing_else():
    source = (assets.FRONTEND / "console" / "files.js").read_text("utf-8")
    (listed,) = re.findall(r"const PICTURES = new Set\((.*?)\.split", source, re.DOTALL)

    known = images.SUFFIXES | images.OTHER_PICTURES | VIDEO_ENDINGS | {SUFFIX}
    assert {f".{name}" for name in re.findall(r"\w+", listed)} == known


def test_the_console_is_given_every_method_in_words(world):
    me = as_member(token(world, "ada", "researcher"))

    methods = world.http.get("/api/methods", headers=me).json["methods"]

    assert [each["method"] for each in methods] == [*METHODS, "qualification"]
    assert all(each["about"] for each in methods)
    assert len({each["title"] for each in methods}) == len(methods)
    assert {each["method"]: each["parts"] for each in methods if each["parts"]} == {
        "2afc": ["ref", "p0", "p1"],
        "jnd": ["p0", "p1"],
    }
