# make train: train for ten minutes. make test: all tests. make play: a table in the browser.
# These make .venv first.
# make compare: other engines beside ours, which it installs.
# make clients: other projects' libraries train on the environments (docs/clients.md).
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: train play test venv speed compare clients lint clean

train: .venv/train.done
	$(BIN)/python train/selfplay.py

play: .venv/train.done .venv/web.done
	$(BIN)/python eval/play.py --web

test: .venv/dev.done
	$(BIN)/python -m pytest -n 2 --dist loadfile

venv: .venv/dev.done

speed: .venv/dev.done
	$(BIN)/python eval/speed.py

compare: .venv/dev.done .venv/douzero.done
	$(BIN)/python eval/compare.py

clients: .venv-clients/clients.done
	$(<D)/bin/python -m pytest -m '' tests/clients

lint: .venv/dev.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# FOLDER/EXTRA.done: a virtual environment in which the project is installed with an extra.
%.done: pyproject.toml
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or newer is needed"'
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[$(*F)]'
	@touch $@

# Without what it declares: its rules need numpy alone, and its other parts much more.
.venv/douzero.done: .venv/peers.done
	$(PIP) install --quiet --no-deps douzero==1.1.0
	@touch $@

clean:
	rm -rf .venv .venv-clients build dist
