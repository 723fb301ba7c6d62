# `make demo` and `make test` need nothing but Python 3.11 or newer; PYTHON=... chooses which.
PYTHON ?= python3
