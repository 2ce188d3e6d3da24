"""List, then watch: no change is missed or sent twice, and a compacted version is reported."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.contract.clusters import ClusterNamespace, place, secret
from tests.error_codes import raises_fields
from tests.waiting import until
from worker.k8s.cluster import LEASES, SECRETS, ClusterUnavailable, ObjectConflict, VersionGone, WatchEvent

__all__ = ["place"]
YOUNG = 100_000
"""Below this version, servers may still know the first."""
WHOLE_SECONDS = 60.0
"""Until a watch must have told all that a list has."""


def told(place: ClusterNamespace, version: str, *, seconds: float = 1.0, **rest: str) -> list[WatchEvent]:
    """Events of a watch of that duration, without bookmarks."""
    with place.port.watch(SECRETS, version, seconds=seconds, **rest) as watch:
        return [change for change in watch if change.type != "BOOKMARK"]


def until_told(watch: Iterator[WatchEvent], kind: str) -> WatchEvent:
    """The next change of a kind."""
    return next(change for change in watch if change.type == kind)


class TestWatch:
    def test_sends_changes_after_a_version_in_order(self, place: ClusterNamespace) -> None:
        place.port.create(SECRETS, secret("old"))
        since = place.port.list(SECRETS).version
        place.port.create(SECRETS, secret("new"))
        place.port.patch(SECRETS, "new", {"metadata": {"labels": {"a": "b"}}})
        place.port.delete(SECRETS, "new")
        found = told(place, since)
        assert [(one.type, one.object["metadata"]["name"]) for one in found] == [
            ("ADDED", "new"), ("MODIFIED", "new"), ("DELETED", "new"),
        ]  # fmt: skip
        versions = [int(one.version) for one in found]
        assert versions == sorted(versions)
        assert versions[0] > int(since)

    def test_resumes_from_the_last_version(self, place: ClusterNamespace) -> None:
        since = place.port.list(SECRETS).version
        place.port.create(SECRETS, secret("one"))
        place.port.create(SECRETS, secret("two"))
        first = told(place, since)[0]
        assert [one.object["metadata"]["name"] for one in told(place, first.version)] == ["two"]

    def test_ends_by_itself(self, place: ClusterNamespace) -> None:
        assert told(place, place.port.list(SECRETS).version) == []

    def test_a_selector_turns_coming_and_going_into_added_and_deleted(self, place: ClusterNamespace) -> None:
        since = place.port.list(SECRETS).version
        place.port.create(SECRETS, secret("one"))
        place.port.patch(SECRETS, "one", {"metadata": {"labels": {"mine": "yes"}}})
        place.port.patch(SECRETS, "one", {"metadata": {"labels": {"more": "yes"}}})
        place.port.patch(SECRETS, "one", {"metadata": {"labels": {"mine": None}}})
        assert [one.type for one in told(place, since, labels="mine=yes")] == ["ADDED", "MODIFIED", "DELETED"]

    def test_bookmarks_carry_a_version_where_nothing_changes(self, place: ClusterNamespace) -> None:
        """A real server sends them about once a minute, and one before a watch's end."""
        since = place.port.list(SECRETS).version
        place.port.create(LEASES, {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "x"}})
        with place.port.watch(SECRETS, since, seconds=3 if place.fake else 90) as watch:
            mark = until_told(iter(watch), "BOOKMARK")
        assert int(mark.version) >= int(since)
        assert set(mark.object) <= {"kind", "apiVersion", "metadata", "type", "data", "spec", "status"}
        assert told(place, mark.version) == []

    def test_list_then_watch_misses_nothing_while_others_write(self, place: ClusterNamespace) -> None:
        """Four writers create, change and delete; a client that lists and watches ends with the existing objects."""
        writers = [threading.Thread(target=write, args=(place, number)) for number in range(4)]
        for writer in writers:
            writer.start()
        listed = place.port.list(SECRETS, labels="mine=yes")
        known: dict[str, Any] = {one["metadata"]["name"]: one for one in listed.items}
        version, ends = listed.version, time.monotonic() + WHOLE_SECONDS
        there: dict[str, Any] | None = None
        # What a list has, straight from the store, a watch may come to tell a moment later.
        while known != there and time.monotonic() < ends:
            if there is None and not any(writer.is_alive() for writer in writers):
                there = {one["metadata"]["name"]: one for one in place.port.list(SECRETS, labels="mine=yes").items}
            with place.port.watch(SECRETS, version, labels="mine=yes", seconds=1) as watch:
                for change in watch:
                    version = change.version
                    follow(known, change)
        assert there is not None
        assert known == there
        assert len(there) == 4 * 5

    def test_closing_wakes_who_reads(self, place: ClusterNamespace) -> None:
        watch = place.port.watch(SECRETS, place.port.list(SECRETS).version, seconds=60)
        reader = threading.Thread(target=lambda: list(watch))
        reader.start()
        watch.close()
        reader.join(60)
        assert not reader.is_alive()


def write(place: ClusterNamespace, number: int) -> None:
    """Ten objects, each changed, every second one deleted."""
    for turn in range(10):
        name = f"w-{number}-{turn}"
        place.port.create(SECRETS, secret(name, labels={"mine": "yes"}))
        place.port.patch(SECRETS, name, {"metadata": {"annotations": {"turn": str(turn)}}})
        if turn % 2:
            place.port.delete(SECRETS, name)


def follow(known: dict[str, Any], change: WatchEvent) -> None:
    """Applies events to the known objects; each event must fit those before it."""
    if change.type == "BOOKMARK":
        return
    name = change.object["metadata"]["name"]
    assert (name in known) == (change.type != "ADDED"), (change.type, name)
    if change.type == "DELETED":
        del known[name]
    else:
        known[name] = change.object


class TestForgotten:
    def test_a_watch_from_a_forgotten_version_says_so(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        place.port.create(SECRETS, secret("one"))
        fake.compact()
        with raises_fields(VersionGone, code=410, mentions="too old resource version: 1 (") as caught:
            list(place.port.watch(SECRETS, "1", seconds=5))
        assert (caught.value.code, caught.value.reason) == (410, "Expired")

    def test_the_first_version_of_all_is_forgotten_on_a_cluster_that_has_lived(self, place: ClusterNamespace) -> None:
        if place.fake:
            place.fake.compact()
        elif int(place.port.list(SECRETS).version) < YOUNG:
            pytest.skip("needs a cluster that has lived: this one is so young that it has forgotten nothing")
        with pytest.raises(VersionGone):
            list(place.port.watch(SECRETS, "1", seconds=5))

    def test_new_list_can_be_watched(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        place.port.create(SECRETS, secret("one"))
        fake.compact()
        since = place.port.list(SECRETS).version
        place.port.create(SECRETS, secret("two"))
        assert [one.object["metadata"]["name"] for one in told(place, since)] == ["two"]

    def test_a_watch_that_has_told_everything_continues_through_it(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        with place.port.watch(SECRETS, place.port.list(SECRETS).version, seconds=20) as watch:
            changes = iter(watch)
            place.port.create(SECRETS, secret("one"))
            assert until_told(changes, "ADDED").object["metadata"]["name"] == "one"
            fake.compact()
            place.port.create(SECRETS, secret("two"))
            assert until_told(changes, "ADDED").object["metadata"]["name"] == "two"

    def test_a_part_of_a_list_from_it_is_refused(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        for number in range(3):
            place.port.create(SECRETS, secret(f"s-{number}"))
        token = place.ask("GET", place.path(SECRETS), query="limit=1").body["metadata"]["continue"]
        fake.compact()
        place.port.create(SECRETS, secret("more"))
        fake.compact()
        said = place.ask("GET", place.path(SECRETS), query=f"limit=1&continue={token}")
        assert (said.status, said.body["reason"]) == (410, "Expired")

    def test_a_version_that_is_to_come_is_too_large(self, place: ClusterNamespace) -> None:
        query = "resourceVersion=9999999999999&resourceVersionMatch=NotOlderThan"
        said = place.ask("GET", place.path(SECRETS), query=query)
        assert (said.status, said.body["reason"]) == (504, "Timeout")
        assert "Too large resource version" in said.body["message"]


class TestBrokenLines:
    def test_a_cut_watch_is_said_to_be_cut(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        watch = place.port.watch(SECRETS, place.port.list(SECRETS).version, seconds=60)
        until(lambda: fake.api.watches == 1)
        assert fake.api.cut_watches() == 1
        with pytest.raises(ClusterUnavailable):
            list(watch)
        until(lambda: fake.api.watches == 0)

    def test_a_watch_that_begins_while_the_server_is_away_is_cut(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        version = place.port.list(SECRETS).version
        delay = fake.faults.slow(1.0, "watch", times=1)
        with ThreadPoolExecutor(1) as pool:
            watch = pool.submit(lambda: list(place.port.watch(SECRETS, version, seconds=60)))
            until(lambda: delay.times == 0)
            fake.faults.away = True
            fake.api.cut_watches()
            with pytest.raises(ClusterUnavailable):
                watch.result()

    def test_a_watch_that_the_server_ends_just_ends(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        watch = place.port.watch(SECRETS, place.port.list(SECRETS).version, seconds=60)
        until(lambda: fake.api.watches == 1)
        fake.api.cut_watches(reset=False)
        assert list(watch) == []

    def test_a_client_that_goes_away_is_noticed(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        with place.port.watch(SECRETS, place.port.list(SECRETS).version, seconds=600):
            until(lambda: fake.api.watches == 1)
        until(lambda: fake.api.watches == 0)

    def test_an_answer_that_is_lost_may_have_been_done(self, place: ClusterNamespace) -> None:
        """A client whose creation got no answer tries again; the second try reports that the object exists."""
        fake = place.only_fake()
        fake.faults.cut("create", after=True)
        with pytest.raises(ClusterUnavailable):
            place.port.create(SECRETS, secret("one"))
        with pytest.raises(ObjectConflict):
            place.port.create(SECRETS, secret("one"))

    def test_a_request_that_is_cut_before_is_not_done(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        fake.faults.cut("create")
        with pytest.raises(ClusterUnavailable):
            place.port.create(SECRETS, secret("one"))
        assert place.port.create(SECRETS, secret("one"))

    def test_throttling_and_failing_servers_are_unavailable(self, place: ClusterNamespace) -> None:
        fake = place.only_fake()
        fake.faults.throttle("list", retry_after=7)
        said = place.ask("GET", place.path(SECRETS))
        assert (said.status, said.headers["Retry-After"]) == (429, "7")
        assert said.text == "Too many requests, please try again later.\n", "a server that is too busy makes no Status"
        for fault in (fake.faults.throttle, fake.faults.fail):
            fault("list", times=1)
            with pytest.raises(ClusterUnavailable):
                place.port.list(SECRETS)
        assert place.port.list(SECRETS).items == ()
