# The programs that the cluster lane builds and runs: one pinned set, each from its public Go module; and the folder in
# which they are kept. Sourced, on this machine and in the test VM.
# shellcheck shell=bash disable=SC2034
go_version=1.26.8       # what the newest of them asks for
kubernetes=v1.36.3      # kubelet, kube-apiserver, kube-scheduler, kube-controller-manager, kubectl
containerd=v2.3.6
runc=v1.5.2
cni=v1.3.1              # cnitool
helm=v3.22.0
kustomize=v5.8.1        # as in that kubectl
images=3                # those of images.sh that do not change with the sources

cluster=${IBPOD_CACHE:-$(readlink -m "$(dirname "${BASH_SOURCE[0]}")/../../build")}/cluster

# The programs of a folder are of one version, and never change.
cluster_path=$cluster/control-plane-$kubernetes:$cluster/controllers-$kubernetes:$cluster/node-$kubernetes
cluster_path+=:$cluster/containerd-$containerd:$cluster/runc-$runc:$cluster/cnitool-$cni:$cluster/etcd-debian
cluster_path+=:$cluster/helm-$helm:$cluster/kustomize-$kustomize:$cluster/promtool-debian
