"""Pictures go to a bucket once, with headers that last, and in an order that tells nothing."""

import hashlib

import boto3
import pytest

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.foundation.errors import InvalidInput, StoreFailed
from backend.foundation.timestamps import utc_now
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.web import headers
from deploy.s3_upload import MayNotDelete, Place, parse_place, remove_pictures, upload, upload_pictures

PLACE = Place("pictures", "public/")


def pictures(folder, count=40, suffix=".png"):
    folder.mkdir()
    for i in range(count):
        name = hashlib.md5(f"{i}".encode()).hexdigest()
        (folder / f"{name}{suffix}").write_bytes(f"picture {i}".encode())
    return folder


def keys(bucket):
    return [entry["Key"] for entry in bucket.list_objects_v2(Bucket="pictures").get("Contents", [])]


@pytest.mark.parametrize(
    ("suffix", "kind"), [(".webp", "image/webp"), (".png", "image/png"), (".jpg", "image/jpeg")]
)
def test_pictures_stand_under_their_study_with_type_and_lasting_headers(bucket, tmp_path, suffix, kind):
    folder = pictures(tmp_path / "faces", suffix=suffix)

    sent = upload_pictures(PLACE, "faces", folder)

    assert sent == 40
    assert keys(bucket) == sorted(f"public/i/faces/{path.name}" for path in folder.iterdir())
    first = bucket.get_object(Bucket="pictures", Key=keys(bucket)[0])
    assert (first["ContentType"], first["CacheControl"]) == (kind, headers.IMMUTABLE)
    assert first["Metadata"] == {}


def test_what_is_there_is_not_sent_again_and_what_differs_is(bucket, tmp_path):
    folder = pictures(tmp_path / "faces")
    upload_pictures(PLACE, "faces", folder)
    (lost, spoilt, *_) = keys(bucket)
    bucket.delete_object(Bucket="pictures", Key=lost)
    bucket.put_object(Bucket="pictures", Key=spoilt, Body=b"half a pic")

    assert upload_pictures(PLACE, "faces", folder) == 2
    assert upload_pictures(PLACE, "faces", folder) == 0


def test_files_go_up_in_the_order_of_their_names(bucket, tmp_path, monkeypatch):
    count, at_once = 300, 16
    files = {f"i/s/{path.name}": path for path in pictures(tmp_path / "s", count).iterdir()}
    by_content = dict(sorted(files.items(), key=lambda item: item[1].read_bytes()))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", boto3.Session())
    sent = []
    boto3.DEFAULT_SESSION.events.register(
        "provide-client-params.s3.PutObject", lambda params, **_: sent.append(params["Key"])
    )

    upload(PLACE, by_content, "no-cache")

    expected = {f"public/{key}": place for place, key in enumerate(sorted(files))}
    assert len(sent) == count
    assert max(abs(expected[key] - place) for place, key in enumerate(sent)) < 2 * at_once


def test_a_study_is_stored_only_when_its_pictures_are_up(bucket, tmp_path, picture_folders):
    store, data = open_store("sqlite:///a.db", tmp_path), DataDir(tmp_path)
    order = StudySpec(
        "s", "study", "infinity", picture_folders["real"], (("m", picture_folders["fake"]),),
        {"images": 4, "spare_images": 0, "size_px": 16},
    )  # fmt: skip

    def publish(place):
        return lambda study, folder: upload_pictures(place, study, folder)

    with pytest.raises(StoreFailed, match=r"s3://elsewhere/public: .*NoSuchBucket"):
        create(store, data, order, utc_now(), publish=publish(Place("elsewhere", "public/")))
    assert store.studies() == []
    study = create(store, data, order, utc_now(), publish=publish(PLACE))

    names = {f"public/i/s/{stimulus.name}" for stimulus in store.stimuli(study.name)}
    assert set(keys(bucket)) == names
    store.close()


@pytest.fixture
def picture_folders(tmp_path):
    from PIL import Image

    folders = {side: tmp_path / side for side in ("real", "fake")}
    for tint, folder in enumerate(folders.values()):
        folder.mkdir()
        for i in range(4):
            Image.new("RGB", (16, 16), (40 * i, 100 * tint, 9)).save(folder / f"{i}.png")
    return folders


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("s3://b", Place("b", "")),
        ("s3://b/public/", Place("b", "public/")),
        ("s3://b/a/c", Place("b", "a/c/")),
    ],
)
def test_a_place_is_read_from_its_url(url, place):
    assert parse_place(url) == place


@pytest.mark.parametrize("url", ["b/public", "s3:///x", "https://b.s3.amazonaws.com"])
def test_a_place_of_another_form_is_refused(url):
    with pytest.raises(InvalidInput, match="uploaded to s3://BUCKET/PREFIX, not to"):
        parse_place(url)


def test_without_the_folder_nothing_is_uploaded(tmp_path):
    with pytest.raises(InvalidInput, match="upload from the data directory the study was made in"):
        upload_pictures(PLACE, "faces", tmp_path / "faces")


@pytest.mark.slow("removes thousands of pictures from a bucket")
def test_the_pictures_of_a_study_are_removed_and_no_others(bucket, tmp_path):
    for study in ("faces", "faces-64"):
        upload_pictures(PLACE, study, pictures(tmp_path / study, 1100 if study == "faces" else 3))

    counts = [remove_pictures(PLACE, "faces") for _ in range(2)]

    assert counts == [1100, 0]
    assert [key.startswith("public/i/faces-64/") for key in keys(bucket)] == [True] * 3


class Refusing:
    """S3 as it replies to who may list a bucket and not delete in it: with an error for each key."""

    def __init__(self, code):
        self._code = code

    def get_paginator(self, operation):
        return self

    def paginate(self, **_):
        return [{"Contents": [{"Key": "public/i/faces/a.png"}]}]

    def delete_objects(self, **_):
        return {"Errors": [{"Key": "public/i/faces/a.png", "Code": self._code, "Message": "no"}]}


@pytest.mark.parametrize(("code", "kind"), [("AccessDenied", MayNotDelete), ("InternalError", StoreFailed)])
def test_pictures_that_one_may_not_delete_are_told_from_a_bucket_that_fails(code, kind):
    with pytest.raises(StoreFailed, match=r"faces/a\.png could not be deleted: no") as raised:
        remove_pictures(PLACE, "faces", Refusing(code))

    assert type(raised.value) is kind


def test_a_bucket_from_which_nothing_can_be_removed_is_said(cloud):
    with pytest.raises(StoreFailed, match=r"s3://pictures/public: .* what is left is deleted the next time"):
        remove_pictures(PLACE, "faces")
