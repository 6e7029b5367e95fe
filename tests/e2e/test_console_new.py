"""The console in the browser: from an empty server to a study, by keyboard alone and on a phone."""

import os
import shutil
import threading
from functools import partial

import pytest
from PIL import Image, ImageFilter

from backend.handlers import create_app
from backend.jobs.queue import jobs
from backend.jobs.worker import Worker
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.uploads.local_uploads import LocalUploads
from backend.web.server import in_background
from tests.e2e.conftest import Player, Site
from tests.e2e.test_accessibility import violations

OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def site(tmp_path, folders, copies):
    """A server that receives uploads, and a worker beside it."""
    store = open_store("sqlite:///openhype.db", tmp_path)
    data = DataDir(tmp_path)
    uploads, stop = LocalUploads(data), threading.Event()
    work = threading.Thread(target=Worker(store, data, uploads, tick_s=0.05).run, args=(stop, 0.05))
    made = Site(store, data, folders, copies)
    with in_background(create_app(store, data, data.keys(), uploads=uploads)) as url:
        made.url = url
        work.start()
        yield made
        stop.set()
        work.join(20)
    store.close()


@pytest.fixture
def player(page, site):
    page.set_default_timeout(20000)
    player = Player(page, site)
    yield player
    assert player.faults == []


class ByKeyboard:
    """Finds everything with the Tab key, and presses it with Enter or Space."""

    def __init__(self, page):
        self.page = page

    def reach(self, label):
        """Press Tab until what has the focus is called `label`."""
        for _ in range(150):
            self.page.keyboard.press("Tab")
            name = self.page.evaluate(
                "(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()"
            )
            if name.startswith(label):
                assert self.page.evaluate("document.activeElement.matches(':focus-visible')")
                return
        raise AssertionError(f"{label} cannot be reached by keyboard")

    def press(self, label):
        self.reach(label)
        self.page.keyboard.press("Enter")

    def write(self, label, text):
        self.reach(label)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)


class ByTouch:
    """Taps what is called so."""

    def __init__(self, page):
        self.page = page

    def press(self, label):
        self.page.locator(f":is(a, button, summary):visible:has-text('{label}')").first.click()

    def write(self, label, text):
        self.page.get_by_label(label).first.fill(text)


def choose(page, press, folder):
    with page.expect_file_chooser() as chooser:
        press()
    chooser.value.set_files(folder)


def go_to_pictures(page, site, name):
    """Sign in, and begin a study."""
    page.goto(f"{site.url}/console/new")
    page.fill("dialog #token", site.data.keys().researcher)
    page.keyboard.press("Enter")
    page.fill("#name", name)
    page.click("text=Continue to the pictures")
    page.wait_for_selector(".drop-zone")


def shown(page, selector):
    page.wait_for_selector(selector)
    found = violations(page)
    return {"violations": found, "overflow": page.evaluate(OVERFLOW)}


FOLDER = "button:visible:has-text('Choose a folder')"
GOOD = {"violations": [], "overflow": 0}


def folders_of(site, root):
    """Return reals, and a model that blurs: evaluators could tell it by that, besides by what it shows."""
    real, soft = root / "real", root / "soft"
    for folder in (real, soft):
        folder.mkdir()
    for i in range(12):
        shutil.copy(site.folders / "real" / f"{i}.png", real)
        picture = Image.open(site.folders / "gan" / f"{i}.png").filter(ImageFilter.GaussianBlur(1.2))
        picture.save(soft / f"{i}.jpg", quality=60)
    (soft / "broken.png").write_bytes(b"no picture")
    (soft / "notes.txt").write_text("stays here")
    return real, soft


@pytest.mark.core
@pytest.mark.parametrize(
    ("way", "width", "scheme"),
    [
        pytest.param(ByKeyboard, 1280, "light", id="keyboard"),
        pytest.param(ByTouch, 390, "dark", id="phone", marks=pytest.mark.slow("makes the study once more")),
    ],
)
def test_from_an_empty_server_to_a_study(player, site, tmp_path, way, width, scheme):
    page, hands = player.page, way(player.page)
    real, soft = folders_of(site, tmp_path)
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    seen = {}

    page.goto(f"{site.url}/console")
    seen["sign-in"] = shown(page, "dialog #token")
    page.keyboard.type(site.data.keys().researcher)
    page.keyboard.press("Enter")
    seen["home"] = shown(page, ".first-steps")
    hands.press("Make the first study")
    seen["name"] = shown(page, "#name")
    hands.write("Name", "Faces 2")
    hands.press("Continue to the pictures")
    page.wait_for_selector(".drop-zone")
    page.go_back()
    page.wait_for_selector("#name")
    back = page.input_value("#name")
    page.go_forward()
    page.wait_for_selector(".drop-zone")
    for heading, folder in (("Real pictures", real), ("Pictures of models", soft)):
        choose(page, partial(hands.press, f"Choose a folder: {heading}"), folder)
    page.locator(".slot:has-text('On the server')").nth(1).wait_for()
    left = page.inner_text(".slot .others >> nth=1")
    page.fill(".slot-name input", "so/ft")
    page.click("text=Continue to the check")
    page.wait_for_selector("main > .error:has-text('A name has to change first')")
    page.keyboard.press("Control+A")  # the field has the focus
    page.keyboard.type("soft")
    seen["pictures"] = shown(page, ".slot")
    hands.press("Continue to the check")
    seen["check"] = shown(page, ".refused")
    refused = page.inner_text(".refused")
    hands.press("Do this and check again")
    page.wait_for_selector("text=Do not leave files out")
    page.wait_for_selector("text=Do without these steps")
    hands.press("Continue to the settings")
    seen["too many"] = shown(page, "#setting-images-error:has-text('it has 12 of 50 reals')")
    page.reload()
    hands.press("Back to the check")
    page.wait_for_selector("text=Do without these steps")  # of the check before: there is no other job
    hands.press("Continue to the settings")
    page.wait_for_selector("#setting-images-error:has-text('it has 12 of 50 reals')")
    hands.write("Pictures that an evaluator judges", "8")
    seen["settings"] = shown(page, ".plan-facts dd >> nth=4")
    hands.write("Pictures that an evaluator judges", "9999")
    page.wait_for_selector("#setting-images-error:not(:empty)")
    hands.write("Pictures that an evaluator judges", "10")
    page.wait_for_selector("#setting-images-error:empty", state="attached")
    hands.press("Pages of instructions")
    hands.press("Add a page")
    hands.write("Heading", "Welcome")
    hands.press("Make the study")
    page.wait_for_selector(".entries .error:has-text('This is needed.')")
    seen["page"] = {"focus": page.evaluate("document.activeElement.labels?.[0].textContent")}
    page.keyboard.type("Sit down.")
    hands.press("Make the study")
    page.wait_for_url("**/console/studies/faces-2")

    study = site.store.study("faces-2")
    assert {screen: found for screen, found in seen.items() if found != GOOD} == {"page": {"focus": "Text"}}
    assert back == "faces-2"
    assert "notes.txt" in left
    assert "broken.png" in refused
    assert sum(job.kind == "audit" for job in jobs(site.store)) == 2  # as it was, and with both remedies
    assert study.protocol.stimuli.images == 10
    assert [(each.title, each.text) for each in study.pages] == [("Welcome", "Sit down.")]
    assert sum(each.truth == "fake" for each in site.store.stimuli("faces-2")) == 12
    assert [*site.store.entries("drafts")] == []


@pytest.mark.slow("makes a study of pictures in class folders on a phone")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_class_folders_beside_flat_samples_and_long_names_of_files_fit_a_phone(
    player, site, tmp_path, scheme
):
    page, long = player.page, "a" * 90
    real, gan = tmp_path / "real", tmp_path / "gan"
    gan.mkdir()
    for i in range(12):
        (class_ := real / ("cat", "dog")[i % 2]).mkdir(parents=True, exist_ok=True)
        shutil.copy(site.folders / "real" / f"{i}.png", class_)
        shutil.copy(site.folders / "gan" / f"{i}.png", gan)
    shutil.copy(gan / "0.png", gan / f"{long}.png")
    (gan / f"{long}.txt").write_text("x")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 375, "height": 800})
    seen = {}

    go_to_pictures(page, site, "classes")
    for heading, folder in (("Real pictures", real), ("Pictures of models", gan)):
        choose(page, page.locator(f"section:has(h2:text-is('{heading}')) {FOLDER}").first.click, folder)
    page.locator(".slot:has-text('On the server')").nth(1).wait_for()
    page.click("text=Continue to the check")
    seen["folders"] = shown(page, "text=Ignore the sub-folders")
    page.click("text=Do this and check again")
    seen["check"] = shown(page, "text=Take sub-folders as classes and check again")
    page.click("text=Continue to the settings")
    page.get_by_label("Pictures that an evaluator judges").fill("10")
    page.click("text=Make the study")
    page.wait_for_url("**/console/studies/classes")
    page.goto(f"{site.url}/console/studies/classes/settings")
    seen["settings"] = shown(page, "h2:text-is('Notes')")

    assert {screen: found for screen, found in seen.items() if found != GOOD} == {}
    assert site.store.study("classes").classes == ()
    assert f"gan/{long}.png" in page.inner_text("main")
    assert str(tmp_path) not in page.inner_text("main")


def test_a_connection_cut_ten_times_and_a_page_loaded_again_lose_nothing(player, site, tmp_path):
    page, sent, cuts = player.page, [], []
    large = tmp_path / "large"
    large.mkdir()
    for i in range(2):  # bitmaps of 12.6 MB make five parts
        Image.effect_noise((2048, 2048), 90).convert("RGB").save(large / f"{i}.bmp")

    def route(route):
        if route.request.method != "PUT":
            return route.continue_()
        if len(cuts) < 10 and len(sent) >= 2:
            cuts.append(route.request.url)
            return route.abort("connectionreset")
        sent.append(route.request.url)
        return route.continue_()

    page.route("**/api/uploads/**", route)
    go_to_pictures(page, site, "cut")
    for load in range(2):
        choose(page, page.locator(f"section:has(h2:text-is('Real pictures')) {FOLDER}").first.click, large)
        if load == 0:
            page.wait_for_selector(".slot:has-text('connection is lost')")
            page.on("dialog", lambda dialog: dialog.accept())
            page.reload()
            page.wait_for_selector(".slot:has-text('only the rest is sent')")
    page.wait_for_selector(".slot:has-text('On the server')", timeout=40000)

    (draft,) = site.store.entries("drafts")
    upload = LocalUploads(site.data).upload(draft.data["body"]["real"])
    assert upload.state == "complete"
    assert len(cuts) == 10
    assert len(upload.parts) == 5
    assert len(sent) <= len(upload.parts) + 3  # what was under way when the page was loaded again


def test_a_picture_that_is_changed_while_it_is_sent_is_noticed(player, site, tmp_path):
    page, folder = player.page, tmp_path / "real"
    folder.mkdir()
    shutil.copy(site.folders / "real" / "0.png", folder)

    def route(route):
        if route.request.method == "PUT":
            os.utime(folder / "0.png", (1, 1))
        route.continue_()

    page.route("**/api/uploads/**", route)
    go_to_pictures(page, site, "changed")
    choose(page, page.locator(f"section:has(h2:text-is('Real pictures')) {FOLDER}").first.click, folder)

    page.wait_for_selector(".slot .error:has-text('it was changed, moved or deleted after it was chosen')")
    assert page.locator(f"section:has(h2:text-is('Real pictures')) {FOLDER}").count() == 1
