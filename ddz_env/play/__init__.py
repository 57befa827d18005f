"""A person at the table: what is asked and answered, in words; the terminal is one face of it.

A folder of its own, whose files are not part of the name of the kernels' cache: words may change
without compiling anything anew (`_jit.py`).
"""

from ddz_env.play.questions import Advice, Option, Prompt, Reply, adviser_of
from ddz_env.play.session import Session
from ddz_env.play.terminal import run

__all__ = ["Advice", "Option", "Prompt", "Reply", "Session", "adviser_of", "run"]
