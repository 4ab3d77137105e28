"""What the plugin adds to a run of pytest."""

import pytest

TEST = """
    import requests

    def test_fails(locum):
        headers = {"Authorization": "Bearer " + locum.env["LOCUM_USER_TOKEN"]}
        requests.get(locum.url + "/2/users/me", headers=headers)
        assert locum.name == "not this"
"""


def test_failed_test_shows_its_requests(pytester):
    pytester.makepyfile(TEST)
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*locum requests*", "* 200 GET /2/users/me * ms app=* user=@ada"])


def test_seed_makes_the_keys(pytester):
    # The last six characters are those of the world.
    pytester.makepyfile("def test_keys(locum): print('key', locum.env['LOCUM_API_KEY'][:-6])")
    runs = [pytester.runpytest_subprocess("-rP", "--locum-seed", seed) for seed in ("42", "42", "43")]
    first, second, third = ([line for line in run.outlines if line.startswith("key ")] for run in runs)
    assert first == second != third


def test_missing_binary_is_named(pytester):
    pytester.makepyfile("def test_nothing(locum): pass")
    result = pytester.runpytest_subprocess("--locum-binary", "/no/such/file")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*/no/such/file*"])


@pytest.mark.parametrize("arguments", [[], ["-n", "2"]])
def test_tests_have_worlds_of_their_own(pytester, arguments):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_world(locum, number):
            assert locum.journal.requests() == []
            locum.faults.add("bad-json")
            assert len(locum.faults.list()) == 1
        """
    )
    pytester.runpytest_subprocess(*arguments).assert_outcomes(passed=4)
