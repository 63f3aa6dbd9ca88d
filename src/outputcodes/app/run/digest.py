"""A mark of the content of a table, by which a run knows its results again."""

from __future__ import annotations

import hashlib

from outputcodes.app.tables import Table


def digest_of(table: Table) -> str:
    """Return a hash of the features, the labels and the groups of a table.

    >>> from outputcodes.app.run.sources import open_table
    >>> digest_of(open_table("iris")) == digest_of(open_table("iris"))
    True
    """
    import pandas as pd

    digest = hashlib.sha256()
    digest.update(pd.util.hash_pandas_object(table.frame, index=False).to_numpy().tobytes())
    digest.update("\0".join(map(str, table.target)).encode())
    if table.group is not None:
        digest.update(("\1" + "\0".join(map(str, table.group))).encode())
    return digest.hexdigest()
