#!/usr/bin/env bash
# The commands of docs/from-ib-kubernetes.md as they are written, in a folder of their own: ibpodctl convert, ibpod-sm
# --check-config and jq do their work, a partition's commands are parsed by ibpodctl, and the cluster, UFM, systemd and the
# paths of a machine are stand-ins.
#
#   from_ib_kubernetes.sh FOLDER    FOLDER: of the programs
# shellcheck disable=SC2016,SC2317
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/page.sh"
export UFM=ufm.example.com UFM_USER=admin UFM_CA=ca.crt NODE=n1 OLD_NODES=rail=1
password=swordfish

# --- the site: what its cluster and its UFM have -------------------------------------------------------------------------

base64_of() { printf %s "$1" | base64 -w 0; }
object() { # KIND NAME DATA
  jq -n --arg kind "$1" --arg name "$2" --argjson data "$3" \
    '{apiVersion: "v1", kind: $kind, metadata: {name: $name, namespace: "kube-system"}, data: $data}'
}

make_site() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=ca \
    -keyout "$work/ca.key" -out "$work/ufm-ca.crt" 2>"$work/openssl.log"
  local config secret
  config=$(object ConfigMap ib-kubernetes-config '{"DAEMON_SM_PLUGIN": "ufm", "DAEMON_PERIODIC_UPDATE": "5",
    "GUID_POOL_RANGE_START": "02:00:00:00:00:00:00:00", "GUID_POOL_RANGE_END": "02:FF:FF:FF:FF:FF:FF:FF"}')
  secret=$(object Secret ib-kubernetes-ufm-secret "{\"UFM_USERNAME\": \"$(base64_of admin)\",
    \"UFM_PASSWORD\": \"$(base64_of $password)\", \"UFM_ADDRESS\": \"$(base64_of $UFM)\", \"UFM_PORT\": \"\",
    \"UFM_HTTP_SCHEMA\": \"\", \"UFM_CERTIFICATE\": \"$(base64 -w 0 "$work/ufm-ca.crt")\"}")
  jq -n --argjson config "$config" --argjson secret "$secret" \
    '{apiVersion: "v1", kind: "List", items: [$config, $secret]}' >"$work/objects.json"
  cat >"$work/networks.json" <<'END'
{"items": [
  {"metadata": {"namespace": "team-b", "name": "blue"}, "spec": {"config": "{\"type\": \"ib-sriov\", \"pkey\": \"0x5\"}"}},
  {"metadata": {"namespace": "team-b", "name": "chain"},
   "spec": {"config": "{\"plugins\": [{\"type\": \"ib-sriov\", \"pkey\": \"0x6\"}, {\"type\": \"tuning\"}]}"}},
  {"metadata": {"namespace": "team-b", "name": "other"}, "spec": {"config": "{\"type\": \"macvlan\"}"}},
  {"metadata": {"namespace": "team-b", "name": "file"}, "spec": {}}]}
END
  cat >"$work/ufm.json" <<'END'
{"0x7fff": {"partition": "management", "guids": []},
 "0x5": {"partition": "api_pkey_0x5", "ip_over_ib": true, "guids": [
   {"guid": "0200000000000001", "index0": true, "membership": "full"},
   {"guid": "02000000000000AB", "index0": true, "membership": "full"},
   {"guid": "0200000000000003", "index0": true, "membership": "full"},
   {"guid": "0002c90300a1b2c3", "index0": true, "membership": "full"}]}}
END
  # The pod of …:03 has finished; that of …:ab has its GUID from its author, in another form.
  cat >"$work/pods.json" <<'END'
{"items": [
  {"metadata": {"name": "a", "annotations": {"k8s.v1.cni.cncf.io/networks":
     "[{\"name\": \"blue\", \"cni-args\": {\"guid\": \"02:00:00:00:00:00:00:01\", \"mellanox.infiniband.app\": \"configured\"}}]"}},
   "status": {"phase": "Running"}},
  {"metadata": {"name": "b", "annotations": {"k8s.v1.cni.cncf.io/networks":
     "[{\"name\": \"other\"}, {\"name\": \"blue\", \"infiniband-guid\": \"02-00-00-00-00-00-00-AB\"}]"}},
   "status": {"phase": "Pending"}},
  {"metadata": {"name": "c", "annotations": {"k8s.v1.cni.cncf.io/networks":
     "[{\"name\": \"blue\", \"cni-args\": {\"guid\": \"02:00:00:00:00:00:00:03\"}}]"}},
   "status": {"phase": "Succeeded"}},
  {"metadata": {"name": "d", "annotations": {"k8s.v1.cni.cncf.io/networks": "other,blue"}}, "status": {"phase": "Running"}},
  {"metadata": {"name": "e"}, "status": {"phase": "Running"}}]}
END
}

# --- stand-ins -----------------------------------------------------------------------------------------------------------

kubectl() {
  echo "kubectl $*" >>"$calls"
  case $* in
    "get network-attachment-definitions --all-namespaces --output json") cat "$work/networks.json" ;;
    "get pods --all-namespaces --output json") cat "$work/pods.json" ;;
    "--namespace kube-system get configmap/ib-kubernetes-config secret/ib-kubernetes-ufm-secret --output json")
      cat "$work/objects.json" ;;
    "apply --filename -") cat >"$work/applied" ;;
    "drain n1 "* | "label node n1 "* | "uncordon n1" | "cordon --selector rail=1" | "uncordon --selector rail=1") ;;
    "--namespace kube-system scale deployment ib-kubernetes --replicas "[02] | \
      "--namespace kube-system wait pod --selector name=ib-kubernetes --for delete --timeout 120s") ;;
    *) fail "kubectl $*" ;;
  esac
}

curl() {
  case ${!#} in
    "https://$UFM/ufmRest/resources/pkeys?guids_data=true") cat "$work/ufm.json" ;;
    "https://$UFM/ufmRest/resources/pkeys/0x1005?guids_data=true") echo '{}' ;;
    *) fail "curl $*" ;;
  esac
}

systemctl() { echo "systemctl $*" >>"$calls"; }

# The paths of a machine are below the folder.
moved() { # PATH...
  local path
  here=()
  for path; do
    case $path in /etc/ibpod* | /opt/cni/bin/* | /var/lib/ibpod-sm*) path=$work/machine$path ;; esac
    here+=("$path")
  done
}
on_machine() { # PROGRAM...
  local here
  moved "${@:2}"
  command "$1" "${here[@]}"
}
install() { on_machine install "$@"; }
ln() { on_machine ln "$@"; }
mv() { on_machine mv "$@"; }
jq() { on_machine jq "$@"; }
ibpod-sm() {
  local here
  moved "$@"
  "$programs/ibpod-sm" "${here[@]}"
}

ibpodctl() {
  echo "ibpodctl $*" >>"$calls"
  if [ "$1" = convert ]; then
    "$programs/ibpodctl" "$@" 2>"$work/said"
    return
  fi
  parsed_by_ibpodctl "$@"
}

# --- the page ------------------------------------------------------------------------------------------------------------

expect_secrets() {
  local file
  if grep -rlF "$password" "$work/admin" "$work/said" "$work/printed" "$calls" | grep -v '/ufm/password$'; then
    fail "the password is in these files"
  fi
  expect_eq "the password" "$(cat "$work/machine/etc/ibpod/ufm/password")" "$password"
  cmp "$work/ufm-ca.crt" "$work/machine/etc/ibpod/ufm/ca.crt"
  for file in "$work/admin/ufm" "$work/machine/etc/ibpod/ufm"; do expect_eq "$file" "$(stat -c %a "$file")" 700; done
  for file in "$work"/{admin,machine/etc/ibpod}/ufm/*; do expect_eq "$file" "$(stat -c %a "$file")" 600; done
}

# --- other sites ---------------------------------------------------------------------------------------------------------

converted() { # LINE...: exit code of the conversion of a site whose variables have these lines, too
  local lines=(DAEMON_SM_PLUGIN=ufm UFM_USERNAME=admin "UFM_PASSWORD=$password" "$@")
  printf '%s\n' "${lines[@]}" |
    "$programs/ibpodctl" convert ib-kubernetes - --pkeys 0x0001-0x00ff --pkeys 0x7ffe >"$work/other.json" 2>"$work/said"
}

# Each conversion is a configuration of ibpod-sm, or an error without output.
check_other_sites() {
  local site
  for site in UFM_ADDRESS=ufm UFM_ADDRESS=10.0.0.1 UFM_ADDRESS=fd00::1 "UFM_ADDRESS=u UFM_PORT=8443" \
    "UFM_ADDRESS=u UFM_HTTP_SCHEMA=http UFM_PORT=80" "UFM_ADDRESS=UFM.Example.com GUID_POOL_RANGE_END=02-00-00-00-00-00-00-ff" \
    "UFM_ADDRESS=u UFM_CERTIFICATE=$(base64 -w 0 "$work/ufm-ca.crt")"; do
    # shellcheck disable=SC2086
    converted $site || fail "$site: $(cat "$work/said")"
    "$programs/ibpod-sm" --check-config --config "$work/other.json" || fail "$site: $(cat "$work/other.json")"
  done
  for site in UFM_ADDRESS= UFM_ADDRESS=u/x "UFM_ADDRESS=u UFM_PORT=x" "UFM_ADDRESS=u GUID_POOL_RANGE_END=06:00:00:00:00:00:00:00"; do
    # shellcheck disable=SC2086
    if converted $site; then fail "$site is converted"; fi
    [ ! -s "$work/other.json" ] || fail "$site: $(cat "$work/other.json")"
  done
  echo "what is converted is a configuration"
}

mkdir -p "$work/admin" "$work/machine/opt/cni/bin" "$work/machine/var/lib/ibpod-sm"
cp "$programs/ib-sriov" "$work/machine/opt/cni/bin/"
make_site
cp "$work/ufm-ca.crt" "$work/admin/ca.crt"
cd "$work/admin"
run_page docs/from-ib-kubernetes.md "host tests/documents/from_ib_kubernetes.sh" 's#^/opt/cni/bin/#"$work/machine"&#'
printed=$(cat "$work/printed")
expect_secrets
for line in "team-b/blue 0x5" "team-b/chain 0x6" "0x5 4" "02000000000000AB full true"; do
  grep -qxF "$line" <<<"$printed" || fail "step 1 does not print \"$line\""
done
expect_eq "members without a pod" "$(cat ended)" "blue 0x0200000000000003"
expect_eq "the partitions" "$(jq -c . /etc/ibpod/partitions.json)" "$(command jq -cn '{partitions: [{name: "blue",
  allowed: ["team-b"], pkey: "0x5", membership: "full", index0: true, ipoib: true, members: [
    {guid: "0x0200000000000001", membership: "full", comment: "ib-kubernetes"},
    {guid: "0x02000000000000ab", membership: "full", comment: "ib-kubernetes"},
    {guid: "0x0002c90300a1b2c3", membership: "full", comment: "UFM"}]}]}')"
expect_eq "what there was at first" "$(grep -xF "blue 0x5 4" <<<"$printed")" "blue 0x5 4"
expect_eq "pkeys" "$(jq -c '[.pkeys[] | [.first, .last]]' /etc/ibpod/sm.json)" '[["0x1000","0x1fff"],["0x0001","0x0fff"]]'
expect_eq "the addresses" "$(jq -r '.ufm.addresses[]' /etc/ibpod/sm.json)" "https://$UFM:443"
expect_eq "the network's type" "$(sed -n '/^  config: |/,$p' "$work/applied" | sed 1d | command jq -r .type)" ibpod-ib-sriov
expect_eq "the plugin's second name" "$(readlink "$work/machine/opt/cni/bin/ibpod-ib-sriov")" ib-sriov
[ -d "$work/machine/var/lib/ibpod-sm.moved" ] || fail "the state of ibpod-sm has not been moved away"
echo "the page's commands have run"
check_other_sites
