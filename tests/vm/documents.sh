# Documents whose commands are run as they are written, and the parts that the test VM lacks for that: systemd, and a user
# who restores the machine. The script that sources it defines a function for commands that are for another place:
# elsewhere PLACE HEADING.
# shellcheck shell=bash disable=SC1090,SC2016,SC2034
. "$ROOT/tests/vm/sm.sh"
. "$ROOT/tests/vm/stage.sh"
export NODE=worker-1 SM_HOST=ibpod-sm.example.com
declare -A units # UNIT: its process
mkdir -p /etc/modules-load.d # systemd's, as well

# --- a stand-in for systemd --------------------------------------------------------------------------------------------

systemctl() { # VERB... UNIT
  local verb=$1 unit=${!#}
  case $verb in
    daemon-reload) ;;
    start | enable) start_unit "$unit" ;;
    stop | disable) stop_unit "$unit" ;;
    restart) stop_unit "$unit" && start_unit "$unit" ;;
    *) fail "systemctl $*" ;;
  esac
}

start_unit() { # UNIT
  local command
  read -ra command < <(sed -n 's/^ExecStart=//p' "/etc/systemd/system/$1.service")
  exec "${command[@]}" >>"$WORK/$1.log" 2>&1 & # with a trap for errors bash would stay in between
  units[$1]=$!
}

# OpenSM's is the one of the node; that of ibpod-sm is not stopped with it.
stop_unit() { # UNIT
  local pid=${units[$1]:-}
  unset "units[$1]"
  if [ "$1" = opensm ]; then stop_opensm; fi
  if [ -n "$pid" ]; then kill "$pid" && wait "$pid"; fi
}

# --- documents --------------------------------------------------------------------------------------------------------

# With 1 and 2 it says what it has found.
ibpodctl() {
  local status=0
  command ibpodctl "$@" || status=$?
  [ "$status" = 0 ] || { [[ " $* " == *" doctor "* ]] && [ "$status" -le 2 ]; }
}

run_document() { # DOCUMENT PLACE [FROM [UNTIL]]: headings; its lines keep their numbers
  mkdir -p "$WORK/$(dirname "$1")"
  awk -v place="$2" -v from="${3:-}" -v until="${4:-}" -f tests/blocks.awk "$1" >"$WORK/$1"
  grep -q . "$WORK/$1" || return 0
  say "$1"
  . "$WORK/$1"
}

# In place of the chart's commands in operations.md the machine has those of the installation by hand, and of its tasks.
by_hand() { # HEADING PLACE
  case $1:${done_by_hand:-} in
    "2. Install the chart:") run_document docs/by-hand.md "$2" "" "On the days after" ;;
    "Back up and restore:2. Install the chart") run_document docs/by-hand.md "$2" "On the days after" ;;
    *) return 0 ;;
  esac
  done_by_hand=$1
}

sweep_away() {
  cd "$WORK" || exit
  rm -rf /etc/ibpod /var/lib/ibpod /var/lib/ibpod-sm /var/lib/cni /run/ibpod ~/ibpod-ca ~/ibpod-sm.tgz "$ROOT/my-cluster"
  rm -f /usr/local/sbin/{ibpod-sm,ibpodctl} /opt/cni/bin/{ib-sriov,ipoib} /etc/systemd/system/ibpod-sm.service
  rm -f /etc/{modules-load.d,modprobe.d}/ibpod.conf
  cp "$WORK/hosts" /etc/hosts
}

unlock() {
  local key
  if [ -e /etc/ibpod/m_key ]; then
    read -r key </etc/ibpod/m_key
    forget_keys "${key#0x}" "$PF0" "$PF1"
  fi
}

# The machine before its installation, with what a document asks the reader to write himself.
prepare_documents() {
  at_end stage_as_before 2
  at_end plain_opensm
  at_end sweep_away
  at_end unlock
  at_end tail -n 5 /var/lib/ibpod-sm/opensm/opensm.log
  at_end end_opensm
  at_end stop_unit ibpod-sm
  at_end tail -n 5 "$WORK/ibpod-sm.log"
  clear_stage
  cp /etc/hosts "$WORK/"
  echo "127.0.0.1 $SM_HOST" >>/etc/hosts
  mkdir -p /etc/ibpod /opt/cni/bin
  awk '/^```json$/ {within = 1; next} within && /^```$/ {exit} within' "$ROOT/docs/ibpod-sm.md" >/etc/ibpod/sm.json
  cd "$ROOT" || return
  set -E
  trap 'echo "FAIL: ${BASH_SOURCE[0]#"$WORK/"}:$LINENO: $(sed -n "${LINENO}p" "${BASH_SOURCE[0]}")"' ERR
}
