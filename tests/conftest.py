"""One thread for each test process, as in the workers of runs and tournaments.

torch's own threads wait for each other in layers this small: two on a busy core play a tenth as
fast.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
