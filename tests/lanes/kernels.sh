#!/usr/bin/env bash
# Every default VM case on the newest kernel of the next Debian release.
exec "$(dirname "${BASH_SOURCE[0]}")/../vm/run" --all-on 7
