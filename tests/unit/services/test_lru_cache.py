from concurrent.futures import ThreadPoolExecutor
from threading import Event

from backend.services.lru_cache import LruCache


class TestLruCache:
    def test_forgets_the_least_recently_used(self) -> None:
        cache: LruCache[str, int] = LruCache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        assert cache.get("a") == 1
        cache.put("c", 3)
        assert [cache.get(key) for key in "abc"] == [1, None, 3]

    def test_a_value_put_again_is_the_newest(self) -> None:
        cache: LruCache[str, int] = LruCache(2)
        for key, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
            cache.put(key, value)
        assert [cache.get(key) for key in "abc"] == [3, None, 4]

    def test_makes_what_is_missing_once(self) -> None:
        cache: LruCache[str, list[int]] = LruCache(2)
        first = cache.get_or_make("a", list)
        assert cache.get_or_make("a", list) is first

    def test_failed_values_are_not_stored(self) -> None:
        cache: LruCache[str, int] = LruCache(2)
        failures = 0
        for _ in range(2):
            try:
                cache.get_or_make("a", lambda: 1 // 0)
            except ZeroDivisionError:
                failures += 1
        assert (failures, cache.get("a")) == (2, None)

    def test_concurrent_misses_compute_the_value_once(self) -> None:
        cache: LruCache[str, int] = LruCache(2)
        started, finish, calls = Event(), Event(), list[int]()

        def make() -> int:
            calls.append(1)
            started.set()
            assert finish.wait(60)
            return 7

        with ThreadPoolExecutor(4) as pool:
            values = [pool.submit(cache.get_or_make, "a", make)]
            assert started.wait(60)
            values += [pool.submit(cache.get_or_make, "a", make) for _ in range(3)]
            assert cache.get_or_make("b", lambda: 1) == 1  # Another key waits for nobody.
            finish.set()
            assert [value.result(60) for value in values] == [7] * 4
        assert len(calls) == 1

    def test_threads_that_wait_share_a_failure(self) -> None:
        cache: LruCache[str, int] = LruCache(2)
        started, finish = Event(), Event()

        def fail() -> int:
            started.set()
            assert finish.wait(60)
            raise ValueError

        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(cache.get_or_make, "a", fail)
            assert started.wait(60)
            second = pool.submit(cache.get_or_make, "a", fail)
            finish.set()
            assert [type(value.exception(10)) for value in (first, second)] == [ValueError] * 2
        assert cache.get_or_make("a", lambda: 1) == 1
