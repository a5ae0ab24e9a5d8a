import pytest

from regard import errors


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("ShapeError", ValueError),
        ("ValueRangeError", ValueError),
        ("KindError", TypeError),
        ("ImplError", RuntimeError),
        ("StateError", RuntimeError),
        ("FileError", ValueError),
        ("MissingError", ImportError),
    ],
)
def test_each_error_is_also_the_builtin_one_would_expect(name, builtin):
    error = getattr(errors, name)
    assert issubclass(error, errors.RegardError)
    assert issubclass(error, builtin)
    assert name in errors.__doc__


def test_the_list_is_complete():
    defined = {
        name
        for name, x in vars(errors).items()
        if isinstance(x, type) and issubclass(x, errors.RegardError)
    }
    assert defined == set(errors.__all__)
