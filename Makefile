# make train: train for ten minutes. make test: all tests. Both make .venv first.
# make clients: tests with other projects' libraries (docs/clients.md), in .venv-clients.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: train test venv speed lint clients clean

train: .venv/train.done
	$(BIN)/python train/selfplay.py

test: .venv/dev.done
	$(BIN)/python -m pytest -n 2 --dist loadfile

venv: .venv/dev.done

speed: .venv/dev.done
	$(BIN)/python eval/speed.py

lint: .venv/dev.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

clients: .venv-clients/clients.done
	$(<D)/bin/python -m pytest -m '' tests/clients

# FOLDER/EXTRA.done: a virtual environment in which the project is installed with an extra.
%.done: pyproject.toml
	@test -x $(@D)/bin/python || $(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -c 'import sys; assert sys.version_info >= (3, 11), "Python 3.11 or newer is needed"'
	$(@D)/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[$(*F)]'
	@touch $@

clean:
	rm -rf .venv .venv-clients build dist
