# Builds the programs of versions.sh. Sourced, after tests/tools.sh; $root is the repository.
# Everything is kept in $IBPOD_CACHE/cluster (default build/cluster), programs in a folder for each version: what is there
# already is not built again. Nothing outside is written, but for packages (tests/packages, [cluster]).
# shellcheck shell=bash disable=SC2154
. "$root/tests/cluster/versions.sh"

# --- Go -----------------------------------------------------------------------------------------------------------------

# Any Go since 1.21 fetches the pinned one, as a module, where it is another one itself.
choose_go() { # sets PATH and Go's variables
  if ! can_fetch_toolchain go; then
    make_once debian "$go_package" unpack_go
    PATH=$cluster/debian-$go_package/usr/lib/go-${go_package#golang-}/bin:$PATH
  fi
  export PATH GOTOOLCHAIN=go$go_version GOPATH=$cluster/go GOCACHE=$cluster/go-build GOFLAGS=-modcacherw
  export CGO_ENABLED=0
}

can_fetch_toolchain() { # GO
  local minor
  minor=$("$1" env GOVERSION 2>/dev/null | sed -nE 's/^go1\.([0-9]+).*/\1/p')
  [ "${minor:-0}" -ge 21 ]
}

go_package=golang-1.23 # the newest that Debian 12's backports have
unpack_go() { # FOLDER
  . "$root/tests/vm/kernels.sh"
  own_apt "$cluster/apt" bookworm
  unpack_packages "$1" "$go_package-go" "$go_package-src"
}

# --- programs -----------------------------------------------------------------------------------------------------------

# Makes the folder $cluster/NAME-VERSION by a command that fills the folder it is given, whole or not at all.
make_once() { # NAME VERSION COMMAND...
  local folder=$cluster/$1-$2
  if [ -e "$folder" ]; then return; fi
  rm -rf "$folder.new"
  mkdir -p "$folder.new"
  step "$1 $2" "${@:3}" "$folder.new"
  mv "$folder.new" "$folder"
}

# Kubernetes' own module replaces its staging modules by folders of its tree, so it cannot be installed by its name. A
# module around it names their released versions instead.
build_kubernetes() { # PROGRAM... FOLDER
  local folder=${!#} module programs=("${@:1:$#-1}") staged=v0.${kubernetes#v1.} minor=${kubernetes#v1.}
  local stamp=k8s.io/component-base/version
  module=$(retry 3 go mod download -json "k8s.io/kubernetes@$kubernetes" | jq -r .GoMod)
  cd "$folder" || return
  go mod edit -json "$module" | jq -r --arg version "$kubernetes" --arg staged "$staged" '
    "module cluster", "go \(.Go)", "require k8s.io/kubernetes \($version)",
    (.Replace[] | select(.New.Path | startswith("./staging/")) | "replace \(.Old.Path) => \(.Old.Path) \($staged)")' >go.mod
  # A server of an unknown version refuses its own kubelet.
  retry 3 go build -mod=mod -trimpath -o . \
    -ldflags "-s -w -X $stamp.gitVersion=$kubernetes -X $stamp.gitMajor=1 -X $stamp.gitMinor=${minor%%.*}" \
    "${programs[@]/#/k8s.io/kubernetes/cmd/}"
}

build_containerd() { # FOLDER
  local module=github.com/containerd/containerd/v2
  GOBIN=$1 retry 3 go install -trimpath -ldflags "-s -w -X $module/version.Version=$containerd" \
    "$module/cmd/"{containerd,ctr,containerd-shim-runc-v2}"@$containerd"
}

# Without seccomp no sandbox starts: the kubelet sets a profile for each.
build_runc() { # FOLDER
  GOBIN=$1 CGO_ENABLED=1 retry 3 go install -trimpath -tags seccomp -ldflags "-s -w -X main.version=${runc#v}" \
    "github.com/opencontainers/runc@$runc"
}

build_cnitool() { # FOLDER
  GOBIN=$1 retry 3 go install -trimpath "github.com/containernetworking/cni/cnitool@$cni"
}

build_helm() { # FOLDER
  GOBIN=$1 retry 3 go install -trimpath -ldflags "-s -w -X helm.sh/helm/v3/internal/version.version=$helm" \
    "helm.sh/helm/v3/cmd/helm@$helm"
}

build_kustomize() { # FOLDER
  GOBIN=$1 retry 3 go install -trimpath "sigs.k8s.io/kustomize/kustomize/v5@$kustomize"
}

# Debian's, only unpacked: their packages would start services.
unpack_promtool() { # FOLDER
  unpack_packages "$1/package" prometheus
  mv "$1/package/usr/bin/promtool" "$1/"
  rm -r "$1/package"
}

unpack_etcd() { # FOLDER
  unpack_packages "$1/package" etcd-server
  mv "$1/package/usr/bin/etcd" "$1/"
  rm -r "$1/package"
}

build_api_server() {
  make_once control-plane "$kubernetes" build_kubernetes kube-apiserver kubectl
  make_once etcd debian unpack_etcd
}

build_chart_tools() {
  make_once helm "$helm" build_helm
  make_once kustomize "$kustomize" build_kustomize
  make_once promtool debian unpack_promtool
}

build_cluster() {
  build_api_server
  make_once controllers "$kubernetes" build_kubernetes kube-controller-manager kube-scheduler
  make_once node "$kubernetes" build_kubernetes kubelet
  make_once containerd "$containerd" build_containerd
  make_once runc "$runc" build_runc
  make_once cnitool "$cni" build_cnitool
}
