"""What pages ask a reader to type works in the order in which it is read."""

import ast
import builtins
import doctest
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def test_each_python_session_of_the_first_hour_stands_alone():
    """The page goes back to the terminal in between: what the second session uses, the second session defines."""
    page = (DOCS / "first-hour.md").read_text(encoding="utf-8")
    sessions = page.split("start `python` again")
    assert len(sessions) == 2
    for session in sessions:
        code = "".join(example.source for example in doctest.DocTestParser().get_examples(session))
        names = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)]
        imported = [one for node in ast.walk(ast.parse(code)) for one in getattr(node, "names", ())]
        defined = {node.id for node in names if isinstance(node.ctx, ast.Store)} | set(dir(builtins))
        defined |= {one.asname or one.name for one in imported}
        assert {node.id for node in names} <= defined
