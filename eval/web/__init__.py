"""A table in the browser: `python eval/play.py --web`. The server alone knows the game.

`sessions.py` is one person's table, `payload.py` what is told of it, `house.py` all tables and
their limits, `app.py` the addresses, `serve.py` the command's part; `static/` is the page.
"""
