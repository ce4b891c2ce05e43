"""How property tests run: the same examples every time, without a clock, because kernels compile on first use.

`HYPOTHESIS_PROFILE=explore make test` draws fresh examples instead.
"""

import os

from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
