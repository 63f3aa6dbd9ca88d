"""A warning points to the user's own line, once per line, whatever other packages do to the filters."""

import warnings

import pytest

from outputcodes._ground.user_warnings import warn_user


def warn_five_times(message, action):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter(action)
        for _ in range(5):
            warn_user(message)
            with warnings.catch_warnings():  # as scikit-learn does in every fit
                warnings.simplefilter("error")
    return given


@pytest.mark.parametrize("action", ["default", "once", "always"])
def test_once_per_line(action):
    (given,) = warn_five_times(f"now {action}", action)
    assert str(given.message) == f"now {action}"
    assert given.filename == __file__
    with pytest.warns(UserWarning, match="now"):  # another line
        warn_user(f"now {action}")


def test_what_was_hidden_is_not_known():
    assert not warn_five_times("hidden", "ignore")
    assert len(warn_five_times("hidden", "default")) == 1


def test_an_error_is_raised_every_time():
    for _ in range(2):
        with pytest.raises(UserWarning, match="refused"):
            warn_five_times("refused", "error")
