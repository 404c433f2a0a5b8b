#!/usr/bin/env bash
# clang-tidy over every source of agent and device-plugin.
exec "$(dirname "${BASH_SOURCE[0]}")/../tidy.sh" agent device-plugin
