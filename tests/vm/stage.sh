# The node's VFs go, for a story or a document whose agent makes its own; and come back as they are made at its boot.
# shellcheck shell=bash disable=SC2154

declare -A vfs_at_boot # PF: how many it has
for pf in "$PF0" "$PF1"; do vfs_at_boot[$pf]=$(cat "/sys/bus/pci/devices/$pf/sriov_numvfs"); done

clear_stage() {
  local pf
  for pf in "$PF0" "$PF1"; do echo 0 >"/sys/bus/pci/devices/$pf/sriov_numvfs"; done
}

# The PFs forget the GUIDs that so many VFs of each were given.
stage_as_before() { # VFS
  local number pf vf
  clear_stage
  for number in 0 1; do
    pf=$(pf_pci "$number")
    echo "$1" >"/sys/bus/pci/devices/$pf/sriov_numvfs"
    for ((vf = 0; vf < $1; vf++)); do
      set_guid "$number" "$vf" ff:ff:ff:ff:ff:ff:ff:ff
      set_policy "$number" "$vf" disable
    done
    echo 0 >"/sys/bus/pci/devices/$pf/sriov_numvfs"
    echo "${vfs_at_boot[$pf]}" >"/sys/bus/pci/devices/$pf/sriov_numvfs"
  done
}
