#!/bin/sh
PYTHONPATH=${TEEMARK_LIB:-/usr/share/teemark} exec python3 -m teemark "$@"
