"""The tests of examples/test-a-bot: a bot written with tweepy, through faults and a month on the clock."""

import os
import pathlib
import tempfile
import unittest

import pytest

import locum_server

FOLDER = locum_server.ROOT / "examples" / "test-a-bot"


class Outcomes:
    """Counts the tests of a pytest run, and stores how they failed."""

    def __init__(self):
        self.passed, self.failures = [], {}

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failures[report.nodeid] = str(report.longrepr)
        elif report.when == "call" and report.passed:
            self.passed.append(report.nodeid)


# Worlds need SQLite.
@unittest.skipIf(os.environ.get("LOCUM_TEST_POSTGRES"), "the example runs on SQLite")
class Suite(unittest.TestCase):
    def test_the_bot_passes_its_tests(self):
        locum_server.binary()
        outcomes = Outcomes()
        with tempfile.TemporaryDirectory(prefix="locum-example-") as folder:
            place = ["--rootdir", str(FOLDER), "--basetemp", str(pathlib.Path(folder) / "tests")]
            code = pytest.main(["-p", "no:cacheprovider", "--durations=0", *place, str(FOLDER)], [outcomes])
        self.assertEqual(outcomes.failures, {})
        self.assertEqual(code, 0)
        self.assertGreaterEqual(len(outcomes.passed), 6)

    def test_the_libraries_are_those_of_the_other_suites(self):
        example, all_suites = (
            set((folder / "requirements.txt").read_text().split()) for folder in (FOLDER, locum_server.ROOT / "clients")
        )
        self.assertLessEqual(example, all_suites)


if __name__ == "__main__":
    locum_server.main()
