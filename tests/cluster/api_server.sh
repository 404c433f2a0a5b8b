# etcd and an API server, with as few options as will do. Sourced, after versions.sh, by who has die(). The ports are fixed, and
# etcd is on the loopback.
# shellcheck shell=bash

api_token=of-an-administrator
api_port=6443

# Polls until the command succeeds, as long as a process lives.
await() { # PID LOG COMMAND...
  local pid=$1 log=$2 end=$((SECONDS + 300))
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ! kill -0 "$pid" 2>/dev/null || [ "$SECONDS" -ge "$end" ]; then
      tail -n 20 "$log"
      die "not ready: $*"
    fi
    sleep .1
  done
}

start_etcd() { # FOLDER
  etcd --data-dir "$1/etcd" --unsafe-no-fsync --listen-client-urls http://127.0.0.1:2379 \
    --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380 >"$1/etcd.log" 2>&1 &
}

# Nodes are reached by their addresses, as their names resolve nowhere. Without controllers that make service accounts it needs
# --disable-admission-plugins ServiceAccount to take a pod.
start_api_server() { # FOLDER ADDRESS [OPTION...]; returns when it answers. $KUBECONFIG is set
  openssl genrsa -out "$1/accounts.key" 2048 2>/dev/null
  echo "$api_token,admin,admin,system:masters" >"$1/tokens"
  write_kubeconfig "$2" >"$1/kubeconfig"
  export KUBECONFIG=$1/kubeconfig
  start_etcd "$1"
  kube-apiserver --etcd-servers http://127.0.0.1:2379 --bind-address "$2" --advertise-address "$2" \
    --cert-dir "$1/certificates" --token-auth-file "$1/tokens" --authorization-mode RBAC \
    --service-account-issuer https://kubernetes.default.svc.cluster.local --service-account-key-file "$1/accounts.key" \
    --service-account-signing-key-file "$1/accounts.key" --service-cluster-ip-range 10.96.0.0/16 \
    --kubelet-preferred-address-types InternalIP --secure-port "$api_port" "${@:3}" >"$1/kube-apiserver.log" 2>&1 &
  await $! "$1/kube-apiserver.log" kubectl get --raw /readyz
}

write_kubeconfig() { # ADDRESS
  cat <<END
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://$1:$api_port", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: $api_token}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
END
}
