"""A qualification that was taken on the way to a study is paid as a bonus there, also later."""

import dataclasses

from backend.administration import delete
from backend.payment import accounts as owing
from backend.payment import automatic
from backend.recruitment import sync
from backend.recruitment.sync_thread import Watch
from backend.stores.datadir import DataDir
from backend.studies import lifecycle

from .. import sample_studies as studies
from ..memory import MemoryStore
from ..payday import BASE, BONUS, SETTINGS, Payday

AT = "2026-01-05T00:00:00.000Z"
TEST = 40 + 6 * BONUS


class OnTheWay(Payday):
    """A study with one person, who finished it after a test that pays 40 and for six right answers."""

    def __init__(self):
        super().__init__(MemoryStore())
        entry = studies.recruitment(panel_study=self.panel_study, state="stopped")
        self.store.write_entry("recruitment faces", "prolific", 0, entry)
        self.study = lifecycle.begin(self.store, self.study, AT)
        settings = {**SETTINGS, "base_usd_cents": 40}
        test = studies.study("gate", kind="qualification", panel="prolific", **settings)
        self.test = dataclasses.replace(test, begun_at=AT)
        self.store.add_study(self.test, [])
        _, self.place = self.person(right=7)
        ((session, cursor),) = self.store.sessions("faces")
        taken = dataclasses.replace(session, id="gate-1", study="gate", evaluator="g001")
        self.store.add_session(taken, dataclasses.replace(cursor, right={"real": 3, "fake": 3}))

    def pay_automatically(self):
        for name in ("faces", "gate"):
            owing.set_budget(self.store, name, 10_000)
            if study := next((one for one in self.store.studies() if one.name == name), None):
                automatic.approve(self.store, study, self.clock())
        return automatic.run(self.store, self.panel, self.clock)


def test_a_test_on_the_way_is_paid_automatically():
    payday = OnTheWay()

    assert payday.pay_automatically() == {"faces": (), "gate": ()}

    assert payday.counts() == {
        (payday.place.id, "reward"): [BASE], (payday.place.id, "bonus"): [7 * BONUS, TEST]
    }  # fmt: skip


def test_a_test_on_the_way_stays_finished_also_where_people_are_recruited_for_the_test_itself():
    payday = OnTheWay()
    entry = studies.recruitment(panel_study="gates", state="published")
    payday.store.write_entry("recruitment gate", "prolific", 0, entry)

    watch = Watch(payday.store, payday.panel, clock=payday.clock, has_thread=False)
    watch.closed(payday.test, payday.store.session("gate-1"))

    assert payday.store.cursor("gate-1").state == "finished"


def test_a_test_on_the_way_is_paid_although_its_study_was_deleted_before_its_debt_was_entered(tmp_path):
    payday = OnTheWay()
    payday.payer().run()

    delete.delete(payday.store, DataDir(tmp_path), payday.study, payday.clock())
    payday.pay_automatically()

    assert payday.counts()[payday.place.id, "bonus"] == [7 * BONUS, TEST]
    ((_, account),) = owing.accounts(payday.store, "gate").values()
    assert (account.reward, account.bonus) == ("none", "confirmed")


def test_a_test_on_the_way_to_a_deleted_study_stays_passed(tmp_path):
    payday = OnTheWay()
    payday.payer().run()
    delete.delete(payday.store, DataDir(tmp_path), payday.study, payday.clock())

    assert list(sync.of_panel(payday.store, payday.test)) == []
