"""Starts the stdio server of `executionkit`.

Before Python 3.13 its result type cannot be made with a type argument; here the argument is dropped, which changes
no result.
"""

import sys

from executionkit import types

if sys.version_info < (3, 13):
    types.PatternResult.__class_getitem__ = classmethod(lambda cls, item: cls)

from executionkit.mcp.__main__ import main

main()
