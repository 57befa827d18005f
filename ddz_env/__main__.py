"""`python -m ddz_env`: play in the terminal against the bots (`ddz_env/play`)."""

import sys

from ddz_env.play.command import main

sys.exit(main())
